"""The classes by which meetings of watched rows are counted."""

from typing import NamedTuple

import numpy as np

from headgate.models.density_classes import DensityClasses
from headgate.policies.chance import uniform

FOLLOWED = 0x57A7E
"""Separates these random draws from those that choose watched rows."""


class MeetingClasses(NamedTuple):
    """Classes of key rate by code, and where classes of age and recency begin."""

    rate: np.ndarray  # uint8 at twice the code plus the side
    age_edges: np.ndarray  # int64 (side, class)
    gap_edges: np.ndarray  # int64 (side, class)
    seed: int = 0
    stored: float = 0.0
    """The share of the stored rows to follow; which ones is a matter of the seed."""

    @classmethod
    def of(
        cls,
        windows_us: tuple[int, int],
        weights: np.ndarray,
        level: np.ndarray,
        seed: int = 0,
        stored: float = 0.0,
    ) -> "MeetingClasses":
        """For keys of these weights, by level and side, in matches a microsecond; and the level of
        each key."""
        classes = DensityClasses(windows_us)
        rate = np.empty(weights.shape, np.uint8)
        for side in (0, 1):
            rate[:, side] = np.rint(classes.rate_places(side, weights[:, side]))
        both = rate.view(np.uint16).ravel()  # two sides are taken at once
        return cls(
            both[level].view(np.uint8),
            np.stack([classes.age_edges(side) for side in (0, 1)]),
            np.stack([classes.gap_edges(side) for side in (0, 1)]),
            seed,
            stored,
        )

    def follows(self, side: int, sequence: np.ndarray) -> np.ndarray:
        """Whether each row of a side is followed while it is stored."""
        drawn = uniform(self.seed ^ FOLLOWED, np.full(len(sequence), side, np.uint8), sequence)
        followed: np.ndarray = drawn < self.stored
        return followed
