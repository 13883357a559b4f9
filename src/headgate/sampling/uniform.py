"""UNIFORM: every pair is in the sample with the same chance, independent of all others."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa

from headgate.models import AgeCurves, Frequencies
from headgate.policies.chance import another_seed
from headgate.policies.kinds.flips import Flips
from headgate.policies.policy import RanksBy
from headgate.spec import SpecError

MISSED = 1e-3
"""Matches beyond those a row is expected to make at most, as a share of all."""
MOST_COINS = (1 << 30) - 1
"""More matches than any row makes; expectations may be larger, where rates are from few rows."""


@dataclass(frozen=True, eq=False)
class Uniform(Flips):
    """Flip a coin for every match a row will make, and keep it until the last head.

    Needs to know how many matches that may be; those beyond are never in the sample.

    Parameters
    ----------
    model_of_streams
        Frequencies or age curves.
    share
        The chance of a pair to be in the sample; lower while memory is short.
    others
        Rows of the other side that come in a row's window, for each side; for frequencies.
    seed
        Same seed, same input: same sample, restarts included.
    as_printed
        Flip as many coins as the matches expected, as in the paper. By default as many as a row
        makes but for one match in a thousand, if matches come by chance (Poisson).

    Examples
    --------
    >>> model = Frequencies.of_mappings({"a": 1}, {"a": 0.9, "b": 0.1})
    >>> Uniform(model, share=0.5, others=(100, 100)).most_matches(np.array([0.3, 90.0])).tolist()
    [4, 122]
    >>> exactly = Uniform(model, share=0.5, others=(100, 100), as_printed=True)
    >>> exactly.most_matches(np.array([0.3, 90.0])).tolist()
    [1, 90]

    References
    ----------
    Srivastava and Widom, VLDB 2004, section 4.2, Figure 4.
    """

    model_of_streams: Frequencies | AgeCurves | None
    share: float = field(default=1.0)
    others: tuple[float, float] = (1.0, 1.0)
    seed: int = field(default=0)
    as_printed: bool = False

    name: ClassVar[str] = "uniform"
    weighs_keys: ClassVar[bool] = True
    ranks_by: ClassVar[RanksBy] = RanksBy.FREQUENCY

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise SpecError(f"share={self.share!r} is not a sampling fraction: give one up to 1")

    def for_shard(self, shard: int) -> "Uniform":
        """With coins of the shard's own."""
        return replace(self, seed=another_seed(self.seed, shard))

    def without_model(self) -> "Uniform":
        """Weights travel with the rows; the model need not."""
        return replace(self, model_of_streams=None)

    def weigh(self, columns: Sequence[pa.ChunkedArray], side: int) -> np.ndarray:
        """The matches a row is expected to make."""
        model = self.model_of_streams
        if model is None:
            raise SpecError("this Uniform was shipped without its model and cannot weigh keys")
        if isinstance(model, AgeCurves):
            return np.full(len(columns[0]), model[side].total)
        return model.match_probability(columns, side) * self.others[side]

    def most_matches(self, weight: np.ndarray) -> np.ndarray:
        """The coins to flip, from the matches expected."""
        return (expected_most if self.as_printed else likely_most)(weight)

    def inverse_chance(self, threshold: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """One over the sampling fraction, or over what memory made of it."""
        return np.asarray(np.maximum(threshold, 1.0 / self.share))


def expected_most(expected: np.ndarray) -> np.ndarray:
    """As many as expected, rounded up: less than one match is one at times."""
    most = np.ceil(np.asarray(expected) * (1 - 1e-12))
    return np.minimum(most, MOST_COINS).astype(np.int32)


def likely_most(expected: np.ndarray) -> np.ndarray:
    """So many that of Poisson matches no more than one in a thousand come later.

    The matches after the n-th are a smaller share of all than the chance of n matches or more.
    """
    from scipy.special import pdtrik

    expected = np.asarray(expected, np.float64)
    most = np.zeros(len(expected), np.int32)
    some = expected > 0
    # Nearly all of a tiny expectation is a single match.
    found = pdtrik(1 - MISSED, np.clip(expected[some], 1e-9, MOST_COINS))
    found = np.clip(np.ceil(np.nan_to_num(found, nan=0.0)), 0, MOST_COINS - 1)
    most[some] = found.astype(np.int32) + 1
    return most
