"""The planner's input: the requested join together with the profile of its streams."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

import numpy as np
import pyarrow as pa

from headgate.engine.request import Request
from headgate.kernel.pace import USUAL_COSTS, Costs
from headgate.models import AgeCurves, Frequencies
from headgate.models.cost.calibration import Calibration, load_calibration
from headgate.planner.fitted_models import ages_between
from headgate.policies.random import Random
from headgate.profiles.kept_rows import KeptRows
from headgate.profiles.profile import Profile
from headgate.spec import Budget, Keys, MaxSubset, RowWindow, Side, SpecError
from headgate.spec.quantity import SECOND_US
from headgate.trials.draw import BUCKET_BITS, BUCKETS, Draw
from headgate.trials.sampled_trace import SampledTrace, WholeTrace
from headgate.trials.trace import Trace

EASILY = 1.2
KEY, TIME = "key", "at"
"""Columns of the trace."""


@dataclass(frozen=True, eq=False)
class PlanningCase:
    """A join and a profile of its streams.

    Parameters
    ----------
    request
        The requested join.
    profile
        The profile of its streams.
    shards
        The number of shards; None where the plan is to choose it.
    live
        Whether it will run as a stream, where a monitor reports recall and memory must leave room
        for evicted rows that are not yet reclaimed.
    """

    request: Request
    profile: Profile
    shards: int | None = None
    live: bool = False

    def __post_init__(self) -> None:
        _check_same_streams(self.request, self.profile)
        shards = self.shards
        if shards is not None and (isinstance(shards, bool) or shards < 1):
            raise SpecError(f"shards={shards!r}: give a whole number, one or more")

    @property
    def windows_us(self) -> tuple[int, int]:
        """The window of each side, in microseconds."""
        return self.request.left.window.span, self.request.right.window.span

    @property
    def stores(self) -> tuple[bool, bool]:
        """Whether rows of each side are stored at all."""
        left, right = self.windows_us
        return left > 0, right > 0

    @property
    def rates(self) -> tuple[float, float]:
        """Rows per second of each side."""
        return self.profile.rates.left, self.profile.rates.right

    @property
    def seconds(self) -> float:
        """Length of the profiled time."""
        return max(self.profile.span_us / SECOND_US, 1e-6)

    @cached_property
    def window_rows(self) -> tuple[float, float]:
        """Rows of each side that the exact join holds on average."""
        left, right = (
            rate * span / SECOND_US for rate, span in zip(self.rates, self.windows_us, strict=True)
        )
        return left, right

    @property
    def sizes(self) -> tuple[float, float]:
        """Average bytes of a stored row of each side, in the columns that the join needs."""
        left, right = (
            side.row_bytes
            if is_shown or self.request.where is not None or side.compared_bytes is None
            else side.compared_bytes
            for side, is_shown in zip(self.profile.rows, self.request.how.outputs, strict=True)
        )
        return left, right

    @cached_property
    def row_bytes(self) -> float:
        """Average bytes of a stored row, over both sides."""
        rows, sizes = self.window_rows, self.sizes
        total = sum(rows)
        if not total:
            return max(sizes)
        return sum(count * size for count, size in zip(rows, sizes, strict=True)) / total

    @cached_property
    def budget(self) -> Budget:
        """The memory of the join, pooled where the split is yet to be planned; in rows alone where
        only processor time is limited, as many as there can be."""
        asked = self.request.budget
        split = "pooled" if asked.split == "planned" else asked.split
        rows = asked.rows
        if rows is None and asked.memory is None:
            rows = max(round(2 * self.needed_rows), 1)
        return Budget(rows, asked.memory, split, asked.monitor)

    @cached_property
    def room(self) -> float:
        """Rows that fit in the budget; infinite where memory is not limited."""
        budget = self.request.budget
        by_rows = inf if budget.rows is None else float(budget.rows)
        by_bytes = inf if budget.memory is None else budget.memory / max(self.row_bytes, 1.0)
        return min(by_rows, by_bytes)

    @cached_property
    def needed_rows(self) -> float:
        """Rows that the exact join holds at its peak."""
        as_inner = self.same_windows and not self.request.how.frees_left
        if as_inner or self.trace is None:
            return self.profile.stored_rows.rows
        return self.trace.needs.peak_rows / max(self.trace.scale.rows, 1e-12)

    @property
    def needed_bytes(self) -> float:
        """Bytes that these rows take."""
        return self.needed_rows * self.row_bytes

    @property
    def fits(self) -> bool:
        """Whether the exact join fits in memory."""
        return self.room >= self.needed_rows

    @property
    def fits_easily(self) -> bool:
        """Whether it fits with a margin, so that nothing is lost when streams vary."""
        return self.room >= EASILY * self.needed_rows

    @property
    def same_windows(self) -> bool:
        """Whether the streams were profiled with the join's own windows."""
        return self.windows_us == tuple(side.window.span for side in self.profile.sides)

    @property
    def can_judge(self) -> bool:
        """Whether half of the profiled time spans a window: enough to train or evaluate on."""
        return self.profile.span_us >= 2 * max(self.windows_us)

    @cached_property
    def ages(self) -> AgeCurves:
        """The age model for the join's windows."""
        if self.same_windows or self.profile.trace is None:
            return self.profile.ages
        return ages_between(self.profile.trace, self.windows_us, None)

    @property
    def frequencies(self) -> Frequencies:
        """The frequency model, with the rates at which rows come."""
        return replace(self.profile.frequencies, rows_per_second=self.rates)

    @cached_property
    def trace(self) -> Trace | None:
        """Rows to run the join on; None where the profile kept none."""
        kept = self.profile.trace
        return None if kept is None else _trace(self, kept)

    @property
    def profile_is_whole(self) -> bool:
        """Whether the profile kept the rows of all keys."""
        return self.profile.trace is not None and self.profile.trace.is_whole

    @cached_property
    def key_names(self) -> np.ndarray:
        """By key code: the key's name in the trace."""
        kept = self.profile.trace
        if kept is None:
            return np.empty(0, np.int64)
        return np.arange(kept.codes) if kept.values is None else kept.values

    @cached_property
    def pairs_a_second(self) -> float:
        """Pairs per second of the exact result."""
        if self.same_windows or self.trace is None:
            return self.profile.pairs.count / self.seconds
        return self.trace.met.total / self.trace.share / self.seconds

    @cached_property
    def calibration(self) -> Calibration | None:
        """The measured costs of this machine; None where it was not calibrated."""
        return load_calibration()

    @property
    def costs(self) -> Costs:
        """What work costs, in seconds."""
        if self.calibration is None:
            return USUAL_COSTS
        work = self.calibration.work
        return Costs(work.arrive, work.update, work.produce)


