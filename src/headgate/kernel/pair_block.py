"""Blocks of result pairs, as row numbers."""

from typing import NamedTuple

import numpy as np

SHARD_BITS = 20
"""Bits of a cluster's number that identify its shard."""
NOBODY = -1
"""Stands for the partner of rows that come out alone; it has no place in the payload."""
NOTHING = np.empty(0, np.int64)


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
    certain: np.ndarray = NOTHING
    """Rows that come out alone: whether that is certain. Empty for pairs, which always are."""

    @classmethod
    def alone(cls, side: int, rows: np.ndarray, certain: np.ndarray) -> "PairBlock":
        """Rows of one side that come out without a partner.

        Examples
        --------
        >>> block = PairBlock.alone(0, np.array([7, 4]), np.array([True, False]))
        >>> block.left.tolist(), block.right.tolist()
        ([7, 4], [-1, -1])
        """
        nobody = np.full(len(rows), NOBODY, np.int64)
        left, right = (rows, nobody) if side == 0 else (nobody, rows)
        return cls(left, right, np.empty(0), NOTHING, np.empty(0), certain)

    def part(self, which: slice) -> "PairBlock":
        """Some of the pairs."""
        return PairBlock(*(column[which] for column in self))

    def placed(self, left: np.ndarray, right: np.ndarray) -> "PairBlock":
        """The pairs with row numbers replaced by these payload positions."""
        return self._replace(left=_placed(self.left, left), right=_placed(self.right, right))

    def of_shard(self, shard: int = 0) -> "PairBlock":
        """The pairs with cluster numbers that are unique across shards."""
        return self._replace(cluster=(self.cluster << SHARD_BITS) + shard)


def _placed(numbers: np.ndarray, place: np.ndarray) -> np.ndarray:
    """The places of rows; of nobody where the whole block comes without a partner."""
    if numbers.size and numbers[0] == NOBODY:
        return numbers
    placed: np.ndarray = place[numbers]
    return placed
