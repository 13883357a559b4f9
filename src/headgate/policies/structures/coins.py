"""UNIFORM's coins: which of a row's future matches are in the sample.

One coin per match, flipped in advance: gaps between heads are geometric, so a few draws cover many
matches. Every head has a level, uniform below 1; when memory is short, heads of high level are
dropped. Coins are a pure function of (seed, side, sequence, draw), so none of them is stored.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.policies.chance import mix
from headgate.policies.structures import heap, thresholds

FLIP = np.dtype(
    [
        ("most", "i4"),  # matches the row is expected to make at most
        ("next", "i4"),  # the next of them that is chosen
        ("draw", "i4"),  # how many coins that took
    ],
    align=True,
)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
ONE, TWO = np.uint64(1), np.uint64(2)
NEVER = np.int64(1 << 30)


class Coins(NamedTuple):
    """The arrays for flipping coins."""

    flips: np.ndarray  # FLIP, in event order
    share: np.ndarray  # float64, one: the chance of heads


@compiled
def _unit(bits: Any) -> float:
    return float((np.float64(bits >> np.uint64(11)) + 0.5) * 2.0**-53)


@compiled
def coin(seed: Any, side: int, sequence: int, draw: int) -> tuple[float, float]:
    """Two numbers in (0, 1) for a draw: one makes the skip, one is the level."""
    stream = mix(seed + GOLDEN * (np.uint64(side) + ONE))
    row = mix(stream + GOLDEN * (np.uint64(sequence) + ONE))
    first = mix(row + GOLDEN * (TWO * np.uint64(draw) + ONE))
    second = mix(row + GOLDEN * (TWO * np.uint64(draw) + TWO))
    return _unit(first), _unit(second)


@compiled
def skip(number: float, share: float) -> np.int64:
    """Tails before the next head, for a coin with heads probability ``share``."""
    if share >= 1.0:
        return np.int64(0)
    tails = math.log(number) / math.log1p(-share)
    return NEVER if tails > float(NEVER) else np.int64(tails)


@compiled
def next_head(arrays: Any, own: Coins, row: int) -> None:
    """Advance to the row's next sampled match."""
    flip = own.flips[row]
    number, _ = coin(
        arrays.terms[0].seed, arrays.links[row].side, arrays.rows[row].sequence, np.int64(flip.draw)
    )
    flip.draw += 1
    flip.next = min(flip.next + 1 + skip(number, own.share[0]), NEVER)


@compiled
def level(arrays: Any, row: int, draw: int) -> float:
    """The level of the head that a draw made."""
    _, number = coin(arrays.terms[0].seed, arrays.links[row].side, arrays.rows[row].sequence, draw)
    return float(number)


@compiled
def worth(arrays: Any, own: Coins, row: int) -> float:
    """The inverse of the lowest level among the row's remaining heads; 0 without heads.

    O(remaining heads). Recomputed only when that head has passed.
    """
    flip = own.flips[row]
    share = own.share[0]
    place, draw = np.int64(flip.next), np.int64(flip.draw)
    least = 2.0
    while place <= flip.most:
        least = min(least, level(arrays, row, draw - 1))
        number, _ = coin(
            arrays.terms[0].seed, arrays.links[row].side, arrays.rows[row].sequence, draw
        )
        place = place + 1 + skip(number, share)
        draw += 1
    return 0.0 if least > 1.0 else 1.0 / (share * least)


@compiled
def take_up(arrays: Any, own: Coins) -> None:
    """Replay the coins of all rows up to the matches they have made."""
    for row in range(arrays.rows.size):
        flip = own.flips[row]
        flip.next = 0
        flip.draw = 0
        while flip.next <= arrays.rows[row].matches:
            next_head(arrays, own, row)
        arrays.rows[row].score = worth(arrays, own, row)


@compiled
def keep_chosen(arrays: Any, own: Coins, block: Any, first: int, end: int) -> tuple[int, int]:
    """Of the block's pairs from ``first`` to ``end``, keep the sampled ones.

    Returns the new end, and how many partners have no sampled match left (in ``block.spent``).
    """
    kept, done = first, 0
    pairs, share = block.pairs, own.share[0]
    for at in range(first, end):
        partner = np.int64(pairs[at].partner)
        row = arrays.rows[partner]
        flip = own.flips[partner]
        row.matches += 1
        if row.matches < flip.next:
            continue
        chance = share * level(arrays, partner, flip.draw - 1)
        threshold = thresholds.threshold_of(arrays, partner)
        if row.matches <= flip.most and chance * threshold < 1.0:
            pairs[kept].probe = pairs[at].probe
            pairs[kept].partner = partner
            kept += 1
        next_head(arrays, own, partner)
        if row.score <= 1.0 / chance:
            row.score = worth(arrays, own, partner)
            pool = arrays.sides[arrays.links[partner].side].pool
            if row.score == 0.0:
                block.spent[done] = partner
                done += 1
            elif arrays.pools[pool].ranked:
                heap.enter(arrays, pool, partner)
    return kept, done
