"""Per-row random numbers: pure functions of seed, side and sequence, so none is stored."""

from typing import Any

import numpy as np

from headgate.compiling import compiled

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_ONE = np.uint64(1)


def uniform(seed: int, side: np.ndarray, sequence: np.ndarray) -> np.ndarray:
    """A number in [0, 1) for each row, a pure function of (seed, side, sequence).

    Counter-based (SplitMix64 over the counter), so a restart draws the same numbers.

    Examples
    --------
    >>> uniform(0, np.array([0, 1], np.uint8), np.array([5, 5])).round(3).tolist()
    [0.146, 0.512]
    """
    drawn = np.empty(len(sequence))
    sides, sequences = side.astype(np.uint8), sequence.astype(np.int64)
    _draw(np.uint64(seed % (1 << 64)), sides, sequences, drawn)
    return drawn


def scrambled(words: np.ndarray) -> np.ndarray:
    """Words of 64 bits, each with its bits mixed (the final steps of SplitMix64).

    Examples
    --------
    >>> scrambled(np.array([1, 2], np.uint64)).tolist()
    [6238072747940578789, 15839785061582574730]
    """
    words = (words ^ (words >> np.uint64(30))) * _MIX_1
    words = (words ^ (words >> np.uint64(27))) * _MIX_2
    mixed: np.ndarray = words ^ (words >> np.uint64(31))
    return mixed


def as_chance(words: np.ndarray) -> np.ndarray:
    """Random words of 64 bits as numbers in [0, 1).

    Examples
    --------
    >>> as_chance(np.array([1 << 63, 1 << 62], np.uint64)).tolist()
    [0.5, 0.25]
    """
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def another_seed(seed: int, number: int) -> int:
    """A distinct seed for each part of a join, by its number; part 0 keeps the seed given.

    Examples
    --------
    >>> another_seed(7, 0), another_seed(7, 1) != another_seed(8, 1)
    (7, True)
    """
    if number == 0:
        return seed
    drawn = np.random.SeedSequence([seed % (1 << 64), number]).generate_state(1, np.uint64)
    return int(drawn[0])


@compiled
def _draw(seed: int, side: np.ndarray, sequence: np.ndarray, drawn: np.ndarray) -> None:
    for row in range(drawn.size):
        drawn[row] = draw_one(seed, side[row], sequence[row])


@compiled
def draw_one(seed: Any, side: Any, sequence: Any) -> Any:
    """The number of one row; ``seed`` is 64 bits, unsigned."""
    stream = mix(seed + _GOLDEN * (np.uint64(side) + _ONE))
    bits = mix(stream + _GOLDEN * (np.uint64(sequence) + _ONE))
    return np.float64(bits >> np.uint64(11)) * 2.0**-53


@compiled
def mix(x: Any) -> Any:
    """Mix the bits of a number (the final steps of SplitMix64)."""
    x = (x ^ (x >> np.uint64(30))) * _MIX_1
    x = (x ^ (x >> np.uint64(27))) * _MIX_2
    return x ^ (x >> np.uint64(31))
