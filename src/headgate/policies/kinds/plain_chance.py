"""Random numbers and rounding in plain Python, for the twin; shares nothing with compiled code."""

import math

_BITS = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


def mixed(bits: int) -> int:
    """Mix the bits of a number: the final steps of SplitMix64.

    Examples
    --------
    >>> hex(mixed(0x9E3779B97F4A7C15))
    '0xe220a8397b1dcdaf'
    """
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 & _BITS
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB & _BITS
    return bits ^ (bits >> 31)


def drawn(seed: int, *path: int) -> int:
    """64 random bits for a path of counters: first the side, then the sequence."""
    bits = seed & _BITS
    for number in path:
        bits = mixed((bits + _GOLDEN * (number + 1)) & _BITS)
    return bits


def lot(seed: int, side: int, sequence: int) -> float:
    """The random number of a row, in [0, 1).

    Examples
    --------
    >>> round(lot(0, 0, 5), 3), round(lot(0, 1, 5), 3)
    (0.146, 0.512)
    """
    return (drawn(seed, side, sequence) >> 11) / 2**53


def coin(seed: int, side: int, sequence: int, draw: int) -> tuple[float, float]:
    """Two numbers in (0, 1) for a draw of a row."""
    first, second = (drawn(seed, side, sequence, 2 * draw + which) for which in (0, 1))
    return ((first >> 11) + 0.5) / 2**53, ((second >> 11) + 0.5) / 2**53


def tails_before(number: float, share: float) -> int:
    """Tails before the next head, for a coin with heads probability ``share``."""
    return 0 if share >= 1.0 else min(int(math.log(number) / math.log1p(-share)), 1 << 30)


def rounded_importance(importance: float) -> float:
    """An importance rounded to a power of the fourth root of 2; what is not above 0 becomes 0.

    Examples
    --------
    >>> [round(rounded_importance(given), 3) for given in (3.0, 0.0, 1.0, 2.9)]
    [2.828, 0.0, 1.0, 2.828]
    """
    if not importance > 0:
        return 0.0
    share, exponent = math.frexp(min(max(importance, 2.0**-200), 2.0**200))
    quarters = sum(share > 2.0 ** ((quarter + 0.5) / 4 - 1) for quarter in range(4))
    return math.ldexp(2.0 ** (quarters / 4 - 1), exponent)
