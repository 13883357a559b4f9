"""The age model: how often a stored row matches depends on how long it has waited."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from headgate.models.memory_curve import MemoryCurve
from headgate.models.model_plots import age_curve_axes
from headgate.spec import SpecError
from headgate.spec.quantity import format_duration

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEGLIGIBLE = 1e-9


@dataclass(frozen=True, eq=False)
class AgeCurve:
    """The matches a row of one side makes as it grows older, in buckets of age.

    Parameters
    ----------
    width
        How long a bucket is, in microseconds.
    matches
        The average matches a row makes in each bucket if it is stored throughout; the
        paper's p(1), p(2), …

    Examples
    --------
    >>> curve = AgeCurve(1_000_000, [1, 1, 2, 1])
    >>> curve.total, curve.best_age, curve.matches_by(2_500_000)
    (5.0, 3000000, 3.0)
    >>> curve.has_minimum
    False

    References
    ----------
    Srivastava and Widom, Memory-Limited Execution of Windowed Stream Joins, VLDB 2004, Definition
    2.2 and section 3.2.
    """

    width: int
    matches: np.ndarray

    def __post_init__(self) -> None:
        matches = np.array(self.matches, np.float64)
        if self.width != int(self.width) or self.width < 1:
            raise SpecError(f"age curve: width={self.width!r} is not a number of microseconds")
        if matches.ndim != 1 or len(matches) == 0:
            raise SpecError("age curve: give the matches of at least one bucket of age")
        if not np.all(np.isfinite(matches)) or np.any(matches < 0):
            raise SpecError("age curve: matches must be finite and not negative")
        matches.setflags(write=False)
        object.__setattr__(self, "width", int(self.width))
        object.__setattr__(self, "matches", matches)

    @property
    def window(self) -> int:
        """Where the curve ends, in microseconds."""
        return self.width * len(self.matches)

    @property
    def total(self) -> float:
        """Matches of a row over its whole window; the paper's n."""
        return float(self.matches.sum())

    @property
    def cumulative(self) -> np.ndarray:
        """Matches by the end of each bucket, from 0 before the first; the paper's C(k)."""
        return np.concatenate([[0.0], np.cumsum(self.matches)])

    @property
    def ages(self) -> np.ndarray:
        """Ages at which buckets begin and end, in microseconds."""
        return np.arange(len(self.matches) + 1) * self.width

    def matches_by(self, age: float) -> float:
        """Matches up to an age in microseconds, even within a bucket."""
        return float(np.interp(age, self.ages, self.cumulative))

    def age_of(self, matches: float) -> float:
        """The age by which a row has made so many matches; the inverse of `matches_by`.

        Examples
        --------
        >>> AgeCurve(10, [1, 0, 1]).age_of(1.5)
        25.0
        """
        if not 0 <= matches <= self.total * (1 + NEGLIGIBLE):
            raise SpecError(f"a row makes {self.total:.3g} matches in all, not {matches!r}")
        at = int(np.searchsorted(self.cumulative, matches))
        if at == 0:
            return 0.0
        before, within = self.cumulative[at - 1], self.matches[min(at, len(self.matches)) - 1]
        return float(self.width * (at - 1 + (matches - before) / within)) if within else 0.0

    @property
    def best_age(self) -> int:
        """The age up to which a row makes most matches per unit of time; the paper's k_opt."""
        rate = self.cumulative[1:] / self.ages[1:]
        # Of equal ages the earliest, however the sums were rounded.
        return int(self.ages[1:][np.argmax(rate >= rate.max() * (1 - NEGLIGIBLE))])

    @property
    def has_minimum(self) -> bool:
        """Whether the curve falls and rises again."""
        steps = np.diff(self.matches)
        falls = np.flatnonzero(steps < -NEGLIGIBLE * self.total)
        rises = np.flatnonzero(steps > NEGLIGIBLE * self.total)
        return bool(len(falls) and len(rises) and rises[-1] > falls[0])

    def output(self, rate: float) -> MemoryCurve:
        """Matches per microsecond against rows stored under AGE (Equation 3).

        Parameters
        ----------
        rate
            Rows of the side per microsecond.

        Examples
        --------
        >>> curve = AgeCurve(1, [1, 1, 2, 1])
        >>> [curve.output(1.0).at(rows) for rows in (1, 2, 3, 4)]
        [1.3333333333333333, 2.6666666666666665, 4.0, 5.0]
        """
        beyond = self.ages >= self.best_age
        rows = np.concatenate([[0.0], self.ages[beyond] * rate])
        return MemoryCurve(rows, np.concatenate([[0.0], self.cumulative[beyond] * rate]))

    def priorities(self) -> tuple[np.ndarray, np.ndarray]:
        """Greedy priority at the beginning of each bucket, and just before its end.

        The highest rate, over all future ages, at which the row can still make matches: the slope
        of the steepest line from here to the cumulative curve ahead. Within a bucket it is
        monotone.
        """
        ages, cumulative = self.ages.astype(np.float64), self.cumulative
        starts = np.empty(len(self.matches))
        for bucket in range(len(self.matches)):
            ahead = slice(bucket + 1, None)
            slopes = (cumulative[ahead] - cumulative[bucket]) / (ages[ahead] - ages[bucket])
            starts[bucket] = slopes.max()
        ends = np.maximum(self.matches / self.width, np.append(starts[1:], 0.0))
        # Rounding must not make a constant bucket seem to rise or fall.
        flat = np.abs(ends - starts) <= NEGLIGIBLE * starts
        ends[flat] = starts[flat]
        return starts, ends

    def to_json(self) -> str:
        """The curve as text."""
        return json.dumps({"width": self.width, "matches": self.matches.tolist()})

    @classmethod
    def from_json(cls, text: str) -> "AgeCurve":
        """A curve from what `to_json` wrote.

        Examples
        --------
        >>> AgeCurve.from_json(AgeCurve(5, [1, 2]).to_json())
        AgeCurve(2 buckets of 5 microseconds, 3 matches a row, most per time up to 10 microseconds)
        """
        given = json.loads(text)
        return cls(given["width"], given["matches"])

    def plot(self, axes: "Axes | None" = None, label: str | None = None) -> "Axes":
        """Draw matches against age; needs Matplotlib."""
        return age_curve_axes(axes, self.width, self.matches, self.best_age, label)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AgeCurve):
            return NotImplemented
        return self.width == other.width and bool(np.array_equal(self.matches, other.matches))

    def __hash__(self) -> int:
        return hash((self.width, self.matches.tobytes()))

    def __repr__(self) -> str:
        return (
            f"AgeCurve({len(self.matches)} buckets of {format_duration(self.width)}, "
            f"{self.total:.4g} matches a row, most per time up to "
            f"{format_duration(self.best_age)})"
        )


