"""Online learning: models of the streams, and estimates of recall, while a join runs."""

from headgate.learning.monitor import Monitor
from headgate.learning.recall import Estimate, Evidence
from headgate.learning.room import Part, Room

__all__ = ["Estimate", "Evidence", "Monitor", "Part", "Room"]
