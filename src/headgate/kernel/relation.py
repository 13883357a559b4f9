"""Bands and comparisons on plain numbers, after the columns have been converted."""

from dataclasses import dataclass, replace
from enum import IntEnum

Value = int | float


class Bound(IntEnum):
    """How one bound of a relation is tested; see `clears`."""

    NONE = 0
    DIFFERENCE = 1
    REACHED = 2
    PASSED = 3


@dataclass(frozen=True)
class Relation:
    """When a left number x and a right number y are partners.

    The lower bound requires y to be at least ``lower`` above x, or at least x, or above x; the
    upper bound requires the mirror image. An ``inverted`` relation holds where not both do.

    Differences of floats are rounded in hardware, which is monotonic, so the partners of a number
    are contiguous among the sorted numbers of the other side.

    Examples
    --------
    >>> band = Relation(Bound.DIFFERENCE, Bound.DIFFERENCE, lower=-1, upper=5)
    >>> band.holds(10, 9), band.holds(10, 8)
    (True, False)
    >>> band.mirrored().holds(9, 10)
    True
    """

    lower_bound: Bound
    upper_bound: Bound
    lower: Value = 0
    upper: Value = 0
    inverted: bool = False
    real: bool = False
    """Numbers are float64, not int64."""
    nan_holds: bool = False
    """Whether a NaN difference (of two infinities) counts as far enough."""

    @property
    def is_band(self) -> bool:
        """Whether partners lie within a known distance of each other."""
        return self.lower_bound == self.upper_bound == Bound.DIFFERENCE

    def mirrored(self) -> "Relation":
        """The same relation seen from the right."""
        return replace(
            self,
            lower_bound=self.upper_bound,
            upper_bound=self.lower_bound,
            lower=-self.upper,
            upper=-self.lower,
        )

    def holds(self, x: Value, y: Value) -> bool:
        """Whether a left x and a right y are partners; plain Python, for the twin."""
        lower = clears(y, x, self.lower_bound, self.lower, self.nan_holds)
        upper = clears(x, y, self.upper_bound, -self.upper, self.nan_holds)
        return (lower and upper) != self.inverted


def clears(one: Value, other: Value, bound: Bound, least: Value, nan_holds: bool = False) -> bool:
    """Whether ``one`` is far enough above ``other``.

    Examples
    --------
    >>> clears(7, 5, Bound.DIFFERENCE, 2), clears(5, 5, Bound.REACHED, 0)
    (True, True)
    >>> clears(5, 5, Bound.PASSED, 0), clears(4, 5, Bound.NONE, 0)
    (False, True)
    """
    if bound == Bound.DIFFERENCE:
        apart = one - other
        return apart >= least or (nan_holds and apart != apart)
    if bound == Bound.REACHED:
        return one >= other
    return bound == Bound.NONE or one > other
