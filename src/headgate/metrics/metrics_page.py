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

- `hg.progress(query).figures` has the figures of the last batch, over all shards.
  `hg.progress(report)` has those of any report in `query.recentProgress` or of a
  `StreamingQueryListener`.
- `figures["by_shard"]` has an array per shard; `figures["about"]` describes the join or lookup as
  JSON. The [live page](../guides/watching.md) shows both.
- `Outcome.stats` of a join in process has the first group.
- The last column says how batches combine: add them (sum), take the last or the greatest (max), or
  neither (ratio). Ratios are computed from sums. A peak is the sum of the shards' peaks, so the
  true peak may be lower.
- `report["observedMetrics"][name]`, Spark's own report, has a few counts by name and the figures of
  every shard as arrays. The others are computed when they are read, because Spark would plan every
  sum again in every batch.

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
