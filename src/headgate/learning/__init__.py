"""Online learning: models of the streams, and estimates of recall, while a join runs."""

from typing import TYPE_CHECKING

from headgate.lazy_names import lazy_names

if TYPE_CHECKING:
    from headgate.learning.evidence import Estimate as Estimate
    from headgate.learning.evidence import Evidence as Evidence
    from headgate.learning.monitor import Monitor as Monitor
    from headgate.learning.room import BudgetPart as BudgetPart
    from headgate.learning.room import Room as Room

_MODULES = {
    "Estimate": "headgate.learning.evidence",
    "Evidence": "headgate.learning.evidence",
    "Monitor": "headgate.learning.monitor",
    "BudgetPart": "headgate.learning.room",
    "Room": "headgate.learning.room",
}

__all__ = ["BudgetPart", "Estimate", "Evidence", "Monitor", "Room"]

if not TYPE_CHECKING:  # a checker that saw __getattr__ would let any name pass
    __getattr__, __dir__ = lazy_names(__name__, _MODULES)
