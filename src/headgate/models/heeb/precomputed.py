"""Precomputed H: a curve for walks and trends, a surface for AR(1)."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from headgate.models.heeb.benefit_curves import curve_table
from headgate.models.heeb.direct import estimated_benefit
from headgate.models.process import AutoRegressive, Now, Process
from headgate.models.survival import Survival
from headgate.spec import SpecError

DOMAIN = 3.0
"""Default half-width of a surface's domain, in standard deviations from the mean."""


@dataclass(frozen=True, eq=False)
class PrecomputedCurve:
    """h₁: H as a function of a value's offset from the origin, for processes of one frame.

    The origin of a random walk is its present value, that of a trend the line.

    Examples
    --------
    >>> from headgate.models.process import Noise, RandomWalk
    >>> from headgate.models.survival import ExponentialLife
    >>> curve = PrecomputedCurve.of(RandomWalk(0, Noise.normal(1)), ExponentialLife(10))
    >>> curve(np.array([0, 1, -1, 5000])).round(3).tolist()
    [1.596, 1.348, 1.348, 0.0]
    >>> curve.error() < 1e-9
    True

    References
    ----------
    Xie, Yang and Chen, On Joining and Caching Stochastic Streams, SIGMOD 2005, Theorem 3 (2).
    """

    process: Process
    survival: Survival
    caching: bool
    window: int | None
    rate: float
    lowest: int
    heights: np.ndarray

    @classmethod
    def of(
        cls,
        process: Process,
        survival: Survival,
        caching: bool = False,
        window: int | None = None,
        rate: float = 1.0,
        points: int | None = None,
    ) -> "PrecomputedCurve":
        """Tabulate the curve.

        Parameters
        ----------
        process, survival, caching, window, rate
            As for `estimated_benefit`; the process must have one moment.
        points
            Keep this many points, denser where the curve bends, and interpolate them by monotone
            cubics; all points if not given.
        """
        from scipy.interpolate import PchipInterpolator  # slow to import

        moments = len(process.moments())
        if moments != 1:
            raise SpecError(
                f"curve: {process!r} looks different from {moments} moments; a curve is for one: "
                "use PrecomputedSurface, or curve_table"
            )
        table, lowest = curve_table(process, survival, caching, [window], rate)
        heights = table[0, 0]
        if points is not None:
            if points < 4:
                raise SpecError(f"curve: points={points!r} is fewer than 4, too few for cubics")
            kept = _where_it_bends(heights, points)
            heights = PchipInterpolator(kept, heights[kept])(np.arange(len(heights)))
        return cls(
            process=process,
            survival=survival,
            caching=caching,
            window=window,
            rate=rate,
            lowest=lowest,
            heights=heights,
        )

    def __call__(self, offset: np.ndarray) -> np.ndarray:
        """H at each offset; 0 beyond the table."""
        place = np.asarray(offset, np.int64) - self.lowest
        inside = (place >= 0) & (place < len(self.heights))
        found: np.ndarray = np.where(inside, self.heights[np.where(inside, place, 0)], 0.0)
        return found

    def error(self, now: Now | None = None) -> float:
        """The greatest difference from the direct sum, for a state of the stream or the moment."""
        at = self.process.moments()[0].now if now is None else now
        origin, _ = self.process.frame(np.array([at.step]), np.array([at.value]))
        offsets = self.lowest + np.arange(len(self.heights))
        direct = estimated_benefit(
            self.process,
            at,
            offsets + origin[0],
            survival=self.survival,
            caching=self.caching,
            window=self.window,
            rate=self.rate,
        )
        return float(np.abs(self(offsets) - direct).max())

    def __repr__(self) -> str:
        highest = self.lowest + len(self.heights) - 1
        return f"PrecomputedCurve({self.lowest} … {highest}, at most {self.heights.max():.4g})"


def _where_it_bends(heights: np.ndarray, points: int) -> np.ndarray:
    """Sample positions of a curve, including both ends, denser where it bends more."""
    bend = np.sqrt(np.abs(np.diff(heights, 2, prepend=heights[0], append=heights[-1])))
    share = np.cumsum(bend + bend.max() * 1e-3 + 1e-300)
    wanted = np.linspace(share[0], share[-1], points)
    return np.unique(np.searchsorted(share, wanted).clip(0, len(heights) - 1))


