"""Offline Max-Subset: the most pairs within a CPU budget, knowing the whole input.

Rows cost C_u each and pairs C_p, within a budget. Unlike memory (`opt.py`) this is NP-hard: there
is a greedy heuristic, and the exact answer for small inputs.
"""

from headgate.policies.offline.subset.exact_subset import exact_max_subset
from headgate.policies.offline.subset.greedy_subset import greedy_induced_subset, greedy_max_subset
from headgate.policies.offline.subset.join_graph import JoinGraph, Subset

__all__ = [
    "JoinGraph",
    "Subset",
    "exact_max_subset",
    "greedy_induced_subset",
    "greedy_max_subset",
]
