"""Online learning: models of the streams, and estimates of recall, while a join runs."""

from headgate.learning.monitor import Monitor, Part, Room
from headgate.learning.recall import Estimate, Evidence

__all__ = ["Estimate", "Evidence", "Monitor", "Part", "Room"]
