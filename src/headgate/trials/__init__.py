"""Trial runs of a policy within a budget, on all rows or on a sampled miniature."""

from headgate.trials.simulation import Simulated, simulate
from headgate.trials.trace import Trace

__all__ = ["Simulated", "Trace", "simulate"]
