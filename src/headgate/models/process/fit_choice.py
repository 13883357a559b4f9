"""Selects the process that explains a stream best."""

from collections.abc import Callable, Sequence
from typing import Any

from headgate.models.process.autoregressive import AutoRegressive
from headgate.models.process.linear_trend import LinearTrend
from headgate.models.process.process import Process
from headgate.models.process.process_fit import ProcessFit
from headgate.models.process.random_walk import RandomWalk
from headgate.models.process.stationary import Stationary
from headgate.spec import SpecError

CANDIDATES: tuple[type[Process], ...] = (Stationary, LinearTrend, RandomWalk, AutoRegressive)


def best_fit(
    values: Any, candidates: Sequence[type[Process] | Callable[[Any], ProcessFit]] = CANDIDATES
) -> tuple[ProcessFit, ...]:
    """Fits of several processes, the best by AIC first.

    Parameters
    ----------
    values
        Whole numbers, one a step.
    candidates
        Processes, or functions from values to a `ProcessFit`. One that cannot be fitted to these
        values (an AR(1) to a walk that only grows, say) is left out.

    Notes
    -----
    An AR(1) with φ just under 1 explains a random walk about as well as the walk itself, and comes
    out ahead of it now and then. Of two such fits prefer the walk, whose frame is exact.

    Examples
    --------
    >>> from headgate.models.process import Noise
    >>> values = RandomWalk(0, Noise.normal(1)).simulate(2000, seed=1)
    >>> type(best_fit(values)[0].process).__name__
    'RandomWalk'
    """
    fits, refusals = [], []
    for candidate in candidates:
        fit: Any = getattr(candidate, "fit", candidate)
        try:
            fits.append(fit(values))
        except SpecError as refusal:
            refusals.append(str(refusal))
    if not fits:
        raise SpecError("no process fits: " + ("; ".join(refusals) or "give some candidates"))
    return tuple(sorted(fits, key=lambda fit: fit.aic))
