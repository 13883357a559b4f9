"""Joins tried in miniature: what a policy makes of a budget, told from all rows or from a few."""

from headgate.trials.simulation import Simulated, simulate
from headgate.trials.trace import Trace

__all__ = ["Simulated", "Trace", "simulate"]
