"""Online learning: models of the streams, and estimates of recall, while a join runs."""

from typing import TYPE_CHECKING

from headgate.lazy_names import lazy_names

if TYPE_CHECKING:
    from headgate.learning.monitor import Monitor as Monitor
    from headgate.learning.recall import Estimate as Estimate
    from headgate.learning.recall import Evidence as Evidence
    from headgate.learning.room import Part as Part
    from headgate.learning.room import Room as Room

_MODULES = {
    "Estimate": "headgate.learning.recall",
    "Evidence": "headgate.learning.recall",
    "Monitor": "headgate.learning.monitor",
    "Part": "headgate.learning.room",
    "Room": "headgate.learning.room",
}

__all__ = ["Estimate", "Evidence", "Monitor", "Part", "Room"]

if not TYPE_CHECKING:  # a checker that saw __getattr__ would let any name pass
    __getattr__, __dir__ = lazy_names(__name__, _MODULES)
