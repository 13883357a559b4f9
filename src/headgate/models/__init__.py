"""How streams behave: frozen facts with formulas."""

from headgate.models.frequency import Frequencies

__all__ = ["Frequencies"]
