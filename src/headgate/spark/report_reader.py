"""The batches of a running query, each read once from its progress reports."""

from collections.abc import Iterator, Sequence
from typing import Any

from headgate.spark.spark_versions import figures_of


class ReportReader:
    """Reads the reports of a query; ``name`` is what its metrics are observed under.

    Examples
    --------
    >>> reader = ReportReader("headgate")
    >>> report = {"batchId": 0, "observedMetrics": {"headgate": {"left_rows": 3, "right_rows": 0}}}
    >>> [figures for _, figures in reader.new([report])]
    [{'left_rows': 3, 'right_rows': 0}]
    >>> list(reader.new([report]))
    []
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._last_id = -1

    def new(self, reports: Sequence[Any]) -> Iterator[tuple[Any, dict[str, Any]]]:
        """The reports not read before of batches that had rows, each with its figures by name."""
        for report in reports:
            if report["batchId"] <= self._last_id:
                continue
            self._last_id = report["batchId"]
            observed = report["observedMetrics"].get(self._name)
            figures = None if observed is None else figures_of(observed)
            # A batch without rows only moves the watermark.
            if figures is not None and figures["left_rows"] + figures["right_rows"] > 0:
                yield report, figures
