"""RANDOM: keep a uniform random sample of the rows in the windows."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from headgate.policies.base import Arrivals, FixedScore

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def uniform(seed: int, side: np.ndarray, sequence: np.ndarray) -> np.ndarray:
    """A number in [0, 1) for each row, a pure function of (seed, side, sequence).

    Counter-based (SplitMix64 over the counter), so a restart draws the same numbers.

    Examples
    --------
    >>> uniform(0, np.array([0, 1], np.uint8), np.array([5, 5])).round(3).tolist()
    [0.146, 0.512]
    """
    with np.errstate(over="ignore"):
        stream = _mix(
            np.uint64(seed % (1 << 64)) + _GOLDEN * (side.astype(np.uint64) + np.uint64(1))
        )
        bits = _mix(stream + _GOLDEN * (sequence.astype(np.uint64) + np.uint64(1)))
    return (bits >> np.uint64(11)) * 2.0**-53


def _mix(x: np.ndarray) -> np.ndarray:
    x = (x ^ (x >> np.uint64(30))) * _MIX_1
    x = (x ^ (x >> np.uint64(27))) * _MIX_2
    mixed: np.ndarray = x ^ (x >> np.uint64(31))
    return mixed


@dataclass(frozen=True)
class Random(FixedScore):
    """Shed a row at random: every row in the windows is as likely to be kept.

    Parameters
    ----------
    seed
        Same seed, same input: same rows kept, restarts included.

    Examples
    --------
    >>> Random(seed=7).label
    'RANDOM'
    """

    seed: int = 0

    name: ClassVar[str] = "random"

    def score(self, arrivals: Arrivals) -> np.ndarray:
        """A random rank."""
        return uniform(self.seed, arrivals.side, arrivals.sequence)
