"""What is kept of a batch: its figures, and a few of every shard, from a query's report.

Records of several batches merge into one by the rules that metrics are declared with, so that a
week takes as little room as an hour. Recall does not add up; the evidence it is computed from does.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from headgate.engine.shard_layout import UNSETTLED
from headgate.learning import Evidence
from headgate.metrics import LAST, MAX, SUM, metrics_of, names_of
from headgate.metrics.metric_groups import (
    BY_SHARD,
    FOLLOWED,
    JOIN_SUMS,
    LOOKUP_BY_SHARD,
    LOOKUP_SUMS,
    ExpectedFigures,
    LookupShardFigures,
    Qualities,
    ShardFigures,
)
from headgate.spec import SpecError

EVIDENCE = tuple(f"batch_{entry.name}" for entry in fields(Evidence))
SHARD_KEPT = (
    *("shard", "rows", "pairs", "stored_rows", "held_bytes", "lost", "busy_ms", "doubt"),
    *EVIDENCE,
)
"""What is kept of a shard, in this order."""
FOLLOWED_BY = tuple(f"followed_{name}" for name in FOLLOWED)
TRIED = tuple(name for name in names_of(ShardFigures) if name.startswith("tried_"))
EXPECTED = names_of(ExpectedFigures)
UNTOLD_AS_ZERO = {*EXPECTED, *TRIED} - {"windows_passed"}
"""What shards tell as zero in a batch without rows: then what was told before still holds."""
_RULES = {
    each.name: each.batches
    for each in metrics_of(
        *JOIN_SUMS, *LOOKUP_SUMS, Qualities, ExpectedFigures, ShardFigures, LookupShardFigures
    )
}
_SHARD_RULES = tuple(_RULES.get(name, SUM) for name in SHARD_KEPT)
ENDS = ("", "_low", "_high")


@dataclass(frozen=True)
class BatchRecord:
    """One batch, or several merged.

    Attributes
    ----------
    at
        When it was done, in seconds since 1970.
    batch, batches
        The number of the last batch, and how many there are.
    seconds, span
        How long they took, and the time since the batch before them; 0 where that is not known.
    lag
        How far the watermark was behind the clock, in seconds; None without one.
    figures
        By name; sums over shards.
    shards
        `SHARD_KEPT` of each shard.
    """

    at: float
    batch: int
    batches: int
    seconds: float
    span: float
    lag: float | None
    figures: Mapping[str, float | None]
    shards: Sequence[Sequence[float]]

    @property
    def rows(self) -> float:
        """Rows that came."""
        figures = self.figures
        if "left_rows" not in figures:
            return figures.get("rows") or 0.0
        return (figures["left_rows"] or 0.0) + (figures.get("right_rows") or 0.0)

    def as_text(self) -> str:
        """As JSON."""
        return json.dumps([getattr(self, entry.name) for entry in fields(self)], default=float)

    @classmethod
    def from_text(cls, text: str | bytes) -> "BatchRecord":
        """From what `as_text` gave; raises `SpecError` for anything else."""
        try:
            *numbers, figures, shards = parts = json.loads(text)
            record = cls(*parts)
            given = (*numbers, *figures.values(), *(each for shard in shards for each in shard))
        except (TypeError, ValueError, AttributeError, RecursionError) as error:
            raise SpecError(f"a record of the page's history cannot be read: {error}") from error
        if not all(each is None or isinstance(each, int | float) for each in given):
            raise SpecError("a record of the page's history has values that are no numbers")
        return record

    def then(self, later: "BatchRecord") -> "BatchRecord":
        """Both as one."""
        figures = dict(self.figures)
        for name, value in later.figures.items():
            if value == 0 and name in UNTOLD_AS_ZERO:
                continue
            figures[name] = _merged(_RULES.get(name, LAST), figures.get(name), value)
        shards = {row[0]: row for row in self.shards}
        for row in later.shards:
            old = shards.get(row[0])
            shards[row[0]] = row if old is None else _merged_shard(old, row)
        rows = [shards[number] for number in sorted(shards)]
        if "left_rows" in figures:
            told = recall_of(rows, figures)
            figures |= {f"recall{end}": value for end, value in zip(ENDS, told, strict=True)}
        return BatchRecord(
            at=later.at,
            batch=later.batch,
            batches=self.batches + later.batches,
            seconds=self.seconds + later.seconds,
            span=self.span + later.span,
            lag=later.lag,
            figures=figures,
            shards=rows,
        )


def _merged(rule: str, old: float | None, new: float | None) -> float | None:
    if old is None or new is None:
        return new if rule != SUM or old is None else old
    return old + new if rule == SUM else max(old, new) if rule == MAX else new


def _merged_shard(old: Sequence[float], new: Sequence[float]) -> list[float]:
    return [
        a + b if rule == SUM else max(a, b) if rule == MAX else b
        for rule, a, b in zip(_SHARD_RULES, old, new, strict=True)
    ]


Told = tuple[float | None, float | None, float | None]
"""A recall and the ends of its interval; None where it is not known."""


def recall_of(shards: Sequence[Sequence[float]], figures: Mapping[str, float | None]) -> Told:
    """The recall of some shards together, as `headgate.spark` computes it of all.

    Examples
    --------
    >>> lossless = dict.fromkeys(SHARD_KEPT, 0.0)
    >>> recall_of([list(lossless.values())], {})
    (1.0, 1.0, 1.0)
    >>> lossy = lossless | {"doubt": 3.0, "batch_met": 10.0, "batch_made": 4.0}
    >>> recall_of([list(lossy.values())], {})
    (0.4, 0.4, 0.4)
    """
    if not shards:
        return None, None, None
    place = SHARD_KEPT.index("doubt")
    doubt = sum(row[place] for row in shards)
    if doubt == 0:
        return 1.0, 1.0, 1.0
    first = SHARD_KEPT.index(EVIDENCE[0])
    found = Evidence(*(sum(row[first + at] for row in shards) for at in range(len(EVIDENCE))))
    unsettled = figures.get("shards_settling") or doubt >= UNSETTLED
    told = None if unsettled else found.known()
    return (None, None, None) if told is None else (told.value, told.low, told.high)


def records_of(report: Mapping[str, Any]) -> Iterator[tuple[str, str, BatchRecord]]:
    """Each join and lookup in a query's report: name, what it is (JSON), and its record."""
    # A page of its own reads records alone, and is spared the engine.
    from headgate.engine.observed_figures import by_name

    for name, observed in (report.get("observedMetrics") or {}).items():
        figures = by_name(observed)
        if "by_shard" in figures and "about" in figures:
            shards, about = figures.pop("by_shard"), figures.pop("about")
            yield name, about, _record(report, figures, shards or ())


