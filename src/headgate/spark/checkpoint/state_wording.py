"""The report on what a checkpoint holds, in words and tables."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from headgate.report.report_section import ReportSection
from headgate.spec.quantity import format_bytes

if TYPE_CHECKING:
    from headgate.spark.checkpoint.checkpoint_state import CheckpointState

PARTITIONS, PROVIDER = (
    "spark.sql.shuffle.partitions",
    "spark.sql.streaming.stateStore.providerClass",
)


def sections(state: "CheckpointState") -> tuple[ReportSection, ...]:
    """The report, section by section."""
    parts = [_overview(state), _join(state), _rows(state), _shards(state)]
    parts += [_keys(state)] if state.top_keys else []
    parts += [_learned(state)] if any(shard.watched_share for shard in state.shards) else []
    return tuple(parts)


def _overview(state: "CheckpointState") -> ReportSection:
    begun = ", ".join(map(str, state.unfinished))
    unfinished = f"; {begun} began and did not end: a restart runs it again" if begun else ""
    limits = {shard.limit for shard in state.shards if shard.limit is not None}
    lines = [
        f"last batch  {state.batch}{unfinished}",
        f"watermark   {_at(state.watermark_us)}",
        f"newest row  {_at(state.clock_us)}",
        f"format      {state.format}, {state.settings.get(PARTITIONS, '?')} shuffle partitions, "
        f"{state.settings.get(PROVIDER, '?').rpartition('.')[2]}",
    ]
    lines += [f"offsets     {line}" for line in state.offsets]
    lines += [f"limit       {limit:,}, changed since the start" for limit in sorted(limits)]
    return ReportSection(f"Checkpoint {state.path}", above=tuple(lines))


def _join(state: "CheckpointState") -> ReportSection:
    width = max(map(len, state.join))
    lines = (
        f"{name.ljust(width)}  {_told(told)}"
        for name, told in sorted(state.join.items())
        if told is not None
    )
    return ReportSection("Join", above=tuple(lines))


def _told(value: Any) -> str:
    """A fact of a description in short.

    Examples
    --------
    >>> _told({"microseconds": 60_000_000}), _told([{"name": "a", "type": "long"}]), _told(["k"])
    ('60 seconds', 'a long', 'k')
    """
    if isinstance(value, list):
        return ", ".join(
            f"{each['name']} {each['type'] or each['arrow']}" if isinstance(each, dict) else each
            for each in value
        )
    if isinstance(value, dict) and set(value) == {"microseconds"}:
        return f"{value['microseconds'] / 1e6:,.6g} seconds"
    if isinstance(value, dict):
        return ", ".join(f"{name} {told}" for name, told in value.items() if told is not None)
    return str(value)


def _rows(state: "CheckpointState") -> ReportSection:
    return ReportSection(
        "Stored rows",
        heads=("", "rows", "bytes", "oldest", "median", "newest"),
        rows=tuple(
            (
                name,
                f"{side.rows:,}",
                format_bytes(side.bytes),
                *(
                    _age(state.clock_us, at)
                    for at in (side.oldest_us, side.median_us, side.newest_us)
                ),
            )
            for name, side in zip(("left", "right"), state.sides, strict=True)
        ),
        below=("Ages are in event time, before the newest row that has come.",),
    )


def _shards(state: "CheckpointState") -> ReportSection:
    return ReportSection(
        "Shards",
        heads=("", "left rows", "right rows", "bytes", "segments", "dead rows", "rows so far"),
        rows=tuple(
            (
                str(shard.number),
                f"{shard.sides[0].rows:,}",
                f"{shard.sides[1].rows:,}",
                format_bytes(shard.sides[0].bytes + shard.sides[1].bytes),
                f"{shard.segments:,}",
                f"{shard.dead_rows:,}",
                f"{sum(shard.seen):,}",
            )
            for shard in sorted(state.shards, key=lambda shard: shard.number)
        ),
    )


def _keys(state: "CheckpointState") -> ReportSection:
    return ReportSection(
        "Most frequent keys",
        heads=("", "left rows", "right rows"),
        rows=tuple((key.key, f"{key.rows[0]:,}", f"{key.rows[1]:,}") for key in state.top_keys),
    )


def _learned(state: "CheckpointState") -> ReportSection:
    return ReportSection(
        "Learned",
        heads=("shard", "policy followed", "arrivals watched", "pairs", "lost", "bytes"),
        rows=tuple(
            (
                str(shard.number),
                shard.policy or "",
                f"{100 * (shard.watched_share or 0):.3g} %",
                f"{shard.pairs or 0:,}",
                f"{shard.lost or 0:,}",
                format_bytes(shard.learned_bytes),
            )
            for shard in sorted(state.shards, key=lambda shard: shard.number)
        ),
        below=("Pairs, and rows lost, since the join began to learn.",),
    )


def _at(micros: int | None) -> str:
    if micros is None or not 0 <= micros < 1 << 57:
        return "none yet"
    return datetime.fromtimestamp(micros / 1e6, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _age(now_us: int, at_us: int | None) -> str:
    return "" if at_us is None else f"{(now_us - at_us) / 1e6:,.1f} s"
