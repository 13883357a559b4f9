"""Result of an in-process join, with its recall."""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import pyarrow as pa

from headgate.engine.row_flow import row_flow
from headgate.engine.stats import Stats
from headgate.learning import Estimate
from headgate.report.section_html import as_html, meter


class ExactCounts(NamedTuple):
    """What the exact result has."""

    pairs: int
    """Result rows."""
    importance: float | None = None
    """What they are worth together; None where all count alike."""
    unmatched: int = 0
    """Of the rows, those without a partner."""


class Outcome:
    """The result of an in-process join. Print it to see what happened to the rows.

    Attributes
    ----------
    pairs
        The result rows, an Arrow table.
    stats
        What happened on the way: a `Stats`.
    recall
        The share of the exact result that was produced; exact, because the whole input is known.
    recall_matched, recall_unmatched
        The same of the rows with a partner alone, and of those without one.
    importance_recall
        The share of the exact result's importance that was produced; as `recall`, where all rows
        count alike.
    estimated_recall
        The monitor's estimate of recall, without knowing the whole input: an `Estimate`, or None
        where nothing was watched.
    followed
        How many arrivals each policy handled, where the policy was learned.

    Examples
    --------
    >>> import headgate as hg
    >>> from headgate.demo.flights import new_york_flights
    >>> flights = new_york_flights()
    >>> outcome = hg.WindowJoin(
    ...     on="plane",
    ...     left=hg.Side(time="landed_at", window="1 day"),
    ...     right=hg.Side(time="departed_at", window="0 seconds"),
    ...     budget=hg.Budget(rows=500),
    ...     policy="fifo",
    ... ).run(flights.landings, flights.departures)
    >>> outcome
    Outcome(... pairs, recall ..., peak 500 rows)
    >>> outcome.pairs.num_rows == outcome.stats.pairs
    True
    """

    def __init__(
        self,
        pairs: pa.Table,
        stats: Stats,
        exact_pairs: int | Callable[[], ExactCounts],
        estimated_recall: Estimate | None = None,
        followed: dict[str, int] | None = None,
        exact_importance: float | None = None,
    ) -> None:
        self.pairs = pairs
        self.stats = stats
        self._exact = (
            exact_pairs if callable(exact_pairs) else ExactCounts(exact_pairs, exact_importance)
        )
        self.estimated_recall = estimated_recall
        self.followed = followed or {}

    @property
    def exact_pairs(self) -> int:
        """How many rows the exact result has; counted when first asked for, if some are missing."""
        return self._counted.pairs

    @property
    def exact_importance(self) -> float | None:
        """What the exact result's rows are worth together; None where all count alike."""
        return self._counted.importance

    @property
    def exact_unmatched(self) -> int:
        """How many rows of the exact result have no partner; none in an inner or semi join."""
        return self._counted.unmatched

    @cached_property
    def _counted(self) -> ExactCounts:
        return self._exact() if callable(self._exact) else self._exact

    @property
    def recall(self) -> float:
        """Produced pairs as a share of the exact result's; 1 when that is empty."""
        return 1.0 if self.exact_pairs == 0 else self.stats.pairs / self.exact_pairs

    @property
    def recall_matched(self) -> float:
        """Of the exact result's rows with a partner, the share produced; 1 when there are none."""
        exact = self.exact_pairs - self.exact_unmatched
        return (self.stats.pairs - self.stats.unmatched) / exact if exact else 1.0

    @property
    def recall_unmatched(self) -> float:
        """Of the exact result's rows without a partner, the share returned as certain; 1 when there
        are none."""
        return self.stats.unmatched / self.exact_unmatched if self.exact_unmatched else 1.0

    @property
    def importance_recall(self) -> float:
        """Produced importance as a share of the exact result's; 1 when that is worth nothing."""
        if self.exact_importance is None:
            return self.recall
        return self.stats.importance / self.exact_importance if self.exact_importance else 1.0

    def __repr__(self) -> str:
        worth = ""
        if self.exact_importance is not None:
            worth = (
                f"importance {self.stats.importance:,.6g}, {self.importance_recall:.3f} of all, "
            )
        return (
            f"Outcome({self.stats.pairs:,} pairs, {self._alone}recall {self.recall:.3f}, {worth}"
            f"peak {self.stats.peak_rows:,} rows)"
        )

    @property
    def _alone(self) -> str:
        """What rows without a partner there are; nothing where there are none."""
        stats = self.stats
        unmatched = f"{stats.unmatched:,} of them unmatched, " if stats.unmatched else ""
        return unmatched + (f"{stats.undecided:,} undecided, " if stats.undecided else "")

    def __str__(self) -> str:
        return row_flow(self.stats, self._title).text

    def _repr_html_(self) -> str:
        made = self.recall if self.exact_importance is None else self.importance_recall
        return as_html(row_flow(self.stats, self._title), meter(made))

    @property
    def _title(self) -> str:
        title = (
            f"{self.stats.pairs:,} of {self.exact_pairs:,} result rows: recall {self.recall:.3f}"
        )
        if self.exact_importance is not None:
            title += f", {self.importance_recall:.3f} of the importance"
        if 0 < self.exact_unmatched < self.exact_pairs:
            title += f" ({self.recall_matched:.3f} matched, {self.recall_unmatched:.3f} unmatched)"
        return title
