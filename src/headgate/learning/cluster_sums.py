"""Evidence from rows that were drawn together, by key.

Rows of a drawn key are in the sample together or not at all, so what one adds to the error is not
independent of what the others add: the variance is one between clusters, of sums over their rows.
Keeping a sum for every cluster would need room for all keys. Instead each cluster has 64 random
signs, and the mean of the squares of 64 signed sums estimates the sum of the clusters' squares,
without bias and in fixed room.

References: Alon, Matias, Szegedy, STOC 1996, "The space complexity of approximating the frequency
moments", section 2.2; two-stage sampling: Särndal, Swensson, Wretman 1992, section 4.3.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from headgate.learning.evidence import Evidence
from headgate.policies.chance import scrambled
from headgate.policies.structures.ordered_sums import in_order

SIGNS = 64
_SALT = np.uint64(0xD1B54A32D192ED03)


class Together(NamedTuple):
    """How rows were drawn: which cluster is each row's, and with what chances."""

    cluster: np.ndarray
    """A random word (uint64), the same for all rows of a cluster."""
    by_key: np.ndarray
    """The chance with which the cluster was drawn."""
    within: np.ndarray
    """The chance with which the row was drawn, given its cluster."""


@dataclass(frozen=True)
class ClusterSums:
    """Sums over rows drawn by key. They add up, also where a cluster has rows in several of them.

    Examples
    --------
    Two rows of one key, drawn with a chance of a half, stand for four; in different clusters their
    errors would be independent, and the variance half as large.

    >>> one, same = np.array([1.0, 1.0]), np.array([7, 7], np.uint64)
    >>> half = np.array([0.5, 0.5])
    >>> found = ClusterSums().then(one, one, Together(same, half, np.ones(2))).evidence
    >>> found.met, round(found.met_met, 9)
    (4.0, 8.0)
    """

    met: float = 0.0
    made: float = 0.0
    signed: np.ndarray = field(default_factory=lambda: np.zeros((2, SIGNS)))
    """Of rows met and of rows made: sums over clusters, by sign."""
    within: np.ndarray = field(default_factory=lambda: np.zeros(3))
    """The part of the variance that is within clusters, as `Evidence.met_met` and so on."""

    def then(self, met: np.ndarray, made: np.ndarray, drawn: Together) -> "ClusterSums":
        """These sums and those of further rows, in their order."""
        if not len(met):
            return self
        inverse = 1 / (drawn.by_key * drawn.within)
        between = np.sqrt(1 - drawn.by_key) * inverse
        signs = _signs(drawn.cluster)
        spread = (1 - drawn.within) * inverse / drawn.within
        return ClusterSums(
            in_order(self.met, met * inverse),
            in_order(self.made, made * inverse),
            np.stack(
                [
                    _in_order(self.signed[place], signs * (between * each))
                    for place, each in enumerate((met, made))
                ]
            ),
            _in_order(self.within, spread * np.stack([met * met, met * made, made * made])),
        )

    def __add__(self, other: "ClusterSums") -> "ClusterSums":
        return ClusterSums(
            self.met + other.met,
            self.made + other.made,
            self.signed + other.signed,
            self.within + other.within,
        )

    @property
    def evidence(self) -> Evidence:
        """What they say of recall."""
        met, made = self.signed
        products = np.array([met @ met, met @ made, made @ made]) / SIGNS + self.within
        return Evidence(self.met, self.made, *products.tolist())

    def facts(self) -> list[Any]:
        """As plain numbers."""
        return [self.met, self.made, self.signed.tolist(), self.within.tolist()]

    @classmethod
    def of(cls, facts: list[Any]) -> "ClusterSums":
        """From what `facts` gave."""
        met, made, signed, within = facts
        return cls(met, made, np.array(signed), np.array(within))


def _signs(clusters: np.ndarray) -> np.ndarray:
    """64 random signs for each cluster."""
    words = scrambled(clusters ^ _SALT)
    bits = (words >> np.arange(SIGNS, dtype=np.uint64)[:, None]) & np.uint64(1)
    return 1.0 - 2.0 * bits.astype(np.float64)


def _in_order(totals: np.ndarray, values: np.ndarray) -> np.ndarray:
    """`in_order` for each of several sums."""
    sums: np.ndarray = np.cumsum(np.concatenate([totals[:, None], values], axis=1), axis=1)[:, -1]
    return sums
