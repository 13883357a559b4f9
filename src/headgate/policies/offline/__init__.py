"""Policies that plan a whole input beforehand: what could have been made of the memory.

They measure other policies. A plan is made from the streams themselves (OPT-offline) or from the
processes behind them (FlowExpect), and then followed by the real join within its real budget.
"""

from headgate.models.process import Now
from headgate.policies.offline.course import Events
from headgate.policies.offline.flow_expect import FlowExpect, Process
from headgate.policies.offline.lfd import Lfd
from headgate.policies.offline.opt import Opt
from headgate.policies.offline.planned import NOT_KEPT, Planned
from headgate.policies.offline.sequence import Sequence, best_sequence

__all__ = [
    "NOT_KEPT",
    "Events",
    "FlowExpect",
    "Lfd",
    "Now",
    "Opt",
    "Planned",
    "Process",
    "Sequence",
    "best_sequence",
]
