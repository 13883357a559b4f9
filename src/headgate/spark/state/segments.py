"""Stored rows as segments: the rows that a batch stored, and which of them are still live.

A batch writes its own surviving rows as one segment per side and marks dead rows in older segments.
It rewrites old rows only to reclaim space: when dead rows exceed their limit, the segments with the
most are rewritten without them, and when there are many small segments, neighbours are merged.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np
import pyarrow as pa

from headgate.columns.compaction import trimmed
from headgate.columns.plain_form import no_rows
from headgate.columns.row_sizes import row_bytes
from headgate.columns.row_source import SMALL_BYTES, RowSource, cuts
from headgate.columns.times import microseconds
from headgate.engine.table_rows import TableRows
from headgate.spark.state.stored_tables import TablePlace
from headgate.spark.table_buffer import gathered

SEQUENCE, TIME, WEIGHT = "__headgate_sequence", "__headgate_time", "__headgate_weight"
"""Bookkeeping columns, behind those of the payload and in this order: the first always, the others
where they are needed. They are found from the end, so the payload's columns may have any names."""
MOST_SEGMENTS = 64
"""A side's segments at most; more are merged, the smallest neighbours first."""


@dataclass(frozen=True)
class Segment:
    """Rows of one side stored by one batch, or merged from several."""

    stored: TablePlace
    side: int
    table: pa.Table
    alive: np.ndarray
    bytes: int
    fate: np.ndarray | None = None
    """What is known of each row's partners, as `Fate`; None in an inner join."""

    @cached_property
    def dead_bytes(self) -> int:
        """Bytes of its dead rows."""
        if self.alive.all():
            return 0
        return int(row_bytes(payload(self.table))[~self.alive].sum())


def to_table(rows: TableRows, with_weight: bool, with_time: bool) -> pa.Table:
    """Payload and bookkeeping columns of rows, as a segment stores them."""
    table = gathered(chain([no_rows(rows.table.schema)], rows.pieces(SMALL_BYTES)))
    table = table.append_column(SEQUENCE, pa.array(rows.rows.sequence))
    if with_time:
        table = table.append_column(TIME, pa.array(rows.rows.time))
    return table.append_column(WEIGHT, pa.array(rows.rows.weight)) if with_weight else table


def payload(table: pa.Table) -> pa.Table:
    """A segment's table without its bookkeeping columns."""
    return table.select(range(table.num_columns - len(bookkeeping(table))))


def bookkeeping(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    """The columns stored beside the payload, by name."""
    found: dict[str, pa.ChunkedArray] = {}
    names = table.column_names
    for name in (WEIGHT, TIME, SEQUENCE):
        place = len(names) - len(found) - 1
        if names[place] == name:
            found[name] = table.column(place)
    return found


def new_segment(stored: TablePlace, side: int, table: pa.Table) -> Segment:
    """Create a segment in which all rows are live."""
    size = int(row_bytes(payload(table)).sum())
    return Segment(stored, side, table, np.ones(table.num_rows, bool), size)


def held_rows(segments: list[Segment], schema: pa.Schema, time_column: str | None) -> TableRows:
    """The live rows of one side's segments, in order of arrival.

    Their time is in a column of the payload, or beside it if ``time_column`` is None.
    """
    if not segments:
        return TableRows.nothing(schema)
    table = pa.concat_tables([segment.table for segment in segments])
    beside, rows = bookkeeping(table), payload(table)
    place = np.flatnonzero(np.concatenate([segment.alive for segment in segments]))
    time = microseconds(beside[TIME] if time_column is None else rows.column(time_column))[place]
    weight = np.zeros(len(place))
    if WEIGHT in beside:
        weight = beside[WEIGHT].to_numpy()[place]
    stored = TableRows.arriving(rows, time, weight)
    # The history is filled in later, so it must not share the array of times.
    numbers = stored.rows._replace(sequence=beside[SEQUENCE].to_numpy()[place], touched=time.copy())
    fates = [segment.fate for segment in segments if segment.fate is not None]
    if len(fates) == len(segments):
        numbers = numbers._replace(fate=np.concatenate(fates)[place])
    return replace(stored, place=place, rows=numbers)


def mark_dead(segments: list[Segment], held: TableRows, alive: np.ndarray) -> list[Segment]:
    """Return the segments with some of their live rows marked dead."""
    physical = np.zeros(sum(len(segment.alive) for segment in segments), bool)
    physical[held.place[alive]] = True
    ends = np.cumsum([len(segment.alive) for segment in segments])
    return [
        replace(segment, alive=part)
        for segment, part in zip(segments, np.split(physical, ends[:-1]), strict=True)
    ]


def runs_to_rewrite(segments: list[Segment], most_dead_bytes: int) -> list[tuple[int, int]]:
    """Choose neighbouring segments of one side to rewrite as one: (first, end) in the list.

    First those with the greatest share of dead bytes, until dead rows are within their limit; then
    the smallest neighbours, until there are few enough segments.
    """
    chosen: set[int] = set()
    dead = sum(segment.dead_bytes for segment in segments)
    deadest = sorted(
        range(len(segments)), key=lambda i: -segments[i].dead_bytes / max(segments[i].bytes, 1)
    )
    for at in deadest:
        if dead <= most_dead_bytes:
            break
        chosen.add(at)
        dead -= segments[at].dead_bytes
    runs = [(at, at + 1) for at in range(len(segments))]
    changed = {(at, at + 1) for at in chosen}
    live = [int(np.count_nonzero(segment.alive)) for segment in segments]
    while len(runs) > MOST_SEGMENTS:
        sizes = [sum(live[first:end]) for first, end in runs]
        at = min(range(len(runs) - 1), key=lambda i: sizes[i] + sizes[i + 1])
        merged = (runs[at][0], runs[at + 1][1])
        changed = {run for run in changed if run not in (runs[at], runs[at + 1])} | {merged}
        runs[at : at + 2] = [merged]
    return sorted(changed)


def live_fates(run: list[Segment]) -> np.ndarray | None:
    """The fates of the live rows of neighbouring segments; None in an inner join."""
    fates = [segment.fate[segment.alive] for segment in run if segment.fate is not None]
    return np.concatenate(fates) if len(fates) == len(run) else None


def live_rows(run: list[Segment]) -> pa.Table:
    """The live rows of neighbouring segments."""
    return gathered(piece for segment in run for piece in _live_pieces(segment))


def _live_pieces(segment: Segment) -> Iterator[pa.Table]:
    yield no_rows(segment.table.schema)
    rows, places = RowSource(segment.table), np.flatnonzero(segment.alive)
    for part in cuts(rows.sizes[places], SMALL_BYTES):
        yield trimmed(rows.take(places[part]))
