"""Reports of made-up queries, in the form in which Spark gives them to listeners."""

import json
import math
from datetime import UTC, datetime
from typing import Any

from headgate.metrics import names_of
from headgate.metrics.metric_groups import (
    BY_SHARD,
    JOIN_SUMS,
    LOOKUP_BY_SHARD,
    LOOKUP_SUMS,
    Qualities,
)

QUERY, RUN = "3f2b9a60-0000-4000-8000-000000000001", "9d1c0000-0000-4000-8000-000000000001"
MEGABYTE = 1_000_000
ABOUT = {
    "kind": "join",
    "call": 'WindowJoin(on="product", budget=Budget(memory="64 MB"))',
    "policy": "auto",
    "goal": "MaxSubset",
    "how": "inner",
    "rows": None,
    "memory": 64 * MEGABYTE,
    "cpu": None,
    "shards": 4,
}


def stamp(at: float) -> str:
    """A time as Spark writes it."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def own_figures(shard: int, batch: int, hot: int, shards: int) -> dict[str, float]:
    """What a shard of a join reports; the hot one has five times the rows, and finds less."""
    heat = 5.0 if shard == hot else 1.0
    wave = 1 + 0.3 * math.sin(batch / 9 + shard)
    rows, met = 4000 * heat * wave, 900 * heat * wave
    share = (0.72 if shard == hot else 0.94) + 0.02 * math.sin(batch / 5 + shard)
    full = min(1.0, (batch + 1) / 12)
    told = dict.fromkeys(BY_SHARD, 0.0) | {
        "shard": shard,
        "left_rows": 0.6 * rows,
        "right_rows": 0.4 * rows,
        "pairs": met * share,
        "late": 4 * wave,
        "stored_rows": 90_000 * full * (1.8 if shard == hot else 0.8),
        "stored_bytes": 13 * MEGABYTE * full,
        "held_bytes": 14 * MEGABYTE * full,
        "monitor_bytes": 0.7 * MEGABYTE,
        "lost": 0 if full < 1 else 1500 * heat * wave,
        "busy_ms": 60 * heat * wave,
        "doubt": 0 if full < 1 else 1500 * heat * batch,
        "batch_met": met,
        "batch_made": met * share,
        "batch_met_met": 20 * met,
        "batch_met_made": 18 * met,
        "batch_made_made": 17 * met,
        "followed": -1 if full < 1 else (3 if batch < 60 else 4),
    }
    if full == 1:
        names = ("random", "fifo", "lru", "prob", "life", "age")
        told |= {
            f"tried_{n}": v for n, v in zip(names, (210, 180, 240, 390, 402, 260), strict=True)
        }
        told |= {"expected_exact": met, "expected_full": 40 * MEGABYTE}
        grown = (0.55, 0.72, 0.86, 0.95, 1.0)
        for name, part in zip(("quarter", "half", "now", "double", "fourfold"), grown, strict=True):
            told[f"expected_{name}"] = part * met
    return told


def join_report(
    batch: int,
    at: float,
    *,
    shards: int = 4,
    hot: int = 2,
    name: str = "headgate",
    query: str = QUERY,
    run: str = RUN,
    about: dict[str, Any] | None = None,
    title: str | None = "shop",
    more: dict[str, Any] | None = None,
) -> str:
    """The report of a batch of a join, as JSON."""
    own = [own_figures(shard, batch, hot, shards) for shard in range(shards)]
    figures: dict[str, Any] = dict.fromkeys(names_of(*JOIN_SUMS), 0)
    for key in figures:
        if key in BY_SHARD:
            figures[key] = round(sum(each[key] for each in own))
    lost = sum(each["lost"] for each in own)
    figures |= {"shed": round(0.7 * lost), "refused": round(0.3 * lost), "shards_monitored": shards}
    figures |= dict.fromkeys(names_of(Qualities))
    made, met = (sum(each[key] for each in own) for key in ("batch_made", "batch_met"))
    recall, total = made / met, 0.80 + 0.05 * math.exp(-batch / 40)
    if not lost:
        recall = total = 1.0
    error = 0.0 if total == 1 else 0.03 * math.exp(-batch / 50) + 0.01
    for prefix, value, off in (("", recall, 2 * error), ("total_", total, error)):
        figures |= {f"{prefix}recall": value, f"{prefix}recall_low": value - off}
        figures |= {f"{prefix}recall_high": min(value + off, 1.0)}
    figures |= {"fairness": 0.8, "total_pairs": round(made) * (batch + 1)}
    figures["by_shard"] = [[float(each[key]) for key in BY_SHARD] for each in own]
    figures["about"] = json.dumps({**ABOUT, "shards": shards} if about is None else about)
    return _report(batch, at, name, query, run, title, figures | (more or {}))


def lookup_report(batch: int, at: float) -> str:
    """The report of a batch of a lookup, as JSON."""
    figures: dict[str, Any] = dict.fromkeys(names_of(*LOOKUP_SUMS), 0)
    figures |= {"rows": 1000, "hits": 930, "misses": 60, "unknown": 10, "queries": 2, "retries": 1}
    figures |= {"stored_rows": 4000, "stored_bytes": MEGABYTE, "held_bytes": MEGABYTE}
    own = dict.fromkeys(LOOKUP_BY_SHARD, 0.0) | {"rows": 1000.0, "stored_rows": 4000.0}
    figures["by_shard"] = [[own[key] for key in LOOKUP_BY_SHARD]]
    about = {"kind": "lookup", "call": "on sensor", "policy": "lru", "memory": 4 * MEGABYTE}
    figures["about"] = json.dumps({**about, "rows": None, "shards": 1})
    return _report(batch, at, "lookup", QUERY, RUN, "plant", figures)


def _report(
    batch: int,
    at: float,
    name: str,
    query: str,
    run: str,
    title: str | None,
    figures: dict[str, Any],
) -> str:
    return json.dumps(
        {
            "id": query,
            "runId": run,
            "name": title,
            "timestamp": stamp(at - 0.8),
            "batchId": batch,
            "durationMs": {"triggerExecution": 800, "addBatch": 600},
            "eventTime": {"watermark": stamp(at - 42)},
            "observedMetrics": {name: figures, "somebody else's": {"rows": 3}},
        }
    )
