"""A cluster sample whose model is learned from the stream."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa

from headgate.policies.chance import another_seed
from headgate.policies.kinds.fixed_score import FixedScore
from headgate.policies.policy import Arrivals, RanksBy, Sampler
from headgate.sampling.cluster import RARE, EqCluster, PpsCluster


@dataclass(frozen=True)
class LearnedCluster(FixedScore, Sampler):
    """PPS-CLUSTER with learned key frequencies; EQ-CLUSTER until they are known.

    A row keeps the size it was given when it came, so its chance is known whatever is learned
    later. Sizes are expected matches over their mean: without a model, all rows are average.

    Parameters
    ----------
    seed
        Same seed, same input: same sample, restarts included.

    Examples
    --------
    >>> LearnedCluster(7).follow(is_known=False), LearnedCluster(7).follow(is_known=True).label
    (EqCluster(seed=7), 'PPS-CLUSTER')
    """

    seed: int = 0

    name: ClassVar[str] = "learned-cluster"
    weighs_keys: ClassVar[bool] = True
    ranks_by: ClassVar[RanksBy] = RanksBy.FREQUENCY
    learns: ClassVar[bool] = True

    @property
    def counts_keys(self) -> bool:
        """Keys are what it goes by."""
        return True

    def follow(self, is_known: bool) -> Sampler:
        """The sampler to follow, by whether key frequencies are known."""
        return PpsCluster(None, seed=self.seed) if is_known else EqCluster(self.seed)

    def for_shard(self, shard: int) -> "LearnedCluster":
        """With numbers of the shard's own."""
        return replace(self, seed=another_seed(self.seed, shard))

    def weigh(self, columns: Sequence[pa.ChunkedArray], side: int) -> np.ndarray:
        """Average rows, until more is known."""
        return np.ones(len(columns[0]))

    def score(self, arrivals: Arrivals) -> np.ndarray:
        """As EQ-CLUSTER."""
        return EqCluster(self.seed).score(arrivals)

    def inverse_chance(self, threshold: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """As EQ-CLUSTER."""
        return EqCluster(self.seed).inverse_chance(threshold, weight)


def relative_sizes(matches: np.ndarray, mean: float) -> np.ndarray:
    """Expected matches over their mean; no row without a chance.

    Where none are expected of any row, all rows are average.

    Examples
    --------
    >>> relative_sizes(np.array([0.0, 2.0, 8.0]), mean=4.0).tolist()
    [0.1, 0.5, 2.0]
    >>> relative_sizes(np.array([0.0, 0.0]), mean=0.0).tolist()
    [1.0, 1.0]
    """
    if not mean > 0:
        return np.ones(len(matches))
    return np.asarray(np.maximum(matches / mean, RARE))
