"""Noise: a distribution over integer offsets."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from headgate.spec import SpecError

CUT = 8.5
"""Standard deviations beyond which a normal distribution has less than 1e-16 left."""


@dataclass(frozen=True, eq=False)
class Noise:
    """The distribution of deviations from the expected value.

    Parameters
    ----------
    chances
        The chance of each offset; scaled so that they add up to 1.
    lowest
        The offset of the first of them.

    Examples
    --------
    >>> Noise.uniform(10)
    Noise(-10 … 10, mean 0, standard deviation 6.055)
    >>> Noise.of({0: 0.5, 1: 0.5}).chance(np.array([-1, 0, 1])).tolist()
    [0.0, 0.5, 0.5]
    """

    chances: np.ndarray
    lowest: int = 0

    def __post_init__(self) -> None:
        chances = np.array(self.chances, np.float64)
        if chances.ndim != 1 or len(chances) == 0:
            raise SpecError("noise: give the chance of at least one offset")
        if not np.all(np.isfinite(chances)) or np.any(chances < 0) or chances.sum() <= 0:
            raise SpecError("noise: chances must be finite, not negative and not all zero")
        if self.lowest != int(self.lowest):
            raise SpecError(f"noise: lowest={self.lowest!r} is not a whole number")
        some = np.flatnonzero(chances)
        lowest = int(self.lowest) + int(some[0])
        chances = chances[some[0] : some[-1] + 1] / chances.sum()
        chances.setflags(write=False)
        object.__setattr__(self, "chances", chances)
        object.__setattr__(self, "lowest", lowest)

    @classmethod
    def uniform(cls, bound: int) -> "Noise":
        """Every offset from −bound to bound alike."""
        if bound != int(bound) or bound < 0:
            raise SpecError(f"noise: bound={bound!r} is not a whole number, 0 or more")
        return cls(np.ones(2 * int(bound) + 1), -int(bound))

    @classmethod
    def normal(cls, sigma: float, bound: int | None = None, centre: float = 0.0) -> "Noise":
        """A normal distribution rounded to the lattice, within ±bound if there is one.

        Examples
        --------
        >>> Noise.normal(3.3, 10)
        Noise(-10 … 10, mean 0, standard deviation 3.286)
        """
        if not (np.isfinite(sigma) and sigma > 0):
            raise SpecError(f"noise: sigma={sigma!r} is not a positive number")
        if bound is not None and (bound != int(bound) or bound < 0):
            raise SpecError(f"noise: bound={bound!r} is not a whole number, 0 or more")
        middle = int(np.floor(centre + 0.5))
        most = int(np.ceil(CUT * sigma + 1)) if bound is None else int(bound)
        low, high = (middle - most, middle + most) if bound is None else (-most, most)
        offsets = np.arange(low, high + 1)
        return cls(normal_chance(offsets - centre, sigma), low)

    @classmethod
    def of(cls, chances: Mapping[int, float]) -> "Noise":
        """From the chance of each offset; need not add up to 1.

        Examples
        --------
        >>> Noise.of({-1: 1, 1: 1}).sd
        1.0
        """
        array, lowest = dense(chances, "noise")
        return cls(array, lowest)

    @property
    def highest(self) -> int:
        """The highest offset with any chance."""
        return self.lowest + len(self.chances) - 1

    @property
    def offsets(self) -> np.ndarray:
        """All offsets from the lowest to the highest."""
        return np.arange(self.lowest, self.highest + 1)

    @property
    def mean(self) -> float:
        """The mean offset."""
        return float(self.offsets @ self.chances)

    @property
    def sd(self) -> float:
        """The standard deviation of offsets."""
        return float(np.sqrt((self.offsets - self.mean) ** 2 @ self.chances))

    def chance(self, offsets: np.ndarray) -> np.ndarray:
        """The chance of each offset, in any shape."""
        place = np.asarray(offsets, np.int64) - self.lowest
        inside = (place >= 0) & (place < len(self.chances))
        found: np.ndarray = np.where(inside, self.chances[np.where(inside, place, 0)], 0.0)
        return found

    def sample(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Offsets drawn at random."""
        return rng.choice(self.offsets, size=count, p=self.chances).astype(np.int64)

    def shifted(self, by: float) -> "Noise":
        """The same noise around another centre.

        A fraction of a step is shared between the two whole numbers around it: the mean is exact,
        and f (1 − f) is added to the variance.

        Examples
        --------
        >>> Noise.of({0: 1}).shifted(2.25).chances.tolist()
        [0.75, 0.25]
        """
        whole = int(np.floor(by))
        fraction = by - whole
        if fraction == 0:
            return Noise(self.chances, self.lowest + whole)
        return Noise(np.convolve(self.chances, [1 - fraction, fraction]), self.lowest + whole)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Noise):
            return NotImplemented
        return self.lowest == other.lowest and bool(np.array_equal(self.chances, other.chances))

    def __hash__(self) -> int:
        return hash((self.lowest, self.chances.tobytes()))

    def __repr__(self) -> str:
        mean = round(self.mean, 9) + 0.0
        return (
            f"Noise({self.lowest} … {self.highest}, mean {mean:.4g}, "
            f"standard deviation {self.sd:.4g})"
        )


def normal_chance(offsets: np.ndarray, sigma: float | np.ndarray) -> np.ndarray:
    """The chance that normal noise, rounded, is at each (not always whole) offset of a lattice.

    Both tails are measured from their own end, so that small chances keep their digits.
    """
    distance = np.abs(offsets)
    from scipy.special import ndtr  # slow to import

    chance: np.ndarray = ndtr((0.5 - distance) / sigma) - ndtr((-0.5 - distance) / sigma)
    return chance


def stretch_chances(first: np.ndarray, sigma: np.ndarray, count: int) -> np.ndarray:
    """`normal_chance` of neighbouring offsets from each first one on, a row each.

    Neighbours share a border, so there is half as much to compute.
    """
    border = (first[:, None] + (np.arange(count + 1) - 0.5)) / sigma[:, None]
    from scipy.special import ndtr  # slow to import

    beyond = ndtr(-np.abs(border))
    chances: np.ndarray = np.abs(np.diff(beyond, axis=1))
    across = (border[:, :-1] < 0) & (border[:, 1:] > 0)
    row, column = np.nonzero(across)
    chances[row, column] = 1 - beyond[row, column] - beyond[row, column + 1]
    return chances


def dense(chances: Mapping[int, float], what: str) -> tuple[np.ndarray, int]:
    """A mapping of whole numbers to chances as an array, and its first number."""
    if not chances:
        raise SpecError(f"{what}: the mapping is empty: give at least one value and its chance")
    if any(value != int(value) for value in chances):
        raise SpecError(
            f"{what}: values must be whole numbers; scale finer ones, 21.5 to 215 tenths"
        )
    lowest, highest = int(min(chances)), int(max(chances))
    if highest - lowest > 50_000_000:
        raise SpecError(f"{what}: values from {lowest} to {highest} are too far apart to tabulate")
    array = np.zeros(highest - lowest + 1)
    for value, chance in chances.items():
        array[int(value) - lowest] = chance
    return array, lowest