def _record(
    report: Mapping[str, Any], figures: dict[str, Any], shards: Sequence[Sequence[float]]
) -> BatchRecord:
    is_join = "left_rows" in figures
    names = BY_SHARD if is_join else LOOKUP_BY_SHARD
    told = [dict(zip(names, row, strict=True)) for row in shards]
    if is_join:
        for name in (*EXPECTED, *TRIED, "weights", "weights_variance"):
            figures[name] = sum(each[name] for each in told)
        for place, name in enumerate(FOLLOWED_BY):
            figures[name] = sum(each["followed"] == place for each in told)
    seconds = (report.get("durationMs") or {}).get("triggerExecution", 0) / 1000
    at = _seconds(report["timestamp"]) + seconds
    watermark = (report.get("eventTime") or {}).get("watermark")
    behind = None if watermark is None else _seconds(watermark)
    return BatchRecord(
        at=at,
        batch=int(report["batchId"]),
        batches=1,
        seconds=seconds,
        span=seconds,
        # The watermark is the beginning of time until the first rows have come.
        lag=None if not behind else max(at - behind, 0.0),
        figures={name: _number(value) for name, value in figures.items()},
        shards=sorted([_kept(each) for each in told]),
    )


def _kept(told: Mapping[str, float]) -> list[float]:
    rows = told["rows"] if "rows" in told else told["left_rows"] + told["right_rows"]
    told = {**told, "rows": rows}
    return [float(f"{told.get(name, 0.0):.7g}") for name in SHARD_KEPT]


def _number(value: Any) -> float | None:
    """A figure; what is none, and what JSON has no number for, is None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if value == value and abs(value) != float("inf") else None


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
