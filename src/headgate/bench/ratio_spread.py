"""Median and range of a ratio measured in several rounds."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class RatioSpread:
    """Median, minimum and maximum of several rounds.

    Examples
    --------
    >>> str(RatioSpread.of([4.0, 6.0, 5.0]))
    '5 (4 to 6)'
    """

    middle: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "RatioSpread":
        """The spread of some values."""
        return cls(median(values), min(values), max(values))

    def __str__(self) -> str:
        if self.least == self.most:
            return f"{self.middle:.3g}"
        return f"{self.middle:.3g} ({self.least:.3g} to {self.most:.3g})"
