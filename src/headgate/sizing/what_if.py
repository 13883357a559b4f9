"""The what-if result: recall against memory for every policy, and memory needed for a recall."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from headgate.sizing.crossing import crossing
from headgate.sizing.needs import Needs
from headgate.sizing.origin import Origin
from headgate.spec import Budget, How, SpecError
from headgate.spec.budget import RESERVE

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

TARGETS = (0.90, 0.95, 0.99)


@dataclass(frozen=True)
class SizingPoint:
    """The recall of a policy with a given memory, and its 95 % interval."""

    policy: str
    rows: int
    bytes: int
    recall: float
    low: float
    high: float


@dataclass(frozen=True)
class Memory:
    """The budget with which a stream reaches a recall, in rows and in bytes.

    Both include what a stream needs beside the rows it stores: the monitor's part, and of a budget
    in bytes the part kept back for rows that were given up and not yet reclaimed. ``least`` and
    ``most`` are the rows where the recall's confidence bounds reach it; ``most`` is None where that
    is beyond the memory tried.

    Examples
    --------
    >>> needed = Memory(rows=14_500, bytes=1_750_000, least=14_000, most=15_100)
    >>> print(needed.budget, "or", Budget(memory=needed.bytes))
    14,500 rows or 1.75 MB
    """

    rows: int
    bytes: int
    least: int
    most: int | None

    @property
    def budget(self) -> Budget:
        """The same as a budget, in rows."""
        return Budget(rows=self.rows)


@dataclass(frozen=True, eq=False)
class WhatIf:
    """The recall of every policy with every memory size.

    Print it for a summary; `plot` draws it; `to_html` writes a report in one file.

    Attributes
    ----------
    points
        Policy by policy, each by ascending memory: every policy with every size.
    optimum
        The same for the offline optimum, which knows the future; empty where not computed.
    needs
        What the exact join holds at most.
    pairs
        Rows of the exact result; their total importance where that is the goal.
    rows
        Rows of each side.
    looked_at
        Rows of both sides that were examined.
    share
        The requested share of rows; 1 where all rows were examined.
    question
        The join, described in one line.
    notes
        Remarks on how the result was obtained.

    Examples
    --------
    >>> import headgate as hg
    >>> from headgate.demo.auctions import auction_stream
    >>> stream = auction_stream(rows=16_000, seed=1)
    >>> found = hg.whatif(
    ...     stream.auctions,
    ...     stream.bids,
    ...     left_on="id",
    ...     right_on="auction",
    ...     left=hg.Side(time="opened_at", window="10 minutes"),
    ...     right=hg.Side(time="bid_at", window="0 seconds"),
    ...     policies=["age", "fifo"],
    ...     optimum=False,
    ... )
    >>> found.memory_for(0.9, "age").rows < found.needs.rows
    True
    """

    points: tuple[SizingPoint, ...]
    optimum: tuple[SizingPoint, ...]
    needs: Needs
    pairs: float
    rows: tuple[int, int]
    looked_at: int
    share: float
    question: str
    notes: tuple[str, ...] = ()
    importance: bool = False
    drawn_by: str = "keys"
    """How rows were sampled: by "keys" or, with all keys, by "times"."""
    buffered: bool = False
    """Whether `rows` are those in the buffers of a running join, and `pairs` those of a window."""
    monitored: Mapping[str, float] = field(default_factory=dict)
    """By policy: the part of the budget that only a stream gives to a monitor."""
    origin: Origin | None = None
    """What it was made of, when and by what."""
    between: tuple[SizingPoint, ...] = ()
    """Further points, at sizes between those of `points` where a policy's recall rises steeply."""
    how: How = How.INNER
    """The kind of join, whose result rows recall is of."""
    build: Callable[[str, Budget], Any] | None = None
    """Makes the join that was asked about, with one of the policies and a budget."""

    @property
    def is_exact(self) -> bool:
        """Whether all rows were examined, so that recalls are exact."""
        return self.share >= 1.0

    @property
    def policies(self) -> tuple[str, ...]:
        """The policies tried, by their overall result across memory sizes, best first."""
        labels = dict.fromkeys(point.policy for point in self.points)
        return tuple(sorted(labels, key=lambda label: -self._area(label)))

    @property
    def memory(self) -> tuple[int, ...]:
        """The memory sizes tried with every policy, in rows, ascending."""
        return tuple(sorted({point.rows for point in self.points}))

    def curve(self, policy: str) -> tuple[SizingPoint, ...]:
        """All points of a policy, by ascending memory."""
        tried = (*self.points, *self.between, *self.optimum)
        mine = (point for point in tried if point.policy == policy.upper())
        return tuple(sorted(mine, key=lambda point: point.rows))

    @property
    def recalls(self) -> dict[str, list[float]]:
        """By policy, best first: its recall with each size that was tried with every policy."""
        return {
            policy: [point.recall for point in self.points if point.policy == policy]
            for policy in self.policies
        }

    def memory_for(self, recall: float, policy: str) -> Memory | None:
        """The least memory with which a policy reaches a recall; None if no size tried suffices.

        Between points recall is interpolated by a smooth curve, from 0 without memory on.

        Parameters
        ----------
        recall
            A share of the exact result, such as 0.95.
        policy
            The name of a policy that was tried, in any case.
        """
        _check_recall(recall)
        curve = self.curve(policy)
        if not curve:
            names = ", ".join(f'"{name.lower()}"' for name in self.policies)
            raise SpecError(f"policy={policy!r} was not tried: give one of {names}")
        rows = _crossing(curve, "recall", recall)
        if rows is None:
            return None
        least, most = _crossing(curve, "high", recall), _crossing(curve, "low", recall)
        stored = 1 - self.monitored.get(policy.upper(), 0.0)
        return Memory(
            ceil(rows),
            ceil(rows * self.needs.row_bytes / stored / (1 - RESERVE)),
            int(rows if least is None else least),
            None if most is None else ceil(most),
        )

    def cheapest(self, recall: float) -> str | None:
        """The policy that reaches a recall with the least memory; None if none does."""
        able = [
            (memory.rows, place, policy)
            for place, policy in enumerate(self.policies)
            if (memory := self.memory_for(recall, policy)) is not None
        ]
        return min(able)[2] if able else None

    def join(self, recall: float, policy: str | None = None) -> Any:
        """The `WindowJoin` with the budget that reaches a recall, ready to run.

        Parameters
        ----------
        recall
            A share of the exact result, such as 0.95.
        policy
            The name of a policy that was tried; by default the one that needs the least memory.
        """
        chosen = policy or self.cheapest(recall)
        memory = None if chosen is None else self.memory_for(recall, chosen)
        if chosen is None or memory is None:
            best = max(point.recall for point in self.points)
            raise SpecError(
                f"no memory that was tried reaches a recall of {recall:g}: the best was {best:.3f} "
                f"with {max(self.memory):,} rows; give larger sizes with memory="
            )
        if self.build is None:
            raise SpecError("this report does not say which join it is for: make it with hg.whatif")
        return self.build(chosen.upper(), memory.budget)

    def to_pandas(self) -> "pd.DataFrame":
        """One row per policy and memory size, the optimum last."""
        import pandas as pd

        labels = dict.fromkeys(point.policy for point in (*self.points, *self.optimum))
        rows = [vars(point) for label in labels for point in self.curve(label)]
        return pd.DataFrame(rows, columns=list(SizingPoint.__dataclass_fields__))

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
        return sum(point.recall for point in self.points if point.policy == policy)


def _check_recall(recall: float) -> None:
    if isinstance(recall, bool) or not isinstance(recall, int | float) or not 0 < recall <= 1:
        hint = ""
        if isinstance(recall, int | float) and 1 < recall <= 100:
            hint = f"; {recall:g} % is {recall / 100:g}"
        raise SpecError(f"recall={recall!r} is not accepted: give a share from 0 to 1{hint}")


def _crossing(curve: tuple[SizingPoint, ...], what: str, recall: float) -> float | None:
    """Where a curve first reaches a recall, in rows."""
    rows = [0.0, *(float(point.rows) for point in curve)]
    values = [0.0, *(float(getattr(point, what)) for point in curve)]
    return crossing(np.array(rows), np.array(values), recall)
