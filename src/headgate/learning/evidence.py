"""Estimates recall, the share of the exact result produced, from the watched rows.

Every row is watched with a known probability, and a watched row is followed through its whole
window: its matches (`met`) and those that made a pair (`made`). The ratio made / met over the
watched rows estimates recall; the variance between rows gives the error.

The interval is not the same to either side: it is Wilson's (JASA 1927) for as many equal rows as
have this variance, and its quantile is that of Student's distribution, by the number of rows.
"""

import math
from dataclasses import dataclass
from operator import add, sub

import numpy as np

CONFIDENCE = 1.96
"""Standard errors to either side of a 95 % interval."""
FEW_ROWS = (2.37, 2.82)
"""What is added to them over n, and over its square, where the variance is that of n rows: the
quantile of Student's distribution (its expansion: Fisher 1925, Metron 5). Rows that stand for
unequal parts count as Kish's effective number, the square of their sum over the sum of squares."""
MOST_ERROR = 0.25
"""Where an interval reaches further than this to either side, recall is not known yet: too few
watched rows have met anything."""
NONE_OF_MANY = 3.0
"""Where all rows fared alike their spread says nothing: what n of them did not show may yet befall
three in n (the rule of three)."""


@dataclass(frozen=True)
class Estimate:
    """A share, and the interval it lies in with 95 % confidence.

    Examples
    --------
    >>> print(Estimate(0.5, 0.45, 0.55))
    0.500 (0.450 to 0.550)
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True)
class Evidence:
    """Sums over watched rows. They add up: over rows, over batches, over shards.

    Parameters
    ----------
    met, made
        Partners met and pairs made, each row counting for as many as it stands for.
    met_met, met_made, made_made
        What the variance of the share is made of: products of the two, times (1 - q) / q² for a
        row watched with chance q.

    Examples
    --------
    >>> sure = Evidence.of(np.array([4, 2]), np.array([1, 2]), np.array([1.0, 1.0]))
    >>> print(sure.recall())
    0.500 (0.500 to 0.500)
    """

    met: float = 0.0
    made: float = 0.0
    met_met: float = 0.0
    met_made: float = 0.0
    made_made: float = 0.0

    @classmethod
    def of(cls, met: np.ndarray, made: np.ndarray, share: np.ndarray) -> "Evidence":
        """The evidence of watched rows, each watched with probability ``share``."""
        return cls(*cls.terms(met, made, share).sum(axis=1).tolist())

    @staticmethod
    def terms(met: np.ndarray, made: np.ndarray, share: np.ndarray) -> np.ndarray:
        """What each watched row adds to each of the sums; nothing where its chance is zero."""
        met, made = np.asarray(met, np.float64), np.asarray(made, np.float64)
        stands_for = np.divide(1.0, share, out=np.zeros(len(met)), where=share > 0)
        spread = (1 - share) * stands_for**2
        return np.stack(
            [
                met * stands_for,
                made * stands_for,
                spread * met * met,
                spread * met * made,
                spread * made**2,
            ]
        )

    @property
    def sums(self) -> tuple[float, float, float, float, float]:
        """All of them, in order."""
        return self.met, self.made, self.met_met, self.met_made, self.made_made

    def __add__(self, other: "Evidence") -> "Evidence":
        return Evidence(*map(add, self.sums, other.sums))

    def __sub__(self, other: "Evidence") -> "Evidence":
        return Evidence(*map(sub, self.sums, other.sums))

    def known(self) -> Estimate | None:
        """Recall, or None where watched rows have met too little to tell it (`MOST_ERROR`)."""
        if self.met <= 0:
            return None
        told = self.recall()
        error = max(told.high - told.value, told.value - told.low)
        return told if error <= MOST_ERROR else None

    def recall(self) -> Estimate:
        """The share of the exact result that was produced."""
        if self.met <= 0:
            return Estimate(1.0, 0.0, 1.0)
        share = self.made / self.met
        variance = self.made_made - 2 * share * self.met_made + share**2 * self.met_met
        few = NONE_OF_MANY * self.met_met / self.met
        one_in = self.met_met / self.met**2
        errors = CONFIDENCE + one_in * (FEW_ROWS[0] + one_in * FEW_ROWS[1])
        error = errors * math.sqrt(max(variance, 0.0))
        if few >= error:
            return Estimate(
                share, max(share - few / self.met, 0.0), min(share + few / self.met, 1.0)
            )
        # Wilson's interval, where an error of this size is that of so many rows alike.
        squared = (error / self.met) ** 2
        shift = squared / (share * (1 - share)) if 0 < share < 1 else 0.0
        middle, half = share + shift / 2, math.sqrt(squared + shift**2 / 4)
        low, high = (middle - half) / (1 + shift), (middle + half) / (1 + shift)
        return Estimate(share, max(low, 0.0), min(high, 1.0))
