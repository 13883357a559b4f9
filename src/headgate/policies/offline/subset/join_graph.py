"""A join's result as a graph: rows are nodes, pairs are edges. And a part of it, with its cost."""

from dataclasses import dataclass

import numpy as np

from headgate.models.cost import WorkCost
from headgate.policies.offline.course import LEFT, Course, Events, meetings
from headgate.spec import SpecError, Window
from headgate.spec.window import parse_window


@dataclass(frozen=True, eq=False)
class JoinGraph:
    """All matches of two complete streams.

    Parameters
    ----------
    rows
        How many rows there are; they are numbered from 0.
    ends
        The rows of each pair, of shape (2, pairs); no pair twice.

    Examples
    --------
    >>> graph = JoinGraph.of_events(
    ...     Events([1, 2], [7, 7]), Events([3, 9], [7, 7]), ("5 seconds", "5 seconds")
    ... )
    >>> graph
    JoinGraph(4 rows, 4 pairs)
    >>> graph.cost(WorkCost(update=1.0, produce=0.5))
    6.0
    """

    rows: int
    ends: np.ndarray

    def __post_init__(self) -> None:
        ends = np.asarray(self.ends, np.int64).reshape(2, -1)
        if ends.size and not (ends.min() >= 0 and ends.max() < self.rows):
            raise SpecError(f"pairs name rows outside 0 to {self.rows - 1}: number the rows from 0")
        object.__setattr__(self, "ends", ends)

    @classmethod
    def of_events(
        cls, left: Events, right: Events, windows: "tuple[Window | str, Window | str]"
    ) -> "JoinGraph":
        """Of two streams: left rows are numbered first, each side's as given.

        Parameters
        ----------
        left, right
            All rows of each side.
        windows
            How long rows of each side wait, as `Side` takes them.
        """
        course = Course.of(left, right, (parse_window(windows[0]), parse_window(windows[1])))
        number = np.where(course.side == LEFT, course.number, len(left.time) + course.number)
        row, partner = meetings(course)
        return cls(course.events, np.stack([number[row], number[partner]]))

    @property
    def pairs(self) -> int:
        """How many there are."""
        return int(self.ends.shape[1])

    @property
    def degree(self) -> np.ndarray:
        """Pairs of each row."""
        return np.bincount(self.ends.ravel(), minlength=self.rows)

    def cost(self, work: WorkCost) -> float:
        """F(G), without rows that match nothing, since none of them would be kept."""
        return work.of_work(0.0, float((self.degree > 0).sum()), float(self.pairs))

    def components(self) -> np.ndarray:
        """The connected component of each row, numbered from 0."""
        from scipy.sparse import coo_array  # slow to import
        from scipy.sparse.csgraph import connected_components

        joined = coo_array((np.ones(self.pairs), self.ends), shape=(self.rows, self.rows))
        of_row: np.ndarray = connected_components(joined, directed=False)[1]
        return of_row

    def __repr__(self) -> str:
        return f"JoinGraph({self.rows:,} rows, {self.pairs:,} pairs)"


@dataclass(frozen=True, eq=False)
class Subset:
    """Rows kept and pairs made, out of a graph.

    Attributes
    ----------
    kept
        Whether each row is kept.
    made
        Whether each pair is made; its rows are kept.
    cost
        Of both.
    """

    kept: np.ndarray
    made: np.ndarray
    cost: float

    @classmethod
    def of_pairs(cls, graph: JoinGraph, made: np.ndarray, work: WorkCost) -> "Subset":
        """These pairs and no more rows than they need."""
        kept = np.zeros(graph.rows, bool)
        kept[graph.ends[:, made].ravel()] = True
        return cls(kept, made, work.of_work(0.0, float(kept.sum()), float(made.sum())))

    @property
    def pairs(self) -> int:
        """How many are made."""
        return int(self.made.sum())

    def __repr__(self) -> str:
        return f"Subset({self.pairs:,} pairs of {self.kept.sum():,} rows, cost {self.cost:,.6g})"


def check_budget(budget: float) -> None:
    """A budget is a cost."""
    if not budget >= 0:
        raise SpecError(f"budget={budget!r} is not a cost: give a number, 0 or more")


def within(budget: float) -> float:
    """The most that a sum of costs may come to: the budget, but for the rounding of the sum."""
    return budget * (1 + 1e-12)
