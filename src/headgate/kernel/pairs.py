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

    def placed(self, left: np.ndarray, right: np.ndarray) -> "PairBlock":
        """The pairs with these places of rows in place of their numbers."""
        return self._replace(left=left[self.left], right=right[self.right])

    def of_shard(self, shard: int = 0) -> "PairBlock":
        """The pairs with clusters told apart by shard."""
        return self._replace(cluster=(self.cluster << SHARD_BITS) + shard)
