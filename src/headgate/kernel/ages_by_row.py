"""At which ages each watched row met others, for models that go by more than age."""

from typing import NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.models.class_ages import AGES, coarse_ages


class AgesByRow(NamedTuple):
    """Arrays of the kernel; empty where this is not counted."""

    slot: np.ndarray  # int32 (row): the place of a watched row in `met`
    met: np.ndarray  # int32 (slot, age): partners met in this step, by class of age
    age_of: np.ndarray  # int64 (bucket): the class of age of each age bucket


def no_ages_by_row() -> AgesByRow:
    """Where nothing is counted."""
    none = np.zeros(0, np.int32)
    return AgesByRow(none, np.zeros((0, AGES), np.int32), np.zeros(0, np.int64))


def ages_by_row(is_watched: np.ndarray, buckets: int) -> AgesByRow:
    """Nothing met yet, by rows of which some are watched."""
    slot = np.cumsum(is_watched, dtype=np.int32) - is_watched
    count = int(np.count_nonzero(is_watched))
    return AgesByRow(slot.astype(np.int32), np.zeros((count, AGES), np.int32), coarse_ages(buckets))


@compiled
def note_age(own: AgesByRow, row: int, bucket: int, count: int) -> None:
    """Count that a watched row meets an arrival at an age; ``count`` is below 0 to take it back."""
    if own.slot.size:
        own.met[own.slot[row], own.age_of[bucket]] += count
