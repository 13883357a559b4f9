"""All figures of a batch by name, from what Spark's report of it has.

A report has a few sums by name, for who reads it as it is, and every figure of every shard. Sums,
recall and its interval are made of these here, where Python reads a report.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from headgate.engine.shard_layout import (
    ALONE,
    DOUBT,
    EVIDENCE,
    SUMS,
    UNSETTLED,
    ShardLayout,
    join_layout,
    lookup_layout,
)
from headgate.engine.stats import LEFT
from headgate.learning import Evidence
from headgate.metrics import names_of
from headgate.metrics.metric_groups import ExpectedFigures

SHARDS = "shards"
"""The name under which the arrays of all shards are observed."""
ABOUT = "about"
"""The name under which it is observed what a join is: JSON that says its budget and its call."""
BY_SHARD = "by_shard"
"""Of each shard, the figures of `headgate.metrics.metric_groups.BY_SHARD`."""
JOIN_HEADLINES = (
    *("left_rows", "right_rows", "pairs", "stored_rows", "held_bytes"),
    *("shed", "refused", "late"),
)
"""What a report has by name of a join."""
LOOKUP_HEADLINES = ("rows", "hits", "misses", "stored_rows", "held_bytes")
"""The same of a lookup."""
_LAYOUTS = {JOIN_HEADLINES[0]: join_layout, LOOKUP_HEADLINES[0]: lookup_layout}


def by_name(observed: Mapping[str, Any], layout: ShardLayout | None = None) -> dict[str, Any]:
    """Every figure by name; ``by_shard`` has those of each shard.

    A classic session gives a field a metric. A client of Connect gives the values and their schema
    as two fields, which the documentation does not mention. What shards did not report is given
    back as it is.

    Examples
    --------
    >>> by_name({"values": [7], "schema": {"fields": [{"name": "pairs"}]}})
    {'pairs': 7}
    >>> shard = join_layout().array(dict.fromkeys(join_layout().names, 0) | {"shed": 4})
    >>> figures = by_name({"left_rows": 0, "shards": [shard, shard]})
    >>> figures["shed"], figures["recall"]
    (8, 1.0)
    """
    found = dict(observed)
    if set(found) == {"values", "schema"}:
        names = [field["name"] for field in found["schema"]["fields"]]
        found = dict(zip(names, found["values"], strict=True))
    arrays = found.pop(SHARDS, None)
    if arrays is None:
        return found
    if layout is None:
        layout = next(made() for name, made in _LAYOUTS.items() if name in found)
    sums = layout.totals(arrays)
    figures: dict[str, Any] = {each.name: sums[each.name] for each in layout.summed}
    if DOUBT in sums:
        figures |= _qualities(sums) | {name: sums[name] for name in names_of(ExpectedFigures)}
    return {**found, **figures, BY_SHARD: layout.of_each(arrays)}


def _qualities(sums: Mapping[str, float]) -> dict[str, float | None]:
    """How good the answer is: `headgate.metrics.metric_groups.Qualities`."""
    squared = sum(sums[name] for name in LEFT) * sums["lifetimes_squared"]
    fairness = sums["lifetimes"] ** 2 / squared if squared else 1.0
    half = len(SUMS)
    return {
        "fairness": fairness,
        **_recall("", sums, EVIDENCE[:half], ALONE[:half]),
        **_recall("total_", sums, EVIDENCE[half:], ALONE[half:]),
    }


def _recall(
    prefix: str, sums: Mapping[str, float], every: Sequence[str], alone: Sequence[str]
) -> dict[str, float | None]:
    """Recall with its interval, of all rows and of those with and without a partner.

    It is sure while nothing was given up, and None where too little is known.
    """
    pairs = sums[f"{prefix}pairs"]
    names = ("recall", "recall_low", "recall_high", "recall_matched", "recall_unmatched")
    told: dict[str, float | None]
    if sums[DOUBT] == 0:
        told = {**dict.fromkeys(names, 1.0), "exact_pairs": float(pairs)}
        return {f"{prefix}{name}": value for name, value in told.items()}
    told = dict.fromkeys((*names, "exact_pairs"))
    if sums[DOUBT] < UNSETTLED:
        of_all = Evidence(*(sums[name] for name in every))
        of_alone = Evidence(*(sums[name] for name in alone))
        known = None if sums["shards_settling"] else of_all.known()
        if known is not None:
            # The share of importance does not give the number of pairs.
            counts = not sums["shards_by_importance"] and known.value > 0
            exact = pairs / known.value if counts else None
            told |= {"recall": known.value, "recall_low": known.low, "recall_high": known.high}
            told["exact_pairs"] = exact
        for name, part in (("recall_matched", of_all - of_alone), ("recall_unmatched", of_alone)):
            estimate = part.known()
            told[name] = None if estimate is None else estimate.value
    return {f"{prefix}{name}": value for name, value in told.items()}
