"""`progress`: how good a running query's answer is, in a few lines."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from headgate.engine.row_flow import FATES, as_html
from headgate.learning import Estimate
from headgate.report.sections import Section
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
        All metrics of the batch, by name; docs/metrics.md says what they mean.

    Examples
    --------
    >>> figures = {"total_recall": 0.91, "total_recall_low": 0.89, "total_recall_high": 0.93}
    >>> print(Progress.of(7, figures | {"stored_rows": 1200, "stored_bytes": 96_000, "shed": 40}))
    batch 7: recall 0.910 (0.890 to 0.930) since the query began
                                                   rows
      stored, 96 kB                               1,200
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
        return as_html(self._section)

    @property
    def _section(self) -> Section:
        figures = self.figures
        known = "recall not known yet"
        if self.recall is not None:
            known = f"recall {self.recall} since the query began"
        size = format_bytes(figures.get("stored_bytes", 0))
        rows = [(f"stored, {size}", f"{figures.get('stored_rows', 0):,}")]
        since = {"results": "total_pairs", "given up": "total_lost"}
        rows += [
            (f"{words} since the query began", f"{figures[name]:,}")
            for words, name in since.items()
            if name in figures
        ]
        rows += [
            (f"in this batch: {FATES[name]}", f"{figures[name]:,}")
            for name in LOSSES
            if figures.get(name)
        ]
        return Section(f"batch {self.batch}: {known}", heads=("", "rows"), rows=tuple(rows))


def progress(query: Any, name: str = "headgate") -> Progress | None:
    """How good a streaming query's answer is; None before its first batch is done.

    Parameters
    ----------
    query
        A running or ended ``StreamingQuery`` with a join or lookup of Headgate in it.
    name
        The name given to `WindowJoin.stream` or `CachedLookup.stream`.

    Examples
    --------
    ``print(hg.progress(query))`` while a query runs, or ``hg.progress(query)`` alone in a notebook.
    """
    from headgate.spark.spark_versions import figures_of

    reports = query.recentProgress
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
