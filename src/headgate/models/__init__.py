"""How streams behave: frozen facts with formulas."""

from headgate.models.age import AgeCurve, AgeCurves
from headgate.models.frequency import Frequencies, KeyFrequencies
from headgate.models.memory import MemoryCurve, Split, best_split

__all__ = [
    "AgeCurve",
    "AgeCurves",
    "Frequencies",
    "KeyFrequencies",
    "MemoryCurve",
    "Split",
    "best_split",
]
