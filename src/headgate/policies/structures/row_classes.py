"""Classes of rows by key rate, matches, recency and age, and which of them cannot be evicted yet.

Rows of a class have the same score, but for the place of their key between two classes of rates.
Most stored rows are worth far more than the one to evict, so a *cutoff* is set that a part of them
falls below. Classes that do not fall below it are *safe*: a row in one need not be in the heap, and
nothing is done for it until the tick at which it comes into a class that is not safe.
"""

from typing import Any, NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.models.density_classes import AGES, GAPS, MATCHES, RATES, TICKS

SLOTS = 2 * TICKS
"""Of the wheel: more than the ticks after which any class changes."""
NEVER, UNKNOWN = np.int64(1 << 62), np.int64(-1)
"""As in `models/density_classes.py`: no class begins after the last; and what is not computed yet.
"""
SHIFT, TICK, SPARE, LISTED = 0, 1, 2, 3
"""Places in `RowClasses.clock`."""
HISTORIES = GAPS * AGES
NEXT_RATE = MATCHES * HISTORIES
"""How far apart the cells of two classes of rates are."""
CELLS = 2 * RATES * NEXT_RATE
FINE = 8
"""Finer classes of rates in each, by which a row is judged quickly when it matches."""
FINE_RATES = (RATES - 1) * FINE + 1
SAMPLED, RANKED = 512, 32
"""Rows whose scores are looked at to set a cutoff, and how many of them are below it."""

ROUNDING = 1.0 + 1e-9
"""Scores between two classes may be rounded to less than both."""


class RowClasses(NamedTuple):
    """Scores and states of all classes; a *cell* is a class of one side."""

    table: np.ndarray  # float64 (cell): scores
    ahead: np.ndarray  # int64 (side, fine rate, matches, age): ticks from a match that rows are
    # safe for at least; UNKNOWN until asked for
    sample: np.ndarray  # float64: scores, while a cutoff is set
    age_class: np.ndarray  # int64 (side, tick)
    gap_class: np.ndarray  # int64 (side, tick)
    age_start: np.ndarray  # int64 (side, class): the tick at which it begins; then NEVER
    gap_start: np.ndarray  # int64 (side, class)
    place: np.ndarray  # float64 (row): its key on the scale of rates
    slots: np.ndarray  # int32 (tick): the first row that waits for it
    more_slots: np.ndarray  # int32 (tick): the first entry of `more`
    more: np.ndarray  # int32 (entry, 2): a row that waits for an earlier tick as well; next entry
    listed: np.ndarray  # int32 (entry): stored rows that are ranked, and some that have left since
    clock: np.ndarray  # int64: a tick's length as a power of two; the last tick; entries of `more`
    # and of `listed`
    cutoff: np.ndarray  # float64, by pool
    newcomer: np.ndarray  # float64, one: what arrivals count for beside rows that are stored


@compiled
def tick_now(arrays: Any, own: RowClasses) -> Any:
    """The last tick that has begun."""
    return (arrays.terms[0].clock >> 1) >> own.clock[SHIFT]


@compiled
def ticks_since(own: RowClasses, tick: int, time: int) -> Any:
    """Whole ticks from a time to the beginning of a tick."""
    shift = own.clock[SHIFT]
    return min(max((tick << shift) - time, 0) >> shift, TICKS - 1)


@compiled
def match_class(matches: int) -> Any:
    """As `models.density_classes.match_class`."""
    return np.int64(min(matches, 2) + (1 if matches > 3 else 0))


@compiled
def first_cell(side: int, place: float, met: int) -> Any:
    """The cell of no gap and no age, by class of matches."""
    return ((side * RATES + np.int64(place)) * MATCHES + met) * HISTORIES


@compiled
def cell_of(arrays: Any, own: RowClasses, tick: int, row: int) -> Any:
    """The cell of a row at a tick."""
    record = arrays.rows[row]
    side = np.int64(arrays.links[row].side)
    age = own.age_class[side, ticks_since(own, tick, record.time)]
    gap = own.gap_class[side, ticks_since(own, tick, record.touched)]
    return first_cell(side, own.place[row], match_class(record.matches)) + gap * AGES + age


@compiled
def score_in(own: RowClasses, cell: int, place: float) -> float:
    """The score in a cell of a row whose key has this place."""
    part = place - np.int64(place)
    score = own.table[cell]
    if part > 0.0:
        score += part * (own.table[cell + NEXT_RATE] - score)
    return float(score)


