"""Stochastic processes that generate the values of a stream, one per step."""

from typing import TYPE_CHECKING

from headgate.lazy_names import lazy_names

if TYPE_CHECKING:
    from headgate.models.process.autoregressive import AutoRegressive as AutoRegressive
    from headgate.models.process.fit_choice import best_fit as best_fit
    from headgate.models.process.known import Known as Known
    from headgate.models.process.linear_trend import LinearTrend as LinearTrend
    from headgate.models.process.noise import Noise as Noise
    from headgate.models.process.process import Moment as Moment
    from headgate.models.process.process import Now as Now
    from headgate.models.process.process import Process as Process
    from headgate.models.process.process_fit import ProcessFit as ProcessFit
    from headgate.models.process.random_walk import RandomWalk as RandomWalk
    from headgate.models.process.seasonal_auto_regressive import (
        SeasonalAutoRegressive as SeasonalAutoRegressive,
    )
    from headgate.models.process.stationary import Stationary as Stationary

_MODULES = {
    "AutoRegressive": "headgate.models.process.autoregressive",
    "ProcessFit": "headgate.models.process.process_fit",
    "Known": "headgate.models.process.known",
    "LinearTrend": "headgate.models.process.linear_trend",
    "Moment": "headgate.models.process.process",
    "Noise": "headgate.models.process.noise",
    "Now": "headgate.models.process.process",
    "Process": "headgate.models.process.process",
    "RandomWalk": "headgate.models.process.random_walk",
    "SeasonalAutoRegressive": "headgate.models.process.seasonal_auto_regressive",
    "Stationary": "headgate.models.process.stationary",
    "best_fit": "headgate.models.process.fit_choice",
}
"""Where each name is; the imports above tell type checkers the same."""

__all__ = [*_MODULES]

if not TYPE_CHECKING:  # a checker that saw __getattr__ would let any name pass
    __getattr__, __dir__ = lazy_names(__name__, _MODULES)
