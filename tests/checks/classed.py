"""Match rates by class and age to check policies on: curves of any shape, and keys of any class."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from headgate.models.class_ages import AGES, ClassAges
from headgate.policies import Features


@dataclass(frozen=True)
class Classed(Features):
    """Knows the class of a row by its key."""

    def weigh(self, columns: Sequence[pa.ChunkedArray], side: int) -> np.ndarray:
        """By the key itself."""
        keys = columns[0].to_numpy(zero_copy_only=False).astype(np.float64)
        return np.nan_to_num(keys)


def bumpy_ages(
    windows_us: tuple[int, int], classes: tuple[int, int], seed: int, levels: int
) -> ClassAges:
    """Rates at random; where there are few levels, many are equal."""
    rng = np.random.default_rng(seed)
    left, right = (rng.integers(0, levels, (count, AGES)) / levels for count in classes)
    return ClassAges(windows_us, (left, right))


CLASSED = (
    Features(ClassAges.empty()),
    *(
        Classed(bumpy_ages((12, 7), classes, seed, levels))
        for classes, seed, levels in (((4, 4), 1, 2), ((1, 3), 2, 1000), ((4, 2), 3, 3))
    ),
    # Ticks of two microseconds, and of four.
    Classed(bumpy_ages((2100, 12), (4, 4), 4, 1000)),
    Classed(bumpy_ages((12, 4200), (3, 4), 5, 2)),
)
