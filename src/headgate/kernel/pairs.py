"""Blocks of result pairs, as row numbers."""

from typing import NamedTuple

import numpy as np

SHARD_BITS = 20
"""Bits of a cluster's number that identify its shard."""


class PairBlock(NamedTuple):
    """Result pairs, one entry per pair in each array."""

    left: np.ndarray
    """Numbers of the left rows."""
    right: np.ndarray
    weight: np.ndarray
    """Samples: how many pairs of the exact result each pair represents; empty otherwise."""
    cluster: np.ndarray
    """Samples: the cluster, twice the sequence number of the stored row plus its side; pairs of a
    cluster were sampled together. Empty otherwise."""
    importance: np.ndarray
    """Importance of each pair; empty where all count alike."""

    def part(self, which: slice) -> "PairBlock":
        """Some of the pairs."""
        return PairBlock(*(column[which] for column in self))

    def placed(self, left: np.ndarray, right: np.ndarray) -> "PairBlock":
        """The pairs with row numbers replaced by these payload positions."""
        return self._replace(left=left[self.left], right=right[self.right])

    def of_shard(self, shard: int = 0) -> "PairBlock":
        """The pairs with cluster numbers that are unique across shards."""
        return self._replace(cluster=(self.cluster << SHARD_BITS) + shard)