@dataclass(frozen=True, eq=False)
class PrecomputedSurface:
    """h₂: H as a function of a value and the present value, for AR(1), from a few control points.

    Bicubic interpolation of control points evenly spaced over the domain; where it falls below 0,
    H is 0, and outside of the domain it is that of the border.

    Examples
    --------
    >>> from headgate.models.survival import ExponentialLife
    >>> process = AutoRegressive(0.72, 55.9, 42.2)
    >>> surface = PrecomputedSurface.of(process, ExponentialLife(50), caching=True)
    >>> surface
    PrecomputedSurface(5 × 5 points over 17 … 383)
    >>> surface.error() < surface.error(mean=False) < 0.2
    True

    References
    ----------
    Xie, Yang and Chen, SIGMOD 2005, Theorem 3 (1) and section 8.
    """

    process: AutoRegressive
    survival: Survival
    caching: bool
    window: int | None
    rate: float
    values: np.ndarray
    presents: np.ndarray
    heights: np.ndarray
    spline: Callable[..., np.ndarray] = field(repr=False)

    @classmethod
    def of(
        cls,
        process: AutoRegressive,
        survival: Survival,
        caching: bool = False,
        window: int | None = None,
        rate: float = 1.0,
        points: tuple[int, int] = (5, 5),
        domain: tuple[int, int] | None = None,
    ) -> "PrecomputedSurface":
        """Compute the control points and put the surface through them.

        Parameters
        ----------
        process, survival, caching, window, rate
            As for `estimated_benefit`.
        points
            Control points along values and along present values, at least 4 of each.
        domain
            Lowest and highest value; three standard deviations around the mean if not given.
        """
        from scipy.interpolate import RectBivariateSpline  # slow to import

        if min(points) < 4:
            raise SpecError(f"surface: points={points!r}: bicubic interpolation needs 4 each way")
        mean = float(process.mean(np.zeros(1))[0])
        wide = DOMAIN * process.sd
        low, high = domain or (int(np.floor(mean - wide)), int(np.ceil(mean + wide)))
        values, presents = (
            np.unique(np.linspace(low, high, count).round().astype(np.int64)) for count in points
        )
        if min(len(values), len(presents)) < 4:
            raise SpecError(f"surface: domain={low, high} has too few values for {points} points")
        heights = np.column_stack(
            [
                estimated_benefit(
                    process,
                    Now(0, int(present)),
                    values,
                    survival=survival,
                    caching=caching,
                    window=window,
                    rate=rate,
                )
                for present in presents
            ]
        )
        spline = RectBivariateSpline(values, presents, heights, kx=3, ky=3)
        asked = (process, survival, caching, window, rate)
        return cls(*asked, values, presents, heights, spline)

    def __call__(self, value: np.ndarray, present: np.ndarray) -> np.ndarray:
        """H of each value when the stream is at the present value; of one shape, or broadcast."""
        value = np.clip(value, self.values[0], self.values[-1])
        present = np.clip(present, self.presents[0], self.presents[-1])
        value, present = np.broadcast_arrays(value, present)
        found: np.ndarray = np.maximum(self.spline(value, present, grid=False), 0.0)
        return found

    def error(self, mean: bool = True) -> float:
        """The difference from the direct sum over the domain: the mean one, or the greatest."""
        values = np.arange(self.values[0], self.values[-1] + 1)
        presents = np.unique(
            np.linspace(self.presents[0], self.presents[-1], 33).round().astype(np.int64)
        )
        off = [
            np.abs(
                self(values, present)
                - estimated_benefit(
                    self.process,
                    Now(0, int(present)),
                    values,
                    survival=self.survival,
                    caching=self.caching,
                    window=self.window,
                    rate=self.rate,
                )
            )
            for present in presents
        ]
        return float(np.mean(off) if mean else np.max(off))

    def __repr__(self) -> str:
        return (
            f"PrecomputedSurface({len(self.values)} × {len(self.presents)} points over "
            f"{self.values[0]} … {self.values[-1]})"
        )
