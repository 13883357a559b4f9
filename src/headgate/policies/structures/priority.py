"""Residence priorities: a row's recent matches relative to its age.

Importance × decayed matches ÷ age, minus a penalty for rows without a match for long. Thresholds
and rates not given are derived from the expected stay.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.spec.budget import UNLIMITED

SECONDS = 1e-6
"""Seconds per microsecond."""
MATURITY, UNPRODUCTIVE, DECAY, PENALTY = 0.1, 0.6, 1.0, 1.0
"""Thresholds and rates in units of the expected stay; the penalty also in units of importance."""
FAINT = 700.0
"""Exponent beyond which a decayed match counts as zero."""


RESIDENCE = np.dtype(
    [
        ("maturity_us", "i8"),  # see `kinds.residence_score.Residence`; negative: by the stay
        ("unproductive_us", "i8"),
        ("decay", "f8"),
        ("penalty", "f8"),
        ("initial", "f8"),
        ("every", "i8"),
        ("epsilon", "f8"),
        ("began", "i8"),  # time of the very first arrival
        ("importance", "f8"),  # of all arrivals together
    ],
    align=True,
)

ROUND = np.dtype(
    [
        ("decisions", "i8"),  # evictions since priorities were last computed
        ("apart", "i8"),  # mature rows then kept out of the heap, perhaps fewer by now
        ("kept_below", "f8"),  # the priority above which they were
        ("bound", "f8"),  # and the one for the next time
        ("as_of", "i8"),  # the time by then
        ("decay", "f8"),  # and how fast matches lost weight
        ("made", "f8"),  # importance of pairs made since the last decision
        ("made_before", "f8"),  # and between the last two
    ],
    align=True,
)


class Residences(NamedTuple):
    """The arrays of residence priorities."""

    residence: np.ndarray  # RESIDENCE, one
    rounds: np.ndarray  # ROUND, a pool
    green: np.ndarray  # int64, a side: rows of side_rows before it are mature


class Resident(NamedTuple):
    """The part of the arrays that residence priorities use."""

    links: np.ndarray
    rows: np.ndarray
    sides: np.ndarray
    pools: np.ndarray
    terms: np.ndarray
    side_rows: np.ndarray
    heap: np.ndarray
    residence: np.ndarray
    rounds: np.ndarray
    green: np.ndarray
    importance: np.ndarray
    tally: np.ndarray


@compiled
def resident(arrays: Any, own: Residences) -> Resident:
    """That part of the arrays."""
    return Resident(
        links=arrays.links,
        rows=arrays.rows,
        sides=arrays.sides,
        pools=arrays.pools,
        terms=arrays.terms,
        side_rows=arrays.side_rows,
        heap=arrays.heap,
        residence=own.residence,
        rounds=own.rounds,
        green=own.green,
        importance=arrays.worth.importance,
        tally=arrays.tally,
    )


class Rates(NamedTuple):
    """Rates of the priorities, as given or derived from the expected stay."""

    decay: float  # of matches, per microsecond
    unproductive_us: float
    penalty: float  # per second without a match


@compiled
def stay_us(arrays: Resident, pool: int) -> float:
    """Average time that a row of the pool is stored: rows stored ÷ arrival rate (Little's law).

    At most the longest window. Uses the row limit where there is one, since a stream also stores
    rows past their window.
    """
    arrived = 0
    longest = 1.0
    for side in range(2):
        own = arrays.sides[side]
        if own.pool == pool:
            arrived += own.seen
            longest = max(longest, float(own.span))
    elapsed = float((arrays.terms[0].clock >> 1) - arrays.residence[0].began)
    rows = arrays.pools[pool].most_rows
    if rows >= UNLIMITED:
        rows = arrays.pools[pool].rows
    stay = elapsed * float(rows) / float(max(arrived, 1))
    return max(min(stay, longest), 1.0)


@compiled
def maturity_us(arrays: Resident, pool: int) -> float:
    """The age up to which rows of the pool are not evicted."""
    told = arrays.residence[0].maturity_us
    return float(told) if told >= 0 else MATURITY * stay_us(arrays, pool)


@compiled
def rates(arrays: Resident, pool: int) -> Rates:
    """The rates, as given or derived from the expected stay."""
    told = arrays.residence[0]
    stay = stay_us(arrays, pool)
    decay = told.decay * SECONDS if told.decay >= 0 else DECAY / stay
    unproductive = UNPRODUCTIVE * stay
    if told.unproductive_us >= 0:
        unproductive = float(told.unproductive_us)
    penalty = told.penalty
    if penalty < 0:
        arrived = max(arrays.sides[0].seen + arrays.sides[1].seen, 1)
        seconds = stay * SECONDS
        penalty = PENALTY * (told.importance / float(arrived)) / (seconds * seconds)
    return Rates(decay, unproductive, penalty)


@compiled
def importance_of(arrays: Resident, row: int) -> Any:
    """The row's importance by the present definition."""
    return arrays.importance[arrays.terms[0].definition, row]


@compiled
def priority(arrays: Resident, row: int, by: Rates, now: int) -> float:
    """The residence priority of a row at time ``now``."""
    own = arrays.rows[row]
    idle = float(now - own.touched)
    worth = 0.0
    if own.recent > 0.0:
        age = max(float(now - own.time), 1.0) * SECONDS
        matches = own.recent * math.exp(-by.decay * idle) if idle > 0.0 else own.recent
        worth = importance_of(arrays, row) * matches / age
    if idle >= by.unproductive_us:
        worth -= by.penalty * (idle * SECONDS)
    return worth


@compiled
def is_surely_above_zero(arrays: Resident, row: int, by: Rates, now: int) -> bool:
    """Whether a priority is positive, without computing it."""
    own = arrays.rows[row]
    idle = float(now - own.touched)
    bright = own.recent > 0.0 and idle < by.unproductive_us and by.decay * idle < FAINT
    return bool(bright and importance_of(arrays, row) > 0.0)
