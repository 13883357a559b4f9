"""Scores by the offset of a row's value from the other stream's current value."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from headgate.compiling import compiled
from headgate.policies.kinds.kind import Block, Given, Kind
from headgate.policies.kinds.plain_score import (
    PlainRow,
    PlainScore,
    PlainStretch,
    ScoreMoment,
    as_arrivals,
)
from headgate.policies.policy import Arrivals, Policy, RanksBy
from headgate.policies.structures import sorted_values as by_value
from headgate.policies.structures.curve_tables import Curves as Curves
from headgate.policies.structures.curve_tables import (
    curve_tables_of,
    no_curve_tables,
)
from headgate.policies.structures.observed_stretch import Departures as Departures
from headgate.policies.structures.observed_stretch import ObservedStretch as ObservedStretch
from headgate.policies.structures.sorted_values import HEARD, CurveArrays
from headgate.policies.structures.sorted_values import Frames as Frames
from headgate.spec import Window

NEVER = -np.inf
"""Departure time of a row that was never stored, or still is."""
NO_FRAME = -1
LEFT = 0


@compiled
def enter(arrays: Any, own: CurveArrays, row: int) -> None:
    """Insert a stored row into the rows by value."""
    by_value.enter(arrays, own, row)


@compiled
def leave(arrays: Any, own: CurveArrays, row: int) -> None:
    """Remove a row."""
    by_value.leave(arrays, own, row)


@compiled
def build(arrays: Any, own: CurveArrays, pool: int) -> None:
    """Insert all stored rows of a pool."""
    for row in range(arrays.rows.size):
        if arrays.links[row].alive and arrays.sides[arrays.links[row].side].pool == pool:
            enter(arrays, own, row)


@compiled
def worst(arrays: Any, own: CurveArrays, pool: int) -> tuple[np.int64, float, np.int64]:
    """The row of lowest score."""
    return by_value.worst(arrays, own, pool)


@compiled
def standing(arrays: Any, own: CurveArrays, row: int) -> tuple[float, np.int64]:
    """The score of an arrival's offset."""
    side = arrays.links[row].side
    return by_value.judge(arrays, own, row, side, by_value.age_class(arrays, own, row, side))


@compiled
def forget(arrays: Any, own: CurveArrays, definition: int) -> None:
    """Clear the marks of stored rows."""
    own.sorted_values.stored.words[:] = 0


@compiled
def on_arrival(arrays: Any, own: CurveArrays, row: int) -> None:
    """Update the state of a stream from an in-order arrival."""
    if 2 * arrays.rows[row].time + arrays.links[row].side >= arrays.terms[0].clock:
        by_value.hear(arrays, own, row)


@compiled
def on_pairs(
    arrays: Any, own: CurveArrays, row: int, block: Block, first: int, end: int
) -> tuple[int, Any]:
    """Count the matches of stored rows, where the policy observes them."""
    if arrays.terms[0].observes and not arrays.terms[0].count_only:
        for at in range(first, end):
            arrays.rows[block.pairs[at].partner].matches += 1
    return end, np.int64(0)


@compiled
def on_admission(arrays: Any, own: CurveArrays, row: int) -> None:
    """Record a row's offset on arrival, where the policy observes."""
    if arrays.terms[0].observes:
        origin = own.heard[arrays.links[row].side].origin
        arrays.rows[row].touched = own.sorted_values.value[row] - origin


@compiled
def on_removal(arrays: Any, own: CurveArrays, row: int) -> None:
    """Record when a row leaves, where the policy observes."""
    if arrays.terms[0].observes:
        arrays.rows[row].score = arrays.terms[0].clock >> 1


class PlainCurveScore(PlainScore):
    """Curve scores in plain Python."""

    def __init__(
        self, terms: Any, rows: list[PlainRow], progress: Any, definition: int = 0
    ) -> None:
        super().__init__(terms, rows, progress, definition)
        self._frames = list(progress.frames)
        self._departures: list[tuple[PlainRow, int]] = []
        """Rows that left, and when."""

    def hears(self, row: PlainRow, clock: int) -> None:
        """Update the state of a stream from an in-order arrival."""
        if 2 * row.time + row.side >= clock:
            heard = self.policy.frames(as_arrivals([row]))
            self._frames[1 - row.side] = (int(heard.origin[0]), int(heard.frame[0]))

    def pairs(
        self,
        row: PlainRow,
        other: PlainRow,
        worth: float,
        rows: Sequence[PlainRow],
        now: ScoreMoment,
    ) -> None:
        """Count a match for the stored row only."""
        if self.policy.observes:
            other.matches += 1

    def admits(self, row: PlainRow) -> None:
        """Record the row's offset."""
        if self.policy.observes:
            row.touched = int(row.weight) - self._frames[row.side][0]

    def leaves(self, row: PlainRow, now: int) -> None:
        """Record the departure."""
        self._departures.append((row, now))

    def worth(self, row: PlainRow, now: ScoreMoment) -> tuple[float, int]:
        """The score at the value's offset. Among equals the lowest value goes first, or the highest
        where scores fall; among equal values, the oldest row."""
        origin, frame = self._frames[row.side]
        offset = int(row.weight) - origin
        if frame == NO_FRAME:
            return 0.0, (offset << 31) + row.position
        curves = self.policy.curves(row.side, self.terms.windows[row.side])
        age = (now.time - row.time) // curves.class_us
        curve = curves.table[frame, min(age, curves.table.shape[1] - 1)]
        at = (offset - curves.lowest) >> curves.grain
        score = float(curve[at]) if 0 <= at < len(curve) else 0.0
        order = offset if _rises(curve.tolist(), max(at, 0)) else -offset
        return score * self.importance(row, now.definition), (order << 31) + row.position

    def progress(self) -> dict[str, Any]:
        """The current state of the streams."""
        return {"frames": (self._frames[0], self._frames[1])}

    def memory(self, told: PlainStretch) -> str:
        """What the policy learned from arrivals and departures."""
        if not self.policy.observes:
            return ""
        gone = [
            (now, row.position, row.side, row.touched, row.matches, _within(row, now))
            for row, now in (*self._departures, *((row, told.now) for row in told.past))
            if not told.had_passed(row)
        ]
        columns = np.array(sorted(gone), np.int64).reshape(-1, 6)
        side, offset, matches, stayed = columns[:, 2:].T
        left = Departures(side.astype(np.uint8), offset, matches.astype(np.int32), stayed)
        return str(self.policy.remember(told.stretch._replace(departures=left)))


