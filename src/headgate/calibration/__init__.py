"""Measuring what joins cost on the machine at hand: `headgate calibrate`."""

from headgate.calibration.measure import QUICK, THOROUGH, Effort, calibrate, measure_weights
from headgate.calibration.workload import Workload, in_turns

__all__ = [
    "QUICK",
    "THOROUGH",
    "Effort",
    "Workload",
    "calibrate",
    "in_turns",
    "measure_weights",
]
