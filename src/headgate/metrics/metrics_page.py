"""Generates docs/reference/metrics.md: every metric with its unit and meaning."""

import sys
from inspect import getdoc

from headgate.metrics.metric import metrics_of
from headgate.metrics.metric_groups import (
    JOIN_SUMS,
    LOOKUP_SUMS,
    ExpectedFigures,
    Qualities,
    ShardFigures,
)

INTRODUCTION = """\
# Metrics

After this page you can read every figure that a batch reports.

`hg.progress(query).figures` has these of the last batch, and `hg.progress(report)` of any report in
`query.recentProgress` or of a `StreamingQueryListener`, summed up over the shards. The report
itself, `report["observedMetrics"][name]`, has a few counts by name and, in `shards`, all figures of
each shard in an array, from which the others are computed when they are read: Spark plans every sum
anew in every batch, and a hundred of them took a fifth of the processor time of a small one. Ratios
are computed from sums; peaks are sums of the shards' peaks, so the true peak is no greater. The
last column says how batches combine: add up (sum), take the last or the greatest (max), or neither
(ratio). Beside them are `by_shard`, an array a shard of the figures in
`headgate.metrics.metric_groups.BY_SHARD`, and `about`, which says as JSON what the join or lookup
is; `headgate watch` shows both ([how to watch](../guides/watching.md)). `Outcome.stats` of a
join in process has the first group.

This page is written by `make docs`.
"""


def page(
    join: tuple[type, ...] = (*JOIN_SUMS, Qualities, ExpectedFigures, ShardFigures),
    lookup: tuple[type, ...] = LOOKUP_SUMS,
) -> str:
    """The page as Markdown; metrics shared by joins and lookups are listed once."""
    own = tuple(group for group in lookup if group not in join)
    shared = [_heading(group) for group in lookup if group in join]
    parts = [INTRODUCTION, "## Of a window join\n", *(_section(group) for group in join)]
    parts += ["## Of a lookup\n", *(_section(group) for group in own)]
    parts.append(f"And as above: {'; '.join(shared)}.\n")
    return "\n".join(parts)


def _section(group: type) -> str:
    lines = [
        f"| `{each.name}` | {each.unit} | {each.meaning} | {each.batches} |"
        for each in metrics_of(group)
    ]
    head = ["| metric | unit | meaning | batches |", "|---|---|---|---|"]
    return "\n".join([f"{getdoc(group)}\n", *head, *lines, ""])


def _heading(group: type) -> str:
    told = (getdoc(group) or "").split("\n")[0].removesuffix(".")
    return told[:1].lower() + told[1:]


if __name__ == "__main__":
    sys.stdout.write(page())
