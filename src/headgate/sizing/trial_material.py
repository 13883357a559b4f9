"""The traces that policies are run on: for each kind of policy the suitable one."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from headgate.columns.row_sizes import row_bytes
from headgate.columns.times import NO_TIME, microseconds
from headgate.engine.inputs import SPARK_ON_BOTH, as_arrow
from headgate.engine.request import Request
from headgate.policies import Policy
from headgate.sizing.needs import Arriving, Needs, count_times, needs_of, part_us
from headgate.spec import How, RowWindow
from headgate.trials.sampled_trace import bound_to, stretches_of
from headgate.trials.trace import Trace

OPTIMUM_ROWS = 12_000
"""Rows that the optimum is planned over: the time it takes grows faster than they do."""
BOUND_PAIRS = 400_000
"""Pairs of all rows up to which a bound is found over all of them, in seconds for each memory."""
OPTIMUM_WINDOWS = 5
"""Windows that those rows cover: with more, each would hold few rows."""
FEW_HELD = 2000
"""Rows that a miniature's windows should hold: with fewer, their number is too noisy."""


@dataclass(frozen=True, eq=False)
class TrialMaterial:
    """Traces of two streams.

    Attributes
    ----------
    keys
        All rows, or those of some keys.
    times
        All keys within some time stretches, for policies based on a row's history; None where
        `keys` serves them as well.
    small
        A trace small enough to plan the optimum over; None where it cannot be planned.
    needs
        What the exact join holds at most.
    notes
        Remarks on how the traces were obtained.
    """

    keys: Trace
    times: Trace | None
    small: Trace | None
    needs: Needs
    notes: tuple[str, ...] = field(default=())
    rows: tuple[int, int] | None = None
    """Rows of each side in the buffers of a running join, where they are all that is known."""

    def trace_for(self, policy: Policy) -> Trace:
        """The trace on which a policy is tried."""
        if self.times is not None and (policy.kind.goes_by_history or self.is_tiny):
            return self.times
        return self.keys

    @property
    def is_tiny(self) -> bool:
        """Whether windows hold so few rows of the drawn keys that their fill is mostly noise.

        Time stretches with all keys are better then. Stretches with some keys are not: the gain
        from more rows at once is lost by leaving out how memory first fills.
        """
        if self.times is None or not self.times.draw.is_whole:
            return False
        return self.needs.rows * self.keys.scale.rows < FEW_HELD

    @property
    def planned_over(self) -> Trace | None:
        """The trace that the optimum is planned over: all rows, where they have few enough pairs;
        None where it is not planned."""
        if self.small is None or self.rows is not None or not self.is_whole:
            return self.small
        return self.keys if self.keys.met.total <= BOUND_PAIRS else self.small

    @property
    def is_whole(self) -> bool:
        """Whether all rows are examined."""
        return self.keys.is_whole


def material_of_tables(
    request: Request,
    left: Any,
    right: Any,
    most_rows: int,
    share: float | None,
    seed: int,
    optimum: bool,
) -> TrialMaterial:
    """Traces of two tables in process."""
    tables = request.needed_columns(
        (
            as_arrow(left, "left", "whatif", SPARK_ON_BOTH),
            as_arrow(right, "right", "whatif", SPARK_ON_BOTH),
        )
    )
    wanted: dict[str, Any] = {"most_rows": most_rows, "seed": seed}
    if share is not None:
        wanted = {"share": share, "seed": seed}
    keys = Trace.of_tables(request, *tables, **wanted)
    small = small_trace(request, tables, seed) if optimum else None
    notes = kind_notes(request, optimum)
    if keys.is_whole:
        needs = Needs(float(keys.needs.peak_rows), float(keys.needs.peak_bytes))
        return TrialMaterial(keys, None, small, needs, notes)
    part = keys.draw.share
    times = None
    if request.how == How.INNER and stretches_of(request, tables, part, seed) is not None:
        times = Trace.of_tables(request, *tables, share=part, seed=seed, by_time=True)
    needs = needs_of_tables(request, tables)
    return TrialMaterial(keys, times, small, needs_of_kind(needs, keys), notes)


def needs_of_kind(needs: Needs, keys: Trace) -> Needs:
    """What the exact join holds: less where rows leave at their first partner."""
    if not keys.request.how.frees_left:
        return needs
    rows = min(keys.needs.peak_rows / max(keys.scale.rows, 1e-12), needs.rows)
    return Needs(rows, rows * needs.row_bytes)


def kind_notes(request: Request, optimum: bool) -> tuple[str, ...]:
    """Remarks on what-ifs of joins that are not inner."""
    if request.how == How.INNER:
        return ()
    notes = ["Recall is that of rows that are certain; undecided ones do not count."]
    if optimum:
        notes.append("OPT is planned for pairs, and so for inner joins alone.")
    return tuple(notes)


def needs_of_tables(request: Request, tables: tuple[pa.Table, pa.Table]) -> Needs:
    """What the exact join of two tables holds at most, from their times."""
    shape = bound_to(request, tables).shape
    times = [microseconds(table.column(at)) for table, at in zip(tables, shape.times, strict=True)]
    first, last = covered(times)
    part = part_us(request.windows, first, last)
    sides = [
        Arriving(
            count_times(time, first, last, part),
            float(row_bytes(table).sum()) / max(table.num_rows, 1),
        )
        for time, table in zip(times, tables, strict=True)
    ]
    return needs_of((sides[0], sides[1]), request.windows, part)


def covered(times: "list[np.ndarray]") -> tuple[int, int]:
    """The first time of any row, and the last; both 0 where there is none."""
    ends = [(int(known.min()), int(known.max())) for known in map(_known, times) if len(known)]
    if not ends:
        return 0, 0
    return min(first for first, _ in ends), max(last for _, last in ends)


def small_trace(request: Request, tables: tuple[pa.Table, pa.Table], seed: int) -> Trace | None:
    """A small trace from the middle of the time; None where the optimum cannot be planned."""
    if request.where is not None or not request.keys.left or request.how != How.INNER:
        return None
    total = tables[0].num_rows + tables[1].num_rows
    by_rows = any(isinstance(window, RowWindow) and window.span for window in request.windows)
    if total > OPTIMUM_ROWS and not by_rows:
        tables = _middle(request, tables)
    trace = Trace.of_tables(request, *tables, most_rows=OPTIMUM_ROWS, seed=seed, evenly=True)
    return trace if trace.count else None


def _middle(request: Request, tables: tuple[pa.Table, pa.Table]) -> tuple[pa.Table, pa.Table]:
    shape = bound_to(request, tables).shape
    times = [microseconds(table.column(at)) for table, at in zip(tables, shape.times, strict=True)]
    first, last = covered(times)
    length = OPTIMUM_WINDOWS * max(window.span for window in request.windows)
    begin = max((first + last - length) // 2, first)
    left, right = (
        table.filter(pa.array((time >= begin) & (time < begin + length)))
        for table, time in zip(tables, times, strict=True)
    )
    return left, right


def _known(time: np.ndarray) -> np.ndarray:
    known: np.ndarray = time[time != NO_TIME]
    return known
