"""Measures what joins cost on this machine: `headgate calibrate`."""

from headgate.calibration.timed_weights import (
    QUICK,
    THOROUGH,
    MeasuringTime,
    calibrate,
    measure_weights,
)
from headgate.calibration.timed_workload import TimedWorkload, in_turns

__all__ = [
    "QUICK",
    "THOROUGH",
    "MeasuringTime",
    "TimedWorkload",
    "calibrate",
    "in_turns",
    "measure_weights",
]
