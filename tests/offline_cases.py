"""Small inputs to plan with the future at hand, and the best plan by exhaustive search."""

from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

import headgate as hg
from headgate.policies import Policy
from headgate.policies.offline import (
    Events,
    Opt,
)
from headgate.spec import RowWindow, TimeWindow, Window

NULL = -1
Row = tuple[int, int, int]
"""Time, side, key."""


@dataclass(frozen=True)
class Case:
    """A small input and the join asked of it."""

    rows: tuple[Row, ...]
    """In event order."""
    windows: tuple[Window, Window]
    memory: int
    split: tuple[int, int] | None = None

    def of_side(self, side: int) -> list[Row]:
        """The rows of a side."""
        return [row for row in self.rows if row[1] == side]

    def events(self, side: int) -> Events:
        """The same for a plan."""
        rows = self.of_side(side)
        return Events([row[0] for row in rows], [row[2] for row in rows])

    def number(self, event: int) -> int:
        """Of a row among those of its side."""
        return sum(row[1] == self.rows[event][1] for row in self.rows[:event])

    def plan(self, importance: object = None) -> Opt:
        """The best plan."""
        return Opt.plan(
            self.events(0),
            self.events(1),
            self.windows,
            self.memory,
            self.split or "pooled",
            importance,
        )

    def table(self, side: int) -> pa.Table:
        """The rows of a side, numbered."""
        rows = self.of_side(side)
        return pa.table(
            {
                "key": pa.array([None if row[2] == NULL else row[2] for row in rows], pa.int64()),
                "at": pa.array([row[0] for row in rows], pa.timestamp("us")),
                "row": pa.array(range(len(rows)), pa.int64()),
            }
        )

    def join(self, policy: Policy) -> pa.Table:
        """What the real join makes of it."""
        return (
            hg.WindowJoin(
                on="key",
                left=hg.Side(time="at", window=self.windows[0]),
                right=hg.Side(time="at", window=self.windows[1]),
                budget=hg.Budget(rows=self.memory, split=self.split or "pooled", monitor=0),
                policy=policy,
            )
            .run(self.table(0), self.table(1))
            .pairs
        )


def meet(case: Case, stored: int, arriving: int) -> bool:
    """Whether an arrival meets a row stored before, given as places in event order."""
    (then, side, key), (now, other, same) = case.rows[stored], case.rows[arriving]
    window = case.windows[side]
    if side == other or key != same or key == NULL:
        return False
    if isinstance(window, RowWindow):
        since = sum(row[1] == side for row in case.rows[stored + 1 : arriving])
        return since < window.rows
    return now - then <= window.us


def exhaustive(case: Case, worth: dict[tuple[int, int], float] | None = None) -> float:
    """The most that can be made, by trying every choice of whom to give up.

    Nobody is given up while there is room: an empty place makes nothing.
    """
    shares = case.split and [case.memory * part // sum(case.split) for part in case.split]
    count = len(case.rows)
    meets = {
        event: [row for row in range(event) if meet(case, row, event)] for event in range(count)
    }

    def fits(held: tuple[int, ...]) -> bool:
        if shares:
            sides = [case.rows[row][1] for row in held]
            return all(sides.count(side) <= shares[side] for side in (0, 1))
        return len(held) <= case.memory

    @cache
    def most(event: int, held: tuple[int, ...]) -> float:
        if event == count:
            return 0.0
        met = [row for row in meets[event] if row in held]
        made = sum(1.0 if worth is None else worth[row, event] for row in met)
        everyone = (*held, event)
        if fits(everyone):
            return made + most(event + 1, everyone)
        fewer = combinations(everyone, len(held))
        return made + max(most(event + 1, kept) for kept in fewer if fits(kept))

    return most(0, ())


@st.composite
def windows(draw: st.DrawFn, in_rows: bool = True) -> Window:
    """Empty, short or long; in time or rows."""
    if in_rows and draw(st.booleans()):
        return RowWindow(draw(st.integers(0, 4)))
    return TimeWindow(draw(st.sampled_from((2, 0, 1, 4, 20))))


@st.composite
def cases(draw: st.DrawFn, most: int = 8, in_rows: bool = True, keys: int = 2) -> Case:
    """Few keys, many ties, little memory."""
    gaps = st.sampled_from((0, 0, 1, 1, 3))
    values = st.sampled_from((0, *range(keys), *range(keys), NULL))
    # Lists drawn without a least size are mostly too short for anything to compete.
    size = draw(st.sampled_from((most, most, most, most - 1, most // 2, 0)))
    row = st.tuples(gaps, st.integers(0, 1), values)
    drawn = draw(st.lists(row, min_size=size, max_size=size))
    times = np.cumsum([gap for gap, _, _ in drawn]).tolist()
    rows = [(time, side, key) for time, (_, side, key) in zip(times, drawn, strict=True)]
    return Case(
        tuple(sorted(rows, key=lambda row: row[:2])),
        (draw(windows(in_rows)), draw(windows(in_rows))),
        draw(st.integers(1, 3)),
        draw(st.sampled_from((None, None, (1, 1), (2, 1), (0, 1)))),
    )