@dataclass(frozen=True)
class AgeCurves:
    """The age-based model of both sides: what stored left rows make, and stored right rows.

    Examples
    --------
    >>> AgeCurves(AgeCurve(10, [1, 2]), AgeCurve(10, [0.5]))[0].total
    3.0
    """

    left: AgeCurve
    right: AgeCurve

    def __getitem__(self, side: int) -> AgeCurve:
        return (self.left, self.right)[side]

    def to_json(self) -> str:
        """The model as text."""
        return json.dumps([json.loads(self.left.to_json()), json.loads(self.right.to_json())])

    @classmethod
    def from_json(cls, text: str) -> "AgeCurves":
        """A model from what `to_json` wrote."""
        return cls(*(AgeCurve(each["width"], each["matches"]) for each in json.loads(text)))

    @classmethod
    def of_buckets(cls, windows: Sequence[int], matches: Sequence[Any]) -> "AgeCurves":
        """From each side's matches per bucket, the buckets sharing out the window evenly.

        Examples
        --------
        >>> AgeCurves.of_buckets((100, 0), ([1, 1, 2, 1], [0])).left.best_age
        75
        """
        curves = []
        for window, buckets in zip(windows, matches, strict=True):
            # A window of no length still has the instant of arrival in it.
            curves.append(AgeCurve(max(1, -(-window // len(buckets))), buckets))
        return cls(*curves)
