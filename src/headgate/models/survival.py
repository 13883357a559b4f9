"""Survival functions L: how long a stored row is expected to stay in memory.

L(a) estimates the chance that a row stored now is still there a steps on. It never rises and is the
same for every row, which suffices for HEEB to agree with every provably optimal decision.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from headgate.spec import SpecError


class Survival(ABC):
    """An estimate of the chance that a row is still stored so many steps on.

    References
    ----------
    Xie, Yang and Chen, On Joining and Caching Stochastic Streams, SIGMOD 2005, section 5.3 and
    Table 1.
    """

    caching_only: ClassVar[bool] = False
    """Whether sums converge for caching alone, where only a value's first reference counts."""

    @abstractmethod
    def at(self, ahead: np.ndarray) -> np.ndarray:
        """The chance to be there so many steps ahead (≥ 1)."""

    @abstractmethod
    def horizon(self, tolerance: float) -> int | None:
        """After how many steps at most ``tolerance`` of it is left; None if it never falls so far.

        None also where that is too far to sum to.
        """


@dataclass(frozen=True)
class FixedLife(Survival):
    """Rows stay exactly so many steps: L is 1 up to then, 0 after.

    Examples
    --------
    >>> FixedLife(2).at(np.array([1, 2, 3])).tolist()
    [1.0, 1.0, 0.0]
    """

    steps: int

    def __post_init__(self) -> None:
        if self.steps != int(self.steps) or self.steps < 1:
            raise SpecError(f"fixed life: steps={self.steps!r} is not a whole number, 1 or more")

    def at(self, ahead: np.ndarray) -> np.ndarray:
        """1 up to the end, 0 after."""
        return (np.asarray(ahead) <= self.steps).astype(np.float64)

    def horizon(self, tolerance: float) -> int | None:
        """The end."""
        return int(self.steps)


@dataclass(frozen=True)
class Forever(Survival):
    """Rows are never evicted: the benefit is the probability of ever being referenced.

    Examples
    --------
    >>> Forever().at(np.array([1, 100])).tolist()
    [1.0, 1.0]
    """

    caching_only: ClassVar[bool] = True

    def at(self, ahead: np.ndarray) -> np.ndarray:
        """1."""
        return np.ones(np.shape(ahead))

    def horizon(self, tolerance: float) -> int | None:
        """None: it never falls."""
        return None


@dataclass(frozen=True)
class InverseTime(Survival):
    """L is one over the time: the benefit is the expected inverse waiting time.

    Examples
    --------
    >>> InverseTime().at(np.array([1, 4])).tolist()
    [1.0, 0.25]
    """

    caching_only: ClassVar[bool] = True

    def at(self, ahead: np.ndarray) -> np.ndarray:
        """One over the steps."""
        return 1.0 / np.asarray(ahead, np.float64)

    def horizon(self, tolerance: float) -> int | None:
        """None: it falls too slowly to be cut off."""
        return None


@dataclass(frozen=True)
class ExponentialLife(Survival):
    """Every step has the same chance to be a row's last: L is e^(−a/α).

    Examples
    --------
    >>> life = ExponentialLife.of_budget(rows=100, rows_a_step=2)
    >>> life, round(life.lifetime, 6)
    (ExponentialLife(alpha=49.498...), 50.0)
    """

    alpha: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.alpha) and self.alpha > 0):
            raise SpecError(f"exponential life: alpha={self.alpha!r} is not a positive number")

    @classmethod
    def of_lifetime(cls, mean: float) -> "ExponentialLife":
        """The α for a mean lifetime in steps, of more than one.

        Examples
        --------
        >>> ExponentialLife.of_lifetime(12.5).alpha.__round__(3)
        11.993
        """
        if not (np.isfinite(mean) and mean > 1):
            raise SpecError(
                f"exponential life: a mean lifetime of {mean!r} steps is not more than 1; shorter "
                "lives all rank rows by the next step: ExponentialLife(0.1)"
            )
        # The mean is 1 / (1 − e^(−1/α)).
        return cls(float(-1 / np.log1p(-1 / mean)))

    @classmethod
    def of_budget(cls, rows: float, rows_a_step: float) -> "ExponentialLife":
        """The α of memory for so many rows, when so many come a step.

        By Little's law, rows stay for rows / rows_a_step steps on average.
        """
        if not (rows > 0 and rows_a_step > 0):
            raise SpecError(
                f"exponential life: rows={rows!r} and rows_a_step={rows_a_step!r} must be positive"
            )
        # Under one step of memory nearly all that counts is the next step, whatever α is.
        return cls.of_lifetime(max(rows / rows_a_step, 1.0001))

    @property
    def lifetime(self) -> float:
        """The mean lifetime in steps."""
        return float(-1 / np.expm1(-1 / self.alpha))

    def at(self, ahead: np.ndarray) -> np.ndarray:
        """e^(−a/α)."""
        left: np.ndarray = np.exp(-np.asarray(ahead, np.float64) / self.alpha)
        return left

    def horizon(self, tolerance: float) -> int | None:
        """Where e^(−a/α) falls to the tolerance."""
        return max(int(np.ceil(-self.alpha * np.log(tolerance))), 1)
