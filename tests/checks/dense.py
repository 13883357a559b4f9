"""Match densities to check policies on: tables of any shape, and keys of any rate."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from headgate.models.density_classes import SHAPE
from headgate.models.match_density import MatchDensity
from headgate.policies import Density


@dataclass(frozen=True)
class Weighing(Density):
    """Knows its keys: key 0 is not counted, the others come ever more often."""

    def weigh(self, columns: Sequence[pa.ChunkedArray], side: int) -> np.ndarray:
        """By the key itself."""
        keys = columns[0].to_numpy(zero_copy_only=False).astype(np.float64)
        return np.where(keys > 0, 0.03 * 2.7**keys, 0.0)


def bumpy_density(windows_us: tuple[int, int], seed: int, levels: int) -> MatchDensity:
    """Densities at random; where there are few levels, many are equal."""
    drawn = np.random.default_rng(seed).integers(0, levels, SHAPE)
    return MatchDensity(windows_us, drawn / levels)


DENSITIES = (
    Density(MatchDensity.of_rates((12, 6))),
    Weighing(MatchDensity.of_rates((12, 12))),
    *(Weighing(bumpy_density((12, 7), seed, levels)) for seed, levels in ((1, 3), (2, 1000))),
    # Ticks of four microseconds.
    Weighing(bumpy_density((2000, 12), 3, 1000)),
)
