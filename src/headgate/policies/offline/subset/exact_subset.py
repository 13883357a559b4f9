"""The exact answer, by an integer program: for graphs of some hundred pairs."""

import numpy as np

from headgate.models.cost import WorkCost
from headgate.policies.offline.subset.join_graph import JoinGraph, Subset, check_budget, within
from headgate.spec import SpecError

PATIENCE_S = 60.0


def exact_max_subset(
    graph: JoinGraph,
    work: WorkCost,
    budget: float,
    induced: bool = False,
    patience_s: float = PATIENCE_S,
) -> Subset:
    """The most pairs that the budget could buy. NP-hard: give small graphs.

    Parameters
    ----------
    graph, work, budget
        As in `greedy_max_subset`.
    induced
        Whether two rows that are kept must make their pair (Definition 6) or may leave it
        (Definition 5).
    patience_s
        Seconds after which to give up.

    Examples
    --------
    >>> square = JoinGraph(4, [[0, 0, 1, 1], [2, 3, 2, 3]])
    >>> work = WorkCost(update=1.0, produce=1.0)
    >>> exact_max_subset(square, work, 7), exact_max_subset(square, work, 7, induced=True)
    (Subset(3 pairs of 4 rows, cost 7), Subset(2 pairs of 3 rows, cost 5))

    References
    ----------
    Ayad, Naughton, Wright, Srivastava, Approximating Streaming Window Joins Under CPU Limitations,
    2005, Definitions 5 and 6, Theorem 1.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp  # slow to import
    from scipy.sparse import coo_array, hstack, vstack

    check_budget(budget)
    if not graph.pairs:
        return Subset.of_pairs(graph, np.zeros(0, bool), work)
    rows, pairs = graph.rows, graph.pairs
    # Unknowns: whether each row is kept, then whether each pair is made.
    each = np.arange(pairs)
    makes = coo_array((np.ones(pairs), (each, each)), shape=(pairs, pairs))
    ends = [coo_array((np.ones(pairs), (each, end)), shape=(pairs, rows)) for end in graph.ends]
    # The solver's tolerance is absolute, and costs may be nanoseconds: in units of the greater.
    unit = max(work.update, work.produce) or 1.0
    costs = np.repeat(np.array([work.update, work.produce]) / unit, [rows, pairs])
    # A pair needs both its rows.
    needs = vstack([hstack([-end, makes]) for end in ends])
    constraints = [
        LinearConstraint(costs[None, :], -np.inf, within(budget) / unit),
        LinearConstraint(needs, -np.inf, 0.0),
    ]
    if induced:
        both = hstack([ends[0] + ends[1], -makes])
        constraints.append(LinearConstraint(both, -np.inf, 1.0))
    solved = milp(
        np.concatenate([np.zeros(rows), -np.ones(pairs)]),
        integrality=np.ones(rows + pairs),
        bounds=Bounds(0, 1),
        constraints=constraints,
        options={"time_limit": patience_s, "mip_rel_gap": 0.0},
    )
    if solved.status != 0:
        raise SpecError(
            f"no exact answer for {rows:,} rows and {pairs:,} pairs within {patience_s:g} s "
            f"({solved.message}): give a smaller graph, or more time"
        )
    return Subset.of_pairs(graph, solved.x[rows:] > 0.5, work)
