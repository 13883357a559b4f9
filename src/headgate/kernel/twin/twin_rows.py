"""The twin's rows: sorted into event order, with watched rows and skipped work chosen ahead."""

import numpy as np

from headgate.kernel.key_draw import KeyDraw
from headgate.kernel.layout import NULL_KEY, Fate, Skip, WatchState
from headgate.kernel.rows import Rows
from headgate.kernel.step_progress import StepProgress
from headgate.kernel.terms import Terms
from headgate.kernel.watched import Watched, Watching
from headgate.policies.kinds.plain_chance import lot
from headgate.policies.kinds.plain_score import PlainRow, as_arrivals
from headgate.spec import RowWindow

SKIP_SALT = 0x2545F4914F6CDD1D
"""Separates the random draws for skipped work from those that choose watched or stored rows."""

GOLDEN = 0x9E3779B97F4A7C15


def rows_of(side: int, stored: Rows, arriving: Rows, definitions: int) -> list[PlainRow]:
    """A side's rows, stored rows first, with their importance under each definition."""
    rows: list[PlainRow] = []
    for batch, is_arriving in ((stored, False), (arriving, True)):
        values = batch.value if batch.value.size else np.zeros(len(batch.time))
        watched = batch.watched or Watched.none(len(batch.time))
        columns = (*batch[:7], values, *watched)
        for at, entry in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
            rows.append(PlainRow(side, len(rows), is_arriving, *entry))
            rows[-1].importance = (1.0,) * definitions
            if batch.importance is not None:
                rows[-1].importance = tuple(batch.importance[:, at].tolist())
            if batch.recent is not None:
                rows[-1].recent = float(batch.recent[at])
            if batch.meetings is not None:
                partners, last = batch.meetings.partners[at], batch.meetings.last[at]
                rows[-1].met_before = int(partners), int(last)
            if batch.fate is not None:
                rows[-1].matched = bool(batch.fate[at] & Fate.MATCHED)
                rows[-1].doubtful = bool(batch.fate[at] & Fate.DOUBTFUL)
    return rows


def in_event_order(
    by_side: list[list[PlainRow]], terms: Terms, progress: StepProgress
) -> list[PlainRow]:
    """Sort rows by time, then side, then as given, and number the arrivals."""
    rows = sorted((row for rows in by_side for row in rows), key=lambda row: (row.time, row.side))
    seen = list(progress.seen)
    for position, row in enumerate(rows):
        row.position = position
        if row.arriving:
            row.sequence = seen[row.side]
            seen[row.side] += 1
        row.by_rows = isinstance(terms.windows[row.side], RowWindow)
        row.mark = row.sequence if row.by_rows else row.time
        row.end = row.mark + terms.windows[row.side].span
    return rows


def choose_watched(rows: list[PlainRow], watching: Watching) -> None:
    """Mark the arrivals to be watched."""
    keys = watching.keys
    for row in rows:
        if not row.arriving or row.code == NULL_KEY:
            continue
        own = lot(watching.seed, row.side, row.sequence)
        chosen = watching.sides[row.side] and own < watching.share
        if keys is not None and keys.sides[row.side] and own < keys.within:
            chosen |= key_lot(keys, row) < keys.share
        if chosen:
            row.watch = WatchState.OPEN


def key_lot(keys: KeyDraw, row: PlainRow) -> float:
    """The random number of a row's key in the stretch of time in which it comes."""
    word = int(keys.hashes[row.code]) + (row.time // keys.block_us) * GOLDEN + keys.seed
    for _ in range(2):
        word %= 1 << 64
        word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % (1 << 64)
        word = (word ^ (word >> 27)) * 0x94D049BB133111EB % (1 << 64)
        word ^= word >> 31
    return float(word >> 11) * 2.0**-53


def skip_parts(
    by_side: list[list[PlainRow]], arriving: tuple[Rows, Rows], terms: Terms, definition: int
) -> None:
    """Choose the work skipped for each arrival, to stay within the CPU budget."""
    came = [[row for row in rows if row.arriving] for rows in by_side]
    stored = np.ones(len(came[0]) + len(came[1]))
    if terms.pace is not None:
        told_of = as_arrivals([*came[0], *came[1]], definition)
        stored = terms.pace.shares_stored(told_of, _most_at_once(terms, arriving))
    shares = [stored[: len(came[0])], stored[len(came[0]) :]]
    for side, rows in enumerate(came):
        effort = arriving[side].effort
        told = np.ones((2, len(rows))) if effort is None else effort
        for at, row in enumerate(rows):
            coin = lot(terms.seed ^ SKIP_SALT, side, row.sequence)
            if coin >= told[0, at]:
                row.skip |= Skip.PROBE
            if coin >= told[1, at] * shares[side][at]:
                row.skip |= Skip.STORE


def _most_at_once(terms: Terms, arriving: tuple[Rows, Rows]) -> float:
    """How many rows can be stored, if rows are equally likely to match throughout their window."""
    if not (terms.policy.weighs_matches or terms.policy.by_lot):
        return float("inf")
    pools = (0,) if terms.pooled else (0, 1)
    rows = float(sum(terms.most_rows[pool] for pool in pools))
    held = float(sum(terms.most_bytes[pool] for pool in pools))
    sizes = [int(size) for batch in arriving for size in batch.size]
    return min(rows, held / max(sum(sizes) / len(sizes), 1.0)) if sizes else rows
