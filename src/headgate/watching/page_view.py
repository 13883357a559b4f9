"""What the page shows: series over time, the latest figures, and the state of every shard."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from headgate.metrics.metric_groups import FOLLOWED
from headgate.watching.batch_record import SHARD_KEPT, TRIED, BatchRecord, recall_of
from headgate.watching.history import RINGS, History, WatchedQuery
from headgate.watching.summary import marginal_curve, sentence, use_of

MOST_POINTS = 480
MANY_SHARDS = 32
"""Above, there are fewer points: what a page holds is their product."""
FEWEST_POINTS = 60
MOST_READ = 1200
"""Records that are read for a view; where there are more, those of coarser steps are."""
RECENT = 30
"""Batches that count as the latest."""
LOSSES = ("shed", "refused", "late", "unprobed", "unstored", "unchosen", "undecided")
LOOKED_UP = ("hits", "misses", "unknown", "queries", "retries", "evictions")
_STORED, _BUSY, _ROWS = (SHARD_KEPT.index(name) for name in ("stored_rows", "busy_ms", "rows"))

Point = dict[str, Any]
"""Values of one moment, by the name of their series."""


def point_of(record: BatchRecord, about: Mapping[str, Any]) -> Point:
    """A record as the page draws it; what is counted, as a rate."""
    figures, span = record.figures, record.span
    use = use_of(record, about)
    told: Point = {"t": round(record.at, 3), "batch": record.batch, "batches": record.batches}
    told |= {
        "used": use.used,
        "budget": use.budget,
        "stored_rows": figures.get("stored_rows"),
        "limit": figures.get("limit") or None,
        "rows_s": _rate(record.rows, span),
        "batch_s": record.seconds / record.batches,
        "lag_s": record.lag,
    }
    if about.get("kind") == "lookup":
        told |= {f"{name}_s": _rate(figures.get(name), span) for name in LOOKED_UP}
        hits, misses = figures.get("hits") or 0.0, figures.get("misses") or 0.0
        told["hit_rate"] = hits / (hits + misses) if hits + misses else None
    else:
        told |= _of_join(record, about, span)
    told["shards"] = [_shard(row, record) for row in record.shards]
    return {name: _short(value) for name, value in told.items()}


def _of_join(record: BatchRecord, about: Mapping[str, Any], span: float) -> Point:
    figures = record.figures
    ends = ("recall", "recall_low", "recall_high")
    told: Point = {name: figures.get(name) for name in ends}
    told |= {f"total_{name}": figures.get(f"total_{name}") for name in ends}
    told["results_s"] = _rate(figures.get("pairs"), span)
    told |= {f"{name}_s": _rate(figures.get(name), span) for name in LOSSES}
    told |= {f"followed_{name}": figures.get(f"followed_{name}") or 0 for name in FOLLOWED}
    if about.get("cpu"):
        used = _rate((figures.get("cpu_ms") or 0.0) / 1000, span)
        told |= {"cpu": used, "cpu_budget": about["cpu"]}
    if about.get("goal") == "Sample":
        weights, pairs = figures.get("weights") or 0.0, figures.get("pairs")
        variance = figures.get("weights_variance") or 0.0
        told["weights"] = weights
        told["sample_error"] = 1.96 * variance**0.5 / weights if weights else None
        told["mean_weight"] = weights / pairs if pairs else None
    return told


def _rate(amount: float | None, span: float) -> float | None:
    """So much a second; None of a first batch, which nobody knows how long its rows took."""
    return (amount or 0.0) / span if span > 0 else None


def _shard(row: Any, record: BatchRecord) -> list[float | None]:
    """Number, recall, stored rows, milliseconds a batch, and rows a batch."""
    recall = recall_of([row], record.figures)[0] if "left_rows" in record.figures else None
    each = record.batches
    told = (row[0], recall, row[_STORED], row[_BUSY] / each, row[_ROWS] / each)
    return [_short(value) for value in told]


def _short(value: Any) -> Any:
    return float(f"{value:.5g}") if isinstance(value, float) and abs(value) < 1e9 else value


def view(history: History, watched: WatchedQuery, seconds: float) -> dict[str, Any]:
    """All that the page shows of a join over the latest so many seconds."""
    ring, since = _ring_for(history, watched.number, seconds)
    shards = int(watched.about.get("shards") or 1)
    most = max(MOST_POINTS * MANY_SHARDS // max(shards, MANY_SHARDS), FEWEST_POINTS)
    size = -(-history.count(watched.number, ring, since) // most) or 1
    records = history.records(watched.number, ring, since)
    points = [point_of(each, watched.about) for each in _merged_by(records, size)]
    names = list(dict.fromkeys(name for point in points for name in point))
    return {
        "join": described(watched),
        "seconds": seconds,
        "series": {name: [point.get(name) for point in points] for name in names},
        "now": now(history, watched),
        "events": [list(each) for each in history.events(watched.number, since)],
    }


def described(watched: WatchedQuery) -> dict[str, Any]:
    """What a join or lookup is called and is."""
    return {
        "id": watched.number,
        "title": watched.title,
        "name": watched.name,
        "state": watched.state,
        "about": watched.about,
    }


def now(history: History, watched: WatchedQuery) -> dict[str, Any]:
    """The sentence, the marginal curve and how policies stand, from the latest batches."""
    latest = list(history.records(watched.number, 0, after=watched.written - 1 - RECENT))
    if not latest:
        return {"sentence": "Waiting for the first batch.", "curve": [], "rivals": {}}
    record, recent = latest[-1], merged(latest)
    figures = recent.figures
    rivals = {name.removeprefix("tried_"): figures[name] for name in TRIED if figures.get(name)}
    return {
        "at": record.at,
        "sentence": sentence(record, recent, watched.about),
        "use": list(use_of(record, watched.about)),
        "curve": [list(each) for each in marginal_curve(recent, watched.about)],
        "rivals": rivals,
        "totals": dict(watched.totals),
    }


def merged(records: Iterable[BatchRecord]) -> BatchRecord:
    """Several records as one."""
    each = iter(records)
    whole = next(each)
    for record in each:
        whole = whole.then(record)
    return whole


def _ring_for(history: History, number: int, seconds: float) -> tuple[int, float]:
    """The finest ring that covers the time with not too many records, and when it begins."""
    bounds = [history.bounds(number, place) for place in range(len(RINGS))]
    since = bounds[0][1] - seconds
    begins = max(min(first for first, _ in bounds), since)
    for place, ring in enumerate(RINGS[:-1]):
        # A merged record has the time of its last batch.
        covers = bounds[place][0] <= begins + 2 * ring.step_s
        if covers and history.count(number, place, since) <= MOST_READ:
            return place, since
    return len(RINGS) - 1, since


def _merged_by(records: Iterator[BatchRecord], size: int) -> Iterator[BatchRecord]:
    """Every so many neighbours as one; records are read as they are needed."""
    for first in records:
        yield merged([first, *islice(records, size - 1)])
