"""What watched rows say of a join's result: of pairs, or of rows with and without a partner.

The result of an inner join has a row for every pair. That of a semi join has one for every left
row that has a partner, that of an anti join one for every left row that has none, and outer joins
have both pairs and rows without a partner. A watched row is followed to the end of its window, so
all that it meets later is known. What it could have met *before* it came is nothing where rows of
the other side wait for nobody. Elsewhere it is known of rows whose key is followed (`by_key`).
"""

from typing import NamedTuple

import numpy as np

from headgate.kernel.layout import LEFT, RIGHT, Fate
from headgate.kernel.terms import Terms
from headgate.learning.evidence import Evidence
from headgate.spec import How, RowWindow, Window


class ResultRows(NamedTuple):
    """Counts the rows of the result that a kind of join has, by its watched rows.

    Parameters
    ----------
    how
        The kind of join.
    spans
        The windows' lengths.
    keyed
        Whether rows meet by equal keys alone, in windows of time, so that keys can be followed.

    Examples
    --------
    A left row that met three partners, two of them while it was stored, and one that met nobody
    and was given up:

    >>> met, made = np.array([3.0, 0.0]), np.array([2.0, 0.0])
    >>> fate = np.array([Fate.MATCHED, 0], np.uint8)
    >>> semi = ResultRows(How.SEMI, spans=(60, 0))
    >>> [part.tolist() for part in semi.matched(met, made, fate)]
    [[1.0, 0.0], [1.0, 0.0]]
    >>> [part.tolist() for part in ResultRows(How.LEFT, (60, 0)).unmatched(0, met, fate)]
    [[0.0, 1.0], [0.0, 0.0]]
    """

    how: How
    spans: tuple[int, int]
    keyed: bool = False

    @classmethod
    def of(cls, terms: Terms) -> "ResultRows":
        """Of a join as a step knows it."""
        return cls.of_join(terms.how, terms.windows, where=terms.where is not None)

    @classmethod
    def of_join(cls, how: How, windows: tuple[Window, Window], *, where: bool) -> "ResultRows":
        """Of a join, with a predicate beside its keys (``where``) or without."""
        left, right = windows
        in_time = not (isinstance(left, RowWindow) or isinstance(right, RowWindow))
        return cls(how, (left.span, right.span), in_time and not where)

    @property
    def by_row(self) -> bool:
        """Whether rows watched one by one tell the recall of the whole result."""
        if self.how in (How.INNER, How.FULL):
            return self.how == How.INNER
        other = LEFT if self.how == How.RIGHT else RIGHT
        return self.spans[other] == 0 and self.spans[1 - other] > 0

    @property
    def by_key(self) -> bool:
        """Whether it takes rows of keys that are followed."""
        return self.keyed and not self.by_row

    @property
    def are_known(self) -> bool:
        """Whether watched rows tell the recall of the whole result."""
        return self.by_row or self.by_key

    @property
    def wait(self) -> bool:
        """Whether a row's part in the result is settled only when no late row can meet it."""
        return self.are_known and (any(self.how.outer) or self.by_key)

    @property
    def row_sides(self) -> tuple[bool, bool]:
        """The sides of which rows are watched one by one: those whose rows wait.

        A left row that waits for nobody still meets right rows of the same time, which come after
        it; where keys are followed, all that rows meet is counted.
        """
        left, right = self.spans
        return left > 0 or self.by_key, right > 0

    @property
    def key_sides(self) -> tuple[bool, bool]:
        """The sides of which rows are watched by their key."""
        if not self.by_key:
            return False, False
        return (True, False) if self.how == How.SEMI else self.how.outer

    def matched(
        self, met: np.ndarray, made: np.ndarray, fate: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rows with a partner that the exact result has of each watched row, and those made."""
        if not self.how.frees_left:
            return met, made
        if self.how == How.ANTI or not self.by_row:
            return np.zeros(len(met)), np.zeros(len(met))
        found = fate & Fate.MATCHED != 0
        return ((met > 0) | found).astype(np.float64), found.astype(np.float64)

    def unmatched(
        self, side: int, met: np.ndarray, fate: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rows without a partner that the exact result has of each watched row of a side, none of
        which can meet another; and those that came out as certain.

        A row never counts here and among those matched, so the evidence of both adds up.
        """
        if not (self.by_row and self.how.outer[side]):
            return np.zeros(len(met)), np.zeros(len(met))
        alone = (met == 0) & (fate & Fate.MATCHED == 0)
        return alone.astype(np.float64), (fate & Fate.CERTAIN != 0).astype(np.float64)

    def drawn_by_key(
        self, side: int, met: np.ndarray, fate: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rows that the exact result has of each row watched by its key, which none can meet any
        more, and those made: rows with a partner in semi joins, in others those without."""
        if not self.key_sides[side]:
            return np.zeros(len(met)), np.zeros(len(met))
        has_met = (met > 0) | (fate & (Fate.MATCHED | Fate.PRECEDED) != 0)
        if self.how == How.SEMI:
            return has_met.astype(np.float64), (fate & Fate.MATCHED != 0).astype(np.float64)
        return (~has_met).astype(np.float64), (fate & Fate.CERTAIN != 0).astype(np.float64)

    def without_key(self, null_keys: np.ndarray) -> Evidence:
        """Of so many rows of each side whose key is null: they come out at once, if at all."""
        if not self.wait:
            return Evidence()
        rows = sum(float(n) for n, outer in zip(null_keys, self.how.outer, strict=True) if outer)
        return Evidence(met=rows, made=rows)