def _within(row: PlainRow, now: int) -> int:
    """How long a row was stored within its window."""
    return now - row.time if row.by_rows else min(now, row.end) - row.time


def _rises(curve: list[float], at: int) -> bool:
    """Whether the last change of a curve up to an entry was a rise. Curves start and end at zero,
    so they rise first."""
    so_far = [*curve, 0.0][: at + 1]
    changes = [there - here for here, there in pairwise(so_far) if there != here]
    return not changes or changes[-1] > 0


class CurveKind(Kind):
    """Rows sorted by value, with marks on the stored ones."""

    name = "curve"
    uses_heap = False
    follows_values = True
    plain = PlainCurveScore
    enter, leave, build = enter, leave, build
    worst, standing, forget = worst, standing, forget
    on_arrival, on_pairs = on_arrival, on_pairs
    on_admission, on_removal = on_admission, on_removal

    @staticmethod
    def arrays(given: Given) -> CurveArrays:
        """The curves, and the rows by value."""
        left, right = (given.policy.curves(side, given.windows[side]) for side in (0, 1))
        tables = curve_tables_of(left, right)
        rows = Arrivals(*(column[given.order] for column in given.arrivals))
        values = by_value.sort_values(
            tables, rows, given.policy.frames(rows), given.left_rows, given.levels
        )
        if given.policy.observes:
            given.rows["score"] = NEVER
        return CurveArrays(tables, values, np.array(list(given.progress.frames), HEARD))

    @staticmethod
    @cache
    def no_arrays() -> CurveArrays:
        """No curves."""
        return CurveArrays(no_curve_tables(), by_value.no_sorted_values(), np.zeros(2, HEARD))

    @staticmethod
    def progress(arrays: Any, own: CurveArrays) -> dict[str, Any]:
        """The current state of the streams."""
        left, right = own.heard.tolist()
        return {"frames": (left, right)}

    @staticmethod
    def memory(policy: "CurveScore", arrays: Any, before: int, seen: ObservedStretch) -> str:
        """What the policy learned from arrivals and departures."""
        if not policy.observes:
            return ""
        links, rows, sides = arrays.links, arrays.rows, arrays.sides
        clock = int(arrays.terms["clock"][0])
        left_at = rows["score"].copy()
        span = sides["span"][links["side"]]
        is_timed = sides["by_rows"][links["side"]] == 0
        # A window in time passes with the clock, though a row may stay for others that come late.
        last = 2 * (links["mark"] + span) + (links["side"] == LEFT)
        left_at[(links["alive"] != 0) & is_timed & (last < clock)] = clock >> 1
        left_at[is_timed & (last < before)] = NEVER
        gone = np.flatnonzero(left_at != NEVER)
        gone = gone[np.argsort(left_at[gone], kind="stable")]
        stayed = left_at[gone].astype(np.int64) - rows["time"][gone]
        stayed = np.where(is_timed[gone], np.minimum(stayed, span[gone]), stayed)
        departures = Departures(
            links["side"][gone], rows["touched"][gone], rows["matches"][gone], stayed
        )
        return policy.remember(seen._replace(departures=departures))


@dataclass(frozen=True)
class CurveScore(Policy):
    """Base of policies that score a row by its value's offset from the other stream.

    `weigh` gives the value, an integer. Each arrival of the other side updates that stream's
    *origin*, and its *frame* where the outlook differs by state. The score is looked up by the
    value's offset from the origin, and also by age where the window limits future matches.
    """

    kind: ClassVar[type[Kind]] = CurveKind
    weighs_importance: ClassVar[bool] = True
    weighs_keys: ClassVar[bool] = True
    ranks_by: ClassVar[RanksBy] = RanksBy.FREQUENCY

    def remember(self, seen: ObservedStretch) -> str:
        """What to remember after a step, from its arrivals and departures, as text."""
        return ""

    @abstractmethod
    def frames(self, arrivals: Arrivals) -> Frames:
        """The state of each row's stream when the row arrives."""

    @abstractmethod
    def curves(self, side: int, window: Window) -> Curves:
        """The scores of a side's rows."""
