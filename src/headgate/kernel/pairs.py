"""Pairs of rows that a step makes, as numbers."""

from typing import NamedTuple

import numpy as np

SHARD_BITS = 20
"""Of a cluster's number that say in which shard it is."""


class PairBlock(NamedTuple):
    """Pairs, an entry each."""

    left: np.ndarray
    """Numbers of the left rows."""
    right: np.ndarray
    weight: np.ndarray
    """Samples: how many pairs of the exact result each stands for; empty otherwise."""
    cluster: np.ndarray
    """Samples: twice the sequence number of the stored row, plus its side; pairs of one were
    sampled together. Empty otherwise."""
    importance: np.ndarray
    """What each is worth; empty where all count alike."""

    def part(self, which: slice) -> "PairBlock":
        """Some of the pairs."""
        return PairBlock(*(column[which] for column in self))

    def made_of(self, left: np.ndarray, right: np.ndarray, shard: int = 0) -> "PairBlock":
        """The pairs with these rows in place of the numbers, and clusters told apart by shard."""
        cluster = (self.cluster << SHARD_BITS) + shard
        return PairBlock(left[self.left], right[self.right], self.weight, cluster, self.importance)
