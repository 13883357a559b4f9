"""Learning how streams behave while they are joined, and how good the answer is."""

from headgate.learning.monitor import Monitor, Part, Room
from headgate.learning.recall import Estimate, Evidence

__all__ = ["Estimate", "Evidence", "Monitor", "Part", "Room"]
