"""Visit weights for caching: a sum over all visits that counts only the first one.

For caching, the first visit to a value is all that counts, and its chance is a long recursion. The
benefit L(a) of a first visit a steps on can be spread over all visits from there on instead: give
the visit at step a the weight c(a) such that

    c(a) + Σ_k r(k) c(a + k) = L(a),

where r(k) is the chance to be back k steps after a visit. Whenever the first visit is, the weights
of it and of the visits after it then add up to L(a) on average, so

    Σ_a Pr{first visit at a} L(a) = Σ_a Pr{visit at a} c(a).

The weights do not depend on where the stream is now, so they are found once, from the last step
back, and serve every present value. It is the renewal equation, solved from its far end. Where L
is e^(−a/α) without end, c(a) is e^(−a/α) / (1 + Σ_k r(k) e^(−k/α)); with seasons, where r depends
on the step, c(a) e^(a/α) comes round with them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from headgate.compiling import compiled
from headgate.models.process import Process

Columns = Callable[[np.ndarray], np.ndarray]
MOST_PLACES = 20_000_000
"""Chances of return held at a time."""


@dataclass(frozen=True)
class Visits:
    """Weights of visits to a process's values, for one sum after another.

    Parameters
    ----------
    process
        The process.
    grid
        Ascending values at which weights are computed, those between by cubic interpolation; or
        None to compute all. Worth it with seasons, where a value costs a recursion a step of the
        period and weights change little from one value to the next.
    """

    process: Process
    grid: np.ndarray | None = None
    kept: dict[tuple[float, int], Callable[[np.ndarray], np.ndarray]] = field(
        default_factory=dict, repr=False
    )

    def endless(self, values: np.ndarray, alpha: float, horizon: int) -> np.ndarray:
        """`exponential_weights` of the values."""
        if self.grid is None:
            return exponential_weights(self.process, values, alpha, horizon)
        if (alpha, horizon) not in self.kept:
            weights = exponential_weights(self.process, self.grid, alpha, horizon)
            self.kept[alpha, horizon] = between(self.grid, weights)
        return self.kept[alpha, horizon](values)

    def until(self, step: int, values: np.ndarray, lives: np.ndarray) -> np.ndarray:
        """`visit_weights` of the values."""
        if self.grid is None:
            return visit_weights(self.process, step, values, lives)
        weights = visit_weights(self.process, step, self.grid, lives)
        return between(self.grid, weights)(values)


def between(grid: np.ndarray, columns: np.ndarray, axis: int = 1) -> Columns:
    """A column for any value, by cubic interpolation of those on a grid."""
    from scipy.interpolate import CubicSpline  # slow to import, and seldom needed

    spline: Columns = CubicSpline(grid, columns, axis=axis)
    return spline


def visit_weights(
    process: Process, step: int, values: np.ndarray, lives: np.ndarray, decay: float = 1.0
) -> np.ndarray:
    """c(a) for each step ahead of ``step`` and each value, given L(a) up to the horizon.

    With a decay, it is c(a) / decay^a for an L of lives · decay^a: the same without tiny numbers.
    Costs the horizon times the steps until the process settles, for each value. A process that
    returns to all values alike has one column.
    """
    values = values[:1] if process.returns_alike else values
    weights = np.zeros((len(lives), len(values)))
    if weights.size == 0:
        return weights
    seasons, near, _ = _rhythm(process, values, len(lives))
    width = max(MOST_PLACES // (seasons * near), 1)
    for first in range(0, len(values), width):
        chunk = slice(first, first + width)
        back, far = _returns(process, values[chunk], near)
        part = np.zeros((len(lives), back.shape[2]))
        back *= decay ** np.arange(1, near + 1)[:, None]
        far *= decay ** (near + 1)
        _solve_backwards(lives, back, far, step % seasons, decay, part)
        weights[:, chunk] = part
    return weights


def exponential_weights(
    process: Process, values: np.ndarray, alpha: float, horizon: int
) -> np.ndarray:
    """c(a) e^(a/α) for each step of the period and each value, without a last step.

    Of shape (period, values); one column for a process that returns to all values alike. The
    horizon is where e^(−a/α) is negligible.
    """
    values = values[:1] if process.returns_alike else values
    seasons, near, settled = _rhythm(process, values, horizon)
    if seasons == 1:
        back, far = _returns(process, values, near)
        visits = np.exp(-np.arange(1, near + 1) / alpha) @ back[0]
        if settled:
            visits = visits + far[0] * np.exp(-(near + 1) / alpha) / -np.expm1(-1 / alpha)
        weights: np.ndarray = 1 / (1 + visits)
        return weights[None, :]
    # From far enough back, it no longer matters where the recursion began.
    steps = np.ones(horizon + seasons)
    weights = visit_weights(process, 0, values, steps, decay=float(np.exp(-1 / alpha)))
    return np.roll(weights[:seasons], 1, axis=0)


def _rhythm(process: Process, values: np.ndarray, horizon: int) -> tuple[int, int, bool]:
    """Steps of the period, steps for which returns are needed, and whether they repeat after."""
    seasons = process.season_length()
    if seasons is None:
        raise ValueError(f"{process!r} has no returns that come round")
    settles = process.settles(values)
    if settles is None or settles[0] > horizon:
        return seasons, horizon, False
    return seasons, max(settles[0] - 1, 1), True


def _returns(process: Process, values: np.ndarray, near: int) -> tuple[np.ndarray, np.ndarray]:
    """Chances to be back from each step of the period; in the long run, at each step of it."""
    seasons = process.season_length() or 1
    ahead = np.arange(1, near + 1)
    back = np.stack([process.returns(values, season, ahead) for season in range(seasons)])
    long = np.array([seasons * -(-(near + 1) // seasons)])
    far = np.stack([process.returns(values, season, long)[0] for season in range(seasons)])
    return np.ascontiguousarray(back), np.ascontiguousarray(far)


@compiled
def _solve_backwards(
    lives: np.ndarray,
    back: np.ndarray,
    far: np.ndarray,
    start: int,
    decay: float,
    weights: np.ndarray,
) -> None:
    """Fill in the weights, from the last step to the first.

    ``far`` is the chance in the long run, with the decay from the near steps to the one after.
    """
    horizon, columns = weights.shape
    seasons, near = back.shape[0], back.shape[1]
    for column in range(columns):
        beyond = 0.0
        for at in range(horizon - 1, -1, -1):
            season = (start + at + 1) % seasons
            entering = at + near + 1
            beyond *= decay
            if entering < horizon:
                target = (start + entering + 1) % seasons
                beyond += far[target, column] * weights[entering, column]
            total = lives[at] - beyond
            for ahead in range(1, min(near, horizon - 1 - at) + 1):
                total -= back[season, ahead - 1, column] * weights[at + ahead, column]
            weights[at, column] = total