@compiled
def next_tick(arrays: Any, own: RowClasses, tick: int, row: int, cutoff: float) -> Any:
    """The tick at which the class of a row changes to one below the cutoff, or NEVER.

    That is if it meets nobody. An infinite cutoff asks for the next change.
    """
    record = arrays.rows[row]
    side = np.int64(arrays.links[row].side)
    shift = own.clock[SHIFT]
    round_up = (np.int64(1) << shift) - 1
    came = (record.time + round_up) >> shift
    met = (record.touched + round_up) >> shift
    age = own.age_class[side, ticks_since(own, tick, record.time)]
    gap = own.gap_class[side, ticks_since(own, tick, record.touched)]
    place = own.place[row]
    first = first_cell(side, place, match_class(record.matches))
    older, later = came + own.age_start[side, age + 1], met + own.gap_start[side, gap + 1]
    while True:
        coming = min(older, later)
        if coming >= NEVER or cutoff == np.inf:
            break
        while older <= coming:
            age += 1
            older = came + own.age_start[side, age + 1]
        while later <= coming:
            gap += 1
            later = met + own.gap_start[side, gap + 1]
        if score_in(own, first + gap * AGES + age, place) < cutoff:
            break
    return coming


@compiled
def list_stored(arrays: Any, own: RowClasses) -> None:
    """List all stored rows. O(rows of the step)."""
    count = np.int64(0)
    for row in range(arrays.rows.size):
        if arrays.links[row].alive:
            own.listed[count] = row
            count += 1
    own.clock[LISTED] = count


@compiled
def drop_gone(arrays: Any, own: RowClasses) -> None:
    """List only rows that are still stored. O(rows stored)."""
    count = np.int64(0)
    for at in range(own.clock[LISTED]):
        row = own.listed[at]
        if arrays.links[row].alive:
            own.listed[count] = row
            count += 1
    own.clock[LISTED] = count


@compiled
def set_cutoff(arrays: Any, own: RowClasses, pool: int, every: bool) -> None:
    """Choose the score below which rows of a pool are ranked, from a sample; or rank all."""
    tick = own.clock[TICK]
    apart = max(arrays.pools[pool].rows // SAMPLED, 1)
    count, found = np.int64(0), np.int64(0)
    for listed in range(own.clock[LISTED]):
        if every or count == SAMPLED:
            break
        row = np.int64(own.listed[listed])
        if arrays.sides[arrays.links[row].side].pool == pool:
            if found % apart == 0:
                score = score_in(own, cell_of(arrays, own, tick, row), own.place[row])
                at = count
                while at > 0 and own.sample[at - 1] > score:
                    own.sample[at] = own.sample[at - 1]
                    at -= 1
                own.sample[at] = score
                count += 1
            found += 1
    cutoff = np.inf
    for above in range(count * RANKED // SAMPLED, count):
        if own.sample[above] > own.sample[count * RANKED // SAMPLED]:
            cutoff = own.sample[above]
            break
    own.cutoff[pool] = cutoff
    for side in range(2):
        if arrays.sides[side].pool == pool:
            own.ahead[side, :, :, 0] = UNKNOWN


@compiled
def _look_ahead(own: RowClasses, side: int, rate: int, met: int, cutoff: float) -> None:
    """For how long rows of a class of rate and matches are safe at least from a match on."""
    cutoff *= ROUNDING
    low, high = rate / FINE, min((rate + 1) / FINE, RATES - 1.0)
    first = first_cell(side, low, met)
    above = first_cell(side, high, met)
    for age in range(AGES):
        own.ahead[side, rate, met, age] = NEVER
    for later in range(AGES - 1, -1, -1):
        gap = np.int64(0)
        while gap < GAPS and not (
            score_in(own, first + gap * AGES + later, low) < cutoff
            or score_in(own, above + gap * AGES + later, high) < cutoff
        ):
            gap += 1
        if gap == GAPS:
            continue
        for age in range(later + 1):
            reached = own.gap_start[side, gap]
            if later > age:
                since = own.age_start[side, later] - own.age_start[side, age + 1] + 1
                reached = max(reached, since)
            own.ahead[side, rate, met, age] = min(own.ahead[side, rate, met, age], reached)


@compiled
def ahead_of(arrays: Any, own: RowClasses, tick: int, row: int) -> Any:
    """For how many ticks at least a row that has just matched is safe."""
    record = arrays.rows[row]
    side = np.int64(arrays.links[row].side)
    age = own.age_class[side, ticks_since(own, tick, record.time)]
    rate, met = np.int64(own.place[row] * FINE), match_class(record.matches)
    if own.ahead[side, rate, met, 0] == UNKNOWN:
        _look_ahead(own, side, rate, met, own.cutoff[arrays.sides[side].pool])
    return own.ahead[side, rate, met, age]
