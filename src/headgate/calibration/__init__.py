"""Measures what joins cost on this machine: `headgate calibrate`."""

from headgate.calibration.timed_joins import Workload, in_turns
from headgate.calibration.timed_weights import QUICK, THOROUGH, Effort, calibrate, measure_weights

__all__ = [
    "QUICK",
    "THOROUGH",
    "Effort",
    "Workload",
    "calibrate",
    "in_turns",
    "measure_weights",
]
