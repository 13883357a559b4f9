"""Joins tried in miniature: what a policy makes of a budget, told from all rows or from a few."""

from headgate.simulating.simulate import Simulated, simulate
from headgate.simulating.trace import Trace

__all__ = ["Simulated", "Trace", "simulate"]
