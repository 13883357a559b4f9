"""Stochastic processes that generate the values of a stream, one per step."""

from headgate.models.process.autoregressive import AutoRegressive
from headgate.models.process.best_fit import best_fit
from headgate.models.process.known import Known
from headgate.models.process.noise import Noise
from headgate.models.process.process import Moment, Now, Process
from headgate.models.process.process_fit import Fit
from headgate.models.process.seasonal import SeasonalAutoRegressive
from headgate.models.process.stationary import Stationary
from headgate.models.process.trend import LinearTrend
from headgate.models.process.walk import RandomWalk

__all__ = [
    "AutoRegressive",
    "Fit",
    "Known",
    "LinearTrend",
    "Moment",
    "Noise",
    "Now",
    "Process",
    "RandomWalk",
    "SeasonalAutoRegressive",
    "Stationary",
    "best_fit",
]
