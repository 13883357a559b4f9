"""AR(1) around a seasonal mean."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from headgate.models.process.autoregressive import gaussian_likelihood
from headgate.models.process.gaussian import Gaussian, check_phi
from headgate.models.process.process_fit import ProcessFit, observed
from headgate.spec import SpecError

SEASONS = 36


@dataclass(frozen=True)
class SeasonalAutoRegressive(Gaussian):
    """AR(1) around a season: deviations from a smooth periodic mean are an AR(1).

    Frames are approximate: there are moments for at most 36 steps of the period and for each
    at most 16 present deviations from the mean; a state has the frame of the nearest, shifted so
    that the next step is expected where it should be.

    Parameters
    ----------
    season
        The mean over the year, then a cosine and a sine for each harmonic of the period.
    phi
        How much of a deviation is left after a step; between −1 and 1.
    sigma
        The standard deviation of the noise.
    period
        Steps after which the season comes round.

    Examples
    --------
    >>> year = SeasonalAutoRegressive((200, 60, 0), 0.6, 40, period=365)
    >>> year.mean(np.array([0, 365, 182])).round(0).tolist()
    [260.0, 260.0, 140.0]
    """

    season: tuple[float, ...]
    phi: float
    sigma: float
    period: int

    most_presents: ClassVar[int] = 16

    def __post_init__(self) -> None:
        wrong = check_phi(self.phi, self.sigma, "seasonal AR(1)")
        if wrong:
            raise SpecError(wrong)
        season = tuple(float(each) for each in self.season)
        if len(season) % 2 == 0 or not np.all(np.isfinite(season)):
            raise SpecError(
                f"seasonal AR(1): season={self.season!r} is not a mean with a cosine and a sine "
                "for each harmonic: (200, 60, 0)"
            )
        if self.period != int(self.period) or self.period < 2:
            raise SpecError(f"seasonal AR(1): period={self.period!r} is not 2 or more whole steps")
        if len(season) // 2 > (self.period - 1) // 2:
            raise SpecError(
                f"seasonal AR(1): {len(season) // 2} harmonics are too many for a period of "
                f"{self.period}: at most {(self.period - 1) // 2}"
            )
        object.__setattr__(self, "season", season)
        object.__setattr__(self, "period", int(self.period))

    def mean(self, step: np.ndarray) -> np.ndarray:
        """The season's mean at each step."""
        mean: np.ndarray = self._means[np.asarray(step, np.int64) % self.period]
        return mean

    def season_length(self) -> int:
        """The period."""
        return self.period

    @cached_property
    def _means(self) -> np.ndarray:
        waves = harmonics(np.arange(self.period), self.period, len(self.season) // 2)
        means: np.ndarray = waves @ self.season
        return means

    def _seasons(self) -> np.ndarray:
        count = min(SEASONS, self.period)
        return np.arange(count) * self.period // count

    def scaled(self, factor: float) -> "SeasonalAutoRegressive":
        """The same process in other units: from degrees to tenths with a factor of 10."""
        season = tuple(each * factor for each in self.season)
        return SeasonalAutoRegressive(season, self.phi, self.sigma * factor, self.period)

    @classmethod
    def fit(cls, values: Any, period: int = 365, degree: int = 2) -> ProcessFit:
        """Least squares of every value on the one before and the season, all at once.

        The first value is taken to be at step 0 of the period. Values may be finer than the
        lattice, as for `AutoRegressive.fit`.

        Parameters
        ----------
        values
            One a step; at least two periods of them.
        period
            Steps after which the season comes round.
        degree
            How many harmonics the season has.

        Examples
        --------
        >>> true = SeasonalAutoRegressive((200, 60, 0), 0.6, 40, period=100)
        >>> fit = SeasonalAutoRegressive.fit(true.simulate(50_000, seed=1), period=100, degree=1)
        >>> [round(each) for each in fit.process.season], round(fit.process.phi, 1)
        ([199, 60, 0], 0.6)
        """
        given = observed(values, 2 * int(period), "seasonal AR(1)")
        steps = np.arange(1, len(given))
        waves = harmonics(steps, period, degree)
        columns = np.column_stack([given[:-1], waves])
        found, *_ = np.linalg.lstsq(columns, given[1:], rcond=None)
        residuals = given[1:] - columns @ found
        phi, pushes = float(found[0]), found[1:]
        # The season m solves m(t) − φ m(t − 1) = push(t), a number at each frequency.
        season = [pushes[0] / (1 - phi)]
        for order in range(1, degree + 1):
            turn = np.exp(-2j * np.pi * order / period)
            push = pushes[2 * order - 1] - 1j * pushes[2 * order]
            wave = push / (1 - phi * turn)
            season += [wave.real, -wave.imag]
        rmse = float(np.sqrt(np.mean(residuals**2)))
        process = cls(tuple(float(each) for each in season), phi, rmse, period)
        likelihood = gaussian_likelihood(given, residuals, rmse)
        return ProcessFit(process, likelihood, len(season) + 2, rmse)


def harmonics(step: np.ndarray, period: int, degree: int) -> np.ndarray:
    """A column of ones, then a cosine and a sine of each harmonic."""
    angle = 2 * np.pi * np.asarray(step, np.float64) / period
    columns = [np.ones_like(angle)]
    for order in range(1, degree + 1):
        columns += [np.cos(order * angle), np.sin(order * angle)]
    return np.stack(columns, axis=-1)
