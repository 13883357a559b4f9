"""Offline policies, which plan a whole input in advance: upper bounds for a given memory.

They are the yardstick for other policies. A plan is made from the streams themselves (OPT-offline)
or from the processes behind them (FlowExpect), and the real join then follows it within its budget.
"""

from headgate.models.process import Now
from headgate.policies.offline.course import Events
from headgate.policies.offline.flow_expect import FlowExpect, ValueProcess
from headgate.policies.offline.lfd import Lfd
from headgate.policies.offline.opt import Opt
from headgate.policies.offline.planned import NOT_KEPT, Planned
from headgate.policies.offline.price_bound import Ceiling
from headgate.policies.offline.sequence import Sequence, best_sequence
from headgate.policies.offline.subset import (
    JoinGraph,
    Subset,
    exact_max_subset,
    greedy_induced_subset,
    greedy_max_subset,
)

__all__ = [
    "NOT_KEPT",
    "Ceiling",
    "Events",
    "FlowExpect",
    "JoinGraph",
    "Lfd",
    "Now",
    "Opt",
    "Planned",
    "Sequence",
    "Subset",
    "ValueProcess",
    "best_sequence",
    "exact_max_subset",
    "greedy_induced_subset",
    "greedy_max_subset",
]
