"""Figures for monitoring systems, named and measured as they expect, from the declared metrics.

Names begin with ``headgate_``; times are in seconds; what adds up is a counter since the join was
first watched, all else a gauge of the last batch.
"""

import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from headgate.metrics import RATIO, SUM, Metric, metrics_of
from headgate.metrics.metric_groups import JOIN_SUMS, LOOKUP_SUMS, Qualities
from headgate.watching.batch_record import SHARD_KEPT, BatchRecord, recall_of
from headgate.watching.history import History, WatchedQuery
from headgate.watching.summary import marginal_curve, use_of

COUNTER, GAUGE = "counter", "gauge"
MOST_JOINS = 50
STALE_S = 3600.0
"""Joins that ended longer ago are left out."""
_DECLARED = {each.name: each for each in metrics_of(*LOOKUP_SUMS, *JOIN_SUMS, Qualities)}

Labels = tuple[tuple[str, str], ...]


class Exported(NamedTuple):
    """A figure: one name and meaning, with a value for each set of labels."""

    name: str
    kind: str
    meaning: str
    labels: Labels
    value: float


class Gauge(NamedTuple):
    """A figure that is not among the declared metrics of a join."""

    name: str
    meaning: str


RUNNING = Gauge("headgate_running", "1 while the query runs, 0 once it has ended.")
BATCHES = "headgate_batches_total"
LATEST = Gauge("headgate_last_batch_timestamp_seconds", "When the last batch was done.")
BATCH = Gauge("headgate_batch_seconds", "How long the last batch took.")
LAG = Gauge("headgate_watermark_lag_seconds", "How far the watermark is behind the clock.")
USED = Gauge("headgate_used", "Stored: bytes, or rows where rows are limited.")
BUDGET = Gauge("headgate_budget", "What may be stored, in the same unit.")
SHARE = Gauge("headgate_used_ratio", "Stored as a share of the budget.")
EXPECTED = Gauge("headgate_expected_recall", "Recall expected with so many times the memory.")
SHARD_GAUGES = (
    Gauge("headgate_shard_recall", "Recall of a shard in the last batch."),
    Gauge("headgate_shard_stored_rows", "Rows that a shard stores."),
    Gauge("headgate_shard_busy_seconds", "A shard's own time in the last batch."),
    Gauge("headgate_shard_rows", "Rows that came to a shard in the last batch."),
)


def exported_name(metric: Metric) -> str:
    """The name of a metric for monitoring systems.

    Examples
    --------
    >>> named = {each.name: exported_name(each) for each in metrics_of(*JOIN_SUMS, Qualities)}
    >>> named["shed"], named["read_ms"]
    ('headgate_shed_total', 'headgate_read_seconds_total')
    >>> named["stored_bytes"], named["total_recall"]
    ('headgate_stored_bytes', 'headgate_total_recall')
    """
    name = metric.name.removesuffix("_ms") + "_seconds" if metric.unit == "ms" else metric.name
    return f"headgate_{name}{'_total' if metric.batches == SUM else ''}"


def exported(history: History, clock: float | None = None) -> Iterator[Exported]:
    """All figures of all joins and lookups that run, or did of late."""
    at = time.time() if clock is None else clock
    for watched in history.watched()[:MOST_JOINS]:
        latest = list(history.records(watched.number, 0, after=watched.written - 2))
        if latest and (watched.state == "running" or at - latest[-1].at < STALE_S):
            yield from _of_join(watched, latest[-1])


def _of_join(watched: WatchedQuery, record: BatchRecord) -> Iterator[Exported]:
    labels = (("query", watched.title), ("join", watched.name), ("id", watched.query[:8]))

    def gauge(of: Gauge, value: float | None, *more: tuple[str, str]) -> Iterator[Exported]:
        if value is not None:
            yield Exported(of.name, GAUGE, of.meaning, (*labels, *more), float(value))

    batches = watched.totals.get("batches", 0.0)
    yield from gauge(RUNNING, float(watched.state == "running"))
    yield Exported(BATCHES, COUNTER, "Batches done.", labels, batches)
    yield from gauge(LATEST, record.at)
    yield from gauge(BATCH, record.seconds)
    yield from gauge(LAG, record.lag)
    use = use_of(record, watched.about)
    yield from gauge(USED, use.used)
    yield from gauge(BUDGET, use.budget)
    yield from gauge(SHARE, None if not use.budget else use.used / use.budget)
    yield from _declared(record.figures, watched.totals, labels)
    for each in marginal_curve(record, watched.about):
        yield from gauge(EXPECTED, each.recall, ("memory", f"{each.times:g}"))
    for row in record.shards:
        told = dict(zip(SHARD_KEPT, row, strict=True))
        recall = recall_of([row], record.figures)[0] if "left_rows" in record.figures else None
        values = (recall, told["stored_rows"], told["busy_ms"] / 1000, told["rows"])
        for of, value in zip(SHARD_GAUGES, values, strict=True):
            yield from gauge(of, value, ("shard", f"{told['shard']:.0f}"))


def _declared(
    figures: Mapping[str, float | None], totals: Mapping[str, float], labels: Labels
) -> Iterator[Exported]:
    for name, value in figures.items():
        metric = _DECLARED.get(name)
        if metric is None or (value is None and metric.batches == RATIO):
            continue
        adds_up = metric.batches == SUM
        number = totals.get(name, 0.0) if adds_up else value or 0.0
        scale = 1000 if metric.unit == "ms" else 1
        kind = COUNTER if adds_up else GAUGE
        yield Exported(exported_name(metric), kind, metric.meaning, labels, number / scale)
