"""EQ-CLUSTER and PPS-CLUSTER: a stored row brings all its matches into the sample, or none.

A row has one random number for life, and the memory budget sets the threshold, so the sampler uses
all of the memory without knowing anything in advance. The threshold converges to the paper's
inclusion probabilities, clipped at 1 and solved for the memory available.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa

from headgate.models import Frequencies
from headgate.policies.chance import another_seed, uniform
from headgate.policies.kinds.fixed_score import FixedScore
from headgate.policies.policy import Arrivals, RanksBy, Sampler
from headgate.spec import SpecError

ABOVE_ZERO = 2.0**-54
RARE = 0.1
"""A key counts as at least this part of an average key, so that none is without a chance."""


@dataclass(frozen=True)
class EqCluster(FixedScore, Sampler):
    """Keep rows with equal probability.

    Unbiased whatever the streams do; best where rows make about as many matches each.

    Parameters
    ----------
    seed
        Same seed, same input: same sample, restarts included.

    Examples
    --------
    >>> EqCluster().inverse_chance(np.array([0.5, 4.0]), np.ones(2)).tolist()
    [1.0, 4.0]

    References
    ----------
    Srivastava and Widom, VLDB 2004, section 4.3, Strategy 2.
    """

    seed: int = 0

    name: ClassVar[str] = "eq-cluster"

    def for_shard(self, shard: int) -> "EqCluster":
        """With numbers of the shard's own."""
        return replace(self, seed=another_seed(self.seed, shard))

    def score(self, arrivals: Arrivals) -> np.ndarray:
        """One over a random number, so that the chance to pass a threshold is one over it."""
        drawn = uniform(self.seed, arrivals.side, arrivals.sequence)
        inverse: np.ndarray = 1.0 / (drawn + ABOVE_ZERO)
        return inverse

    def inverse_chance(self, threshold: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """The threshold itself."""
        return np.asarray(np.maximum(threshold, 1.0))


@dataclass(frozen=True, eq=False)
class PpsCluster(FixedScore, Sampler):
    """Keep rows with a probability proportional to the matches they will make.

    Weights are right even where the frequencies are wrong: the chance is what they made of it.

    Parameters
    ----------
    frequencies
        The frequency model of both sides.
    others
        Rows of the other side that come in a row's window, for each side; so that rows of both
        sides can be compared.
    seed
        Same seed, same input: same sample, restarts included.

    Examples
    --------
    >>> model = Frequencies.of_mappings({"a": 0.5, "b": 0.5}, {"a": 0.9, "b": 0.1})
    >>> sampler = PpsCluster(model)
    >>> sampler.weigh([pa.chunked_array([["a", "b", "new"]])], side=0).round(3).tolist()
    [0.9, 0.1, 0.05]

    References
    ----------
    Srivastava and Widom, VLDB 2004, section 4.3, Strategy 3.
    """

    frequencies: Frequencies | None
    others: tuple[float, float] = (1.0, 1.0)
    seed: int = 0

    name: ClassVar[str] = "pps-cluster"
    weighs_keys: ClassVar[bool] = True
    ranks_by: ClassVar[RanksBy] = RanksBy.FREQUENCY
    model: ClassVar[str] = "frequencies"

    def for_shard(self, shard: int) -> "PpsCluster":
        """With numbers of the shard's own."""
        return replace(self, seed=another_seed(self.seed, shard))

    def without_model(self) -> "PpsCluster":
        """Weights travel with the rows; the model need not."""
        return replace(self, frequencies=None)

    def weigh(self, columns: Sequence[pa.ChunkedArray], side: int) -> np.ndarray:
        """The matches a row is expected to make."""
        if self.frequencies is None:
            raise SpecError("this PpsCluster was shipped without its model and cannot weigh keys")
        other = self.frequencies.right if side == 0 else self.frequencies.left
        share = self.frequencies.match_probability(columns, side)
        least = RARE / max(len(other.share), 1)
        # A side that waits for nobody has no others; its rows are worth little, but not nothing.
        return np.asarray(np.maximum(share, least) * max(self.others[side], ABOVE_ZERO))

    def score(self, arrivals: Arrivals) -> np.ndarray:
        """Expected matches over a random number."""
        drawn = uniform(self.seed, arrivals.side, arrivals.sequence)
        score: np.ndarray = arrivals.weight / (drawn + ABOVE_ZERO)
        return score

    def inverse_chance(self, threshold: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """The threshold over the expected matches, clipped."""
        return np.asarray(np.maximum(threshold / weight, 1.0))
