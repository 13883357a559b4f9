"""The answer: recall against memory for every policy, and the memory that a recall takes."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from headgate.sizing.needs import Needs

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

TARGETS = (0.90, 0.95, 0.99)


@dataclass(frozen=True)
class Point:
    """The recall of a policy within some memory, and its 95 % interval."""

    policy: str
    rows: int
    bytes: int
    recall: float
    low: float
    high: float


@dataclass(frozen=True)
class Memory:
    """Memory that a recall takes: rows and bytes, and the rows it takes at best and at worst.

    ``least`` and ``most`` are where the interval of the recall crosses it; ``most`` is None where
    it does not within what was tried.
    """

    rows: float
    bytes: float
    least: float
    most: float | None


@dataclass(frozen=True, eq=False)
class WhatIf:
    """What every policy would make of every memory.

    Printing it answers in words; `plot` draws it; `to_html` writes a report to send around.

    Attributes
    ----------
    points
        Policies in turn, each by ascending memory.
    optimum
        The same for a policy that knows the future; none where it could not be planned.
    needs
        What the exact join holds at most.
    pairs
        Rows of the exact result; what they are worth, where the goal is importance.
    rows
        Of each side.
    looked_at
        Rows of both sides that were looked at.
    share
        The share of rows that was asked for; 1 where all rows were looked at.
    question
        The join, in a line.
    notes
        What must be said of how it was found.
    """

    points: tuple[Point, ...]
    optimum: tuple[Point, ...]
    needs: Needs
    pairs: float
    rows: tuple[int, int]
    looked_at: int
    share: float
    question: str
    notes: tuple[str, ...] = ()
    importance: bool = False
    drawn_by: str = "keys"
    """Of what a share was looked at: of the "keys", or, with all keys, of the "times"."""
    buffered: bool = False
    """Whether `rows` are those in the buffers of a running join, and `pairs` those of a window."""

    @property
    def is_exact(self) -> bool:
        """Whether all rows were looked at, so that recalls are no estimates."""
        return self.share >= 1.0

    @property
    def policies(self) -> tuple[str, ...]:
        """Those that were tried, by what they make over all memory tried, the best first."""
        labels = dict.fromkeys(point.policy for point in self.points)
        return tuple(sorted(labels, key=lambda label: -self._area(label)))

    @property
    def memory(self) -> tuple[int, ...]:
        """The rows that were tried, ascending."""
        return tuple(sorted({point.rows for point in self.points}))

    def curve(self, policy: str) -> tuple[Point, ...]:
        """A policy's points, by ascending memory."""
        return tuple(
            point for point in (*self.points, *self.optimum) if point.policy == policy.upper()
        )

    def memory_for(self, recall: float, policy: str) -> Memory | None:
        """The least memory with which a policy reaches a recall; None if with none that was tried.

        Between two points, recall is taken to rise in a straight line; without memory there is
        none.
        """
        curve = self.curve(policy)
        rows = _crossing(curve, "recall", recall)
        if rows is None:
            return None
        least = _crossing(curve, "high", recall)
        return Memory(
            rows,
            rows * self.needs.row_bytes,
            rows if least is None else least,
            _crossing(curve, "low", recall),
        )

    def best_at(self, rows: int) -> str:
        """The policy that makes most of memory that was tried."""
        at = [point for point in self.points if point.rows == rows]
        return max(at, key=lambda point: point.recall).policy

    def to_pandas(self) -> "pd.DataFrame":
        """A row a policy and memory, the optimum last."""
        import pandas as pd

        rows = [vars(point) for point in (*self.points, *self.optimum)]
        return pd.DataFrame(rows, columns=list(Point.__dataclass_fields__))

    def to_csv(self, path: "str | os.PathLike[str]") -> Path:
        """Write `to_pandas` to a file."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        self.to_pandas().to_csv(path, index=False)
        return path

    def to_html(self, path: "str | os.PathLike[str]") -> Path:
        """Write a report in one file, pictures included, that any browser shows."""
        from headgate.sizing.page import page

        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(self), encoding="utf-8")
        return path

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """Draw recall against memory."""
        from headgate.sizing.whatif_picture import draw_on

        return draw_on(self, axes)

    def __str__(self) -> str:
        from headgate.sizing.wording import as_text

        return as_text(self)

    def __repr__(self) -> str:
        return (
            f"WhatIf({len(self.policies)} policies, {len(self.memory)} budgets, "
            f"exact join holds {self.needs.rows:,.0f} rows)"
        )

    def _repr_html_(self) -> str:
        from headgate.sizing.page import body

        return body(self)

    def _area(self, policy: str) -> float:
        return sum(point.recall for point in self.curve(policy))


def _crossing(curve: tuple[Point, ...], what: str, recall: float) -> float | None:
    """Where a curve first reaches a recall, in rows."""
    before, had = 0.0, 0.0
    for point in curve:
        has = float(getattr(point, what))
        if has >= recall - 1e-12:
            part = (recall - had) / (has - had) if has > had else 1.0
            return before + float(np.clip(part, 0.0, 1.0)) * (point.rows - before)
        before, had = float(point.rows), has
    return None
