"""`progress`: how good a running query's answer is, in a few lines."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from headgate.engine.row_flow import FATES
from headgate.learning import Estimate
from headgate.report.report_section import ReportSection
from headgate.report.section_html import as_html, meter
from headgate.spec import SpecError
from headgate.spec.quantity import format_bytes

LOSSES = ("shed", "refused", "retired", "unchosen", "unprobed", "unstored", "late")
"""What may cost result rows."""


@dataclass(frozen=True)
class Progress:
    """The figures of a join or lookup in the last batch that reported them. Print it.

    Attributes
    ----------
    batch
        The number of the batch.
    recall
        The share of the exact result made since the query began, with its 95 % interval; None
        while it is not known.
    figures
        All metrics of the batch, by name; docs/reference/metrics.md says what they mean.

    Examples
    --------
    >>> figures = {"total_recall": 0.91, "total_recall_low": 0.89, "total_recall_high": 0.93}
    >>> figures |= {"stored_rows": 1200, "stored_bytes": 96_000, "room_rows": 1500, "shed": 40}
    >>> print(Progress.of(7, figures))
    batch 7: recall 0.910 (0.890 to 0.930) since the query began
                                                           of
      rows stored                                 1,200  1,500
      bytes stored                                96 kB
      in this batch: evicted within their window     40
    """

    batch: int
    recall: Estimate | None
    figures: Mapping[str, Any] = field(repr=False)

    @classmethod
    def of(cls, batch: int, figures: Mapping[str, Any]) -> "Progress":
        """From the metrics of a batch."""
        told = [figures.get(f"total_recall{end}") for end in ("", "_low", "_high")]
        known = [float(value) for value in told if value is not None]
        return cls(batch, Estimate(*known) if len(known) == len(told) else None, figures)

    def __str__(self) -> str:
        return self._section.text

    def _repr_html_(self) -> str:
        known = self.recall
        bar = meter(known.value, known.low, known.high) if known is not None else ""
        return as_html(self._section, bar)

    @property
    def _section(self) -> ReportSection:
        known = "recall not known yet; a larger Budget(monitor=) tells it sooner"
        if self.recall is not None:
            known = f"recall {self.recall} since the query began"
        rows = (*self._stored, *self._since, *self._lost)
        return ReportSection(f"batch {self.batch}: {known}", heads=("", "", "of"), rows=rows)

    @property
    def _stored(self) -> Iterator[tuple[str, str, str]]:
        """What is stored, and what there is room for."""
        figures = self.figures
        room, size = figures.get("room_rows"), figures.get("room_bytes")
        stored = figures.get("stored_bytes", 0)
        yield "rows stored", f"{figures.get('stored_rows', 0):,}", f"{room:,}" if room else ""
        yield "bytes stored", format_bytes(stored), format_bytes(size) if size else ""

    @property
    def _since(self) -> Iterator[tuple[str, str, str]]:
        """Results, and rows lost, since the query began."""
        figures = self.figures
        if "total_pairs" in figures:
            exact = figures.get("total_exact_pairs")
            whole = f"about {exact:,.0f}" if exact and self.recall is not None else ""
            yield "results since the query began", f"{figures['total_pairs']:,}", whole
        if "total_lost" in figures:
            yield "rows lost since then", f"{figures['total_lost']:,}", ""

    @property
    def _lost(self) -> Iterator[tuple[str, str, str]]:
        """Why rows are missing, in this batch."""
        came = self.figures.get("left_rows", 0) + self.figures.get("right_rows", 0)
        for name in LOSSES:
            if self.figures.get(name):
                words = f"in this batch: {FATES[name]}"
                yield words, f"{self.figures[name]:,}", f"{came:,} rows" if came else ""


def progress(query: Any, name: str = "headgate") -> Progress | None:
    """How good a streaming query's answer is; None before its first batch is done.

    Parameters
    ----------
    query
        A running or ended ``StreamingQuery`` with a join or lookup of Headgate in it, or the report
        of one batch: of ``query.recentProgress``, or the ``event.progress`` of a listener.
    name
        The name given to `WindowJoin.stream` or `CachedLookup.stream`.

    Examples
    --------
    While a query runs, or after it has ended; in a notebook ``hg.progress(query)`` alone:

    >>> def show(query):
    ...     print(hg.progress(query))

    In a ``StreamingQueryListener``:

    >>> def onQueryProgress(event):
    ...     return hg.progress(event.progress).figures["recall"]
    """
    from headgate.spark.spark_versions import figures_of

    reports = query.recentProgress if hasattr(query, "recentProgress") else [query]
    for report in reversed(reports):
        observed = report["observedMetrics"]
        if name in observed:
            return Progress.of(int(report["batchId"]), figures_of(observed[name]))
    others = sorted({found for report in reports for found in report["observedMetrics"]})
    if others:
        raise SpecError(
            f'the query observes nothing named "{name}": give one of '
            f"{', '.join(map(repr, others))}, the name= of its stream"
        )
    return None