def _check_same_streams(request: Request, profile: Profile) -> None:
    if not isinstance(profile, Profile):
        raise SpecError(
            f"plan takes what hg.profile(...) found, or Profile.from_json(...), not {profile!r}"
        )
    if request.where is not None:
        raise SpecError(
            f"the join has where={request.where!r}, and a profile knows keys only, so "
            f"the recall of such a join cannot be predicted from it"
        )
    if request.keys != profile.keys:
        raise SpecError(
            f"the join is on {_on(request.keys)} and the profile on {_on(profile.keys)}: profile "
            f"the join's own keys"
        )
    for name, side, seen in zip(
        ("left", "right"), request.sides, (profile.sides.left, profile.sides.right), strict=True
    ):
        if side.time != seen.time:
            raise SpecError(
                f'the {name} side has the time column "{side.time}" and the profile '
                f'"{seen.time}": make the profile with the join\'s time column'
            )
        if isinstance(side.window, RowWindow) and side.window.rows:
            raise SpecError(
                f"the {name} window is {side.window}, and a profile covers windows in time: give "
                f'one such as "10 minutes"'
            )
        if side.window.span > seen.window.span:
            raise SpecError(
                f"the {name} window is {side.window} and was profiled as {seen.window}: nothing "
                f"is known beyond it, profile the longest you would consider"
            )
        if side.window.span < seen.window.span and profile.trace is None:
            raise SpecError(
                f"the {name} window is {side.window} and was profiled as {seen.window}; the "
                f"profile has no rows to look at shorter ones: profile the join's own windows"
            )


def _on(keys: Keys) -> str:
    pairs = zip(keys.left, keys.right, strict=True)
    return ", ".join(f"{left} = {right}" for left, right in pairs)


def _trace(case: PlanningCase, kept: KeptRows) -> Trace:
    """The kept rows as a trace for the join, with key codes in place of keys."""
    request, sizes = case.request, case.sizes
    names = np.arange(kept.codes) if kept.values is None else kept.values
    tables = [
        pa.table({KEY: names[code], TIME: pa.array(time).cast(pa.timestamp("us"))})
        for code, time in zip(kept.code, kept.time, strict=True)
    ]
    drawn = SampledTrace((tables[0], tables[1]))
    if not kept.is_whole:
        # Each key gets a hash bucket of its own.
        looking = np.zeros((2, BUCKETS))
        looking[:, : kept.codes] = kept.looking
        shift = np.uint64(64 - BUCKET_BITS)
        left, right = (code.astype(np.uint64) << shift for code in kept.code)
        drawn = SampledTrace(
            drawn.tables,
            Draw(kept.share, looking),
            (kept.stored.left, kept.stored.right),
            (left, right),
        )
    asked = Request(
        keys=Keys((KEY,), (KEY,)),
        left=Side(TIME, request.left.window),
        right=Side(TIME, request.right.window),
        budget=Budget(rows=1),
        goal=MaxSubset(),
        policy=Random(),
        suffix="",
        seed=request.seed,
        index=request.index,
        how=request.how,
    )
    whole = WholeTrace(
        (kept.whole.left, kept.whole.right),
        (round(kept.whole.left * sizes[0]), round(kept.whole.right * sizes[1])),
    )
    trace = Trace.of_sample(asked, drawn, whole)
    stored_left, stored_right = (
        batch._replace(size=np.full(len(batch.time), round(size), np.int64))
        for batch, size in zip(trace.rows, sizes, strict=True)
    )
    return replace(trace, rows=(stored_left, stored_right))
