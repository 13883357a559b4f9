"""What became of the rows of a join, as a small table to print."""

from headgate.engine.stats import Stats
from headgate.report.report_section import ReportSection
from headgate.spec.quantity import format_bytes

FATES = {
    "admitted": "stored",
    "shed": "evicted within their window",
    "refused": "not stored, because stored rows had higher scores",
    "retired": "evicted after their window",
    "expired": "expired",
    "unneeded": "not stored, because no later row can match them",
    "unchosen": "not chosen for the sample",
    "unprobed": "not probed, because CPU time ran out",
    "unstored": "not stored, to save CPU time",
    "satisfied": "removed or not stored after their first partner",
    "unmatched": "returned without a partner",
    "undecided": "undecided: no partner found, but may have one",
    "late": "late, dropped",
    "null_keys": "without a key",
    "null_times": "without a time",
}
"""Counts of `Stats` in the order in which rows meet them, in words."""


def row_flow(stats: Stats, title: str) -> ReportSection:
    """What came, what became of it, and what was stored at most; zeros are left out.

    Examples
    --------
    >>> print(row_flow(Stats(left_rows=3, right_rows=2, pairs=1, admitted=5, shed=2), "1 row").text)
    1 row
                                   rows
      came, left                      3
      came, right                     2
      stored                          5
      evicted within their window     2
    """
    counts = [("came, left", stats.left_rows), ("came, right", stats.right_rows)]
    counts += [(words, getattr(stats, name)) for name, words in FATES.items()]
    rows = [(words, f"{count:,}") for words, count in counts if count or words.startswith("came")]
    if stats.peak_rows:
        rows.append(("stored at most, rows", f"{stats.peak_rows:,}"))
        rows.append(("stored at most, bytes", format_bytes(stats.peak_bytes)))
    return ReportSection(title, heads=("", "rows"), rows=tuple(rows))
