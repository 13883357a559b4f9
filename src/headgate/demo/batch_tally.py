"""Figures of a running join, read from the query's progress reports."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from headgate.demo.shop import ShopStream
from headgate.learning import Estimate
from headgate.spark.report_reader import ReportReader

METRICS = "headgate"
"""The name the join's metrics are observed under."""


@dataclass
class BatchTally:
    """Running totals of a query.

    Parameters
    ----------
    stream
        The joined stream. It knows the exact result, so recall is measured, not estimated.
    budget_rows, exact_rows
        The most rows the join may store, and the most the exact join stores.
    """

    stream: ShopStream
    budget_rows: int
    exact_rows: int
    rows: int = 0
    pairs: int = 0
    shed: int = 0
    refused: int = 0
    stored_rows: int = 0
    most_stored: int = 0
    held_bytes: int = 0
    estimate: Estimate | None = None
    """Recall so far as the join itself estimates it, without knowing the exact result."""
    watched_rows: int = 0
    tracked_keys: int = 0
    following: str = ""
    """What rows are ranked by, in words."""
    recalls: list[float] = field(default_factory=list)
    """Of the exact result so far, after each batch."""
    _batches: list[tuple[int, float]] = field(default_factory=list)
    _reports: ReportReader = field(default_factory=lambda: ReportReader(METRICS))

    def read(self, reports: Sequence[Any]) -> None:
        """Read the new progress reports."""
        for report, figures in self._reports.new(reports):
            self._add(figures, report["durationMs"]["triggerExecution"] / 1000)

    def _add(self, figures: Any, seconds: float) -> None:
        arrived = figures["left_rows"] + figures["right_rows"]
        self.rows += arrived
        self.pairs += figures["pairs"]
        self.shed += figures["shed"]
        self.refused += figures["refused"]
        self.stored_rows = figures["stored_rows"]
        self.most_stored = max(self.most_stored, figures["peak_rows"])
        self.held_bytes = figures["held_bytes"]
        self.watched_rows, self.tracked_keys = figures["watched_rows"], figures["tracked_keys"]
        if figures["total_recall"] is not None:
            self.estimate = Estimate(
                figures["total_recall"], figures["total_recall_low"], figures["total_recall_high"]
            )
        self.following = _following(figures)
        self._batches.append((arrived, seconds))
        self.recalls.append(self.recall)

    @property
    def batches(self) -> int:
        """Number of batches that had rows."""
        return len(self._batches)

    @property
    def exact_pairs(self) -> int:
        """Result rows of the exact join on the same input."""
        return self.stream.exact_pairs(self.rows)

    @property
    def recall(self) -> float:
        """Result rows as a share of the exact join's on the same input."""
        return self.pairs / self.exact_pairs if self.exact_pairs else 1.0

    @property
    def event_time(self) -> datetime | None:
        """The event time reached: that of the last click."""
        clicks = self.stream.between("clicks", 0, self.rows).column("clicked_at")
        return clicks[-1].as_py() if len(clicks) else None

    @property
    def last_rate(self) -> float:
        """Rows per second in the last batch."""
        return _rate(self._batches[-1:])

    @property
    def mean_rate(self) -> float:
        """Rows per second, without the first batch, in which the workers start."""
        return _rate(self._batches[1:] or self._batches)


def _rate(batches: list[tuple[int, float]]) -> float:
    seconds = sum(took for _, took in batches)
    return sum(rows for rows, _ in batches) / seconds if seconds else 0.0


RANKINGS = {
    "shards_by_key": "how often their product is ordered",
    "shards_by_age": "how long they have waited",
    "shards_by_recency": "when they last matched",
    "shards_neutral": "nothing yet, at random",
}
"""What shards may rank rows by, by metric, in the demo's words."""


def _following(figures: Any) -> str:
    ranked = {words: figures[name] for name, words in RANKINGS.items() if figures[name]}
    if len(ranked) == 1:
        return next(iter(ranked))
    return ", ".join(
        f"{words} ({shards} shard{'s' if shards > 1 else ''})" for words, shards in ranked.items()
    )
