"""Figures of a running job, read from its query's progress reports."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headgate.engine.stats import GIVEN_UP
from headgate.jobs.pipeline import METRICS
from headgate.learning import Estimate
from headgate.metrics import SUM, metrics_of
from headgate.metrics.metric_groups import JoinCounts

LOST = tuple(name for name in GIVEN_UP if name != "retired")
"""Metrics that count rows dropped within their window. Rows past their window, which only an
out-of-order row could still match, are counted separately."""
_SUMMED = tuple(each.name for each in metrics_of(JoinCounts) if each.batches == SUM)


@dataclass(frozen=True)
class Batch:
    """Figures of one batch that had rows."""

    number: int
    seconds: float
    rows: int
    pairs: int
    given_up: int
    stored_rows: int
    held_bytes: int
    """Bytes of stored rows, of dead rows not yet reclaimed, and of the monitor."""
    cpu_seconds: float
    recall: Estimate | None
    """Of this batch's own result."""
    watermark: str


class BatchFigures:
    """Figures of a query since it started; `recall` covers all time since the checkpoint began.

    ``goes_on`` says that the query goes on from an earlier run.
    """

    def __init__(self, goes_on: bool = False) -> None:
        self.goes_on = goes_on
        self.batches = 0
        self.total = dict.fromkeys(_SUMMED, 0)
        self.most_rows = self.most_bytes = 0
        self.recall: Estimate | None = None
        self.last: Batch | None = None
        from headgate.spark.report_reader import ReportReader

        self._reports = ReportReader(METRICS)

    def read(self, reports: Sequence[Any]) -> list[Batch]:
        """Read the new progress reports; return those batches that had rows."""
        return [self._add(report, figures) for report, figures in self._reports.new(reports)]

    @property
    def given_up(self) -> int:
        """Rows dropped before their window ended, to stay within the budget."""
        return sum(self.total[name] for name in LOST)

    def _add(self, report: Any, figures: Any) -> Batch:
        for name in _SUMMED:
            self.total[name] += figures[name]
        self.batches += 1
        self.most_rows = max(self.most_rows, figures["peak_rows"])
        self.recall = _estimate(figures, "total_") or self.recall
        self.last = Batch(
            number=report["batchId"],
            seconds=report["durationMs"].get("triggerExecution", 0) / 1000,
            rows=figures["left_rows"] + figures["right_rows"],
            pairs=figures["pairs"],
            given_up=sum(figures[name] for name in LOST),
            stored_rows=figures["stored_rows"],
            held_bytes=figures["held_bytes"] + figures["monitor_bytes"],
            cpu_seconds=figures["cpu_ms"] / 1000,
            recall=_estimate(figures, ""),
            watermark=(report["eventTime"] or {}).get("watermark", ""),
        )
        self.most_bytes = max(self.most_bytes, self.last.held_bytes)
        return self.last


def _estimate(figures: Any, prefix: str) -> Estimate | None:
    if figures[f"{prefix}recall"] is None:
        return None
    parts = (figures[f"{prefix}{name}"] for name in ("recall", "recall_low", "recall_high"))
    return Estimate(*parts)
