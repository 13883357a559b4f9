"""Greedy heuristics: components with the most pairs per cost first, then the cheapest pairs."""

import numpy as np

from headgate.models.cost import WorkCost
from headgate.policies.offline.subset.join_graph import JoinGraph, Subset, check_budget, within


def greedy_max_subset(
    graph: JoinGraph, work: WorkCost, budget: float, as_printed: bool = False
) -> Subset:
    """Whole components while they fit; of the first that does not, the cheapest pairs.

    Takes O(pairs · log pairs).

    Parameters
    ----------
    graph
        All pairs there could be.
    work
        C_u for a row, C_p for a pair.
    budget
        What rows and pairs may cost together.
    as_printed
        Take the last component's pairs in *descending* C(e), as the paper prints it. It is a cost,
        so the dearest come first; ascending is what is meant.

    Examples
    --------
    A star of three pairs brings more for its cost than a pair by itself:

    >>> graph = JoinGraph(6, [[0, 0, 0, 4], [1, 2, 3, 5]])
    >>> greedy_max_subset(graph, WorkCost(update=1.0, produce=0.0), budget=4)
    Subset(3 pairs of 4 rows, cost 4)

    References
    ----------
    Ayad, Naughton, Wright, Srivastava, Approximating Streaming Window Joins Under CPU Limitations,
    2005, Figure 1, Equations 3 and 4.
    """
    made, spent, last = _whole_components(graph, work, budget)
    kept = np.zeros(graph.rows, bool)
    for pair in _by_cost(graph, last, work, descending=as_printed):
        ends = graph.ends[:, pair]
        more = work.of_work(0.0, float((~kept[ends]).sum()), 1.0)
        if spent + more > within(budget):
            break
        spent += more
        kept[ends] = made[pair] = True
    return Subset.of_pairs(graph, made, work)


def greedy_induced_subset(graph: JoinGraph, work: WorkCost, budget: float) -> Subset:
    """The same with rows taken whole: two rows that are kept make their pair.

    Of the first component that does not fit, the ends of the cheapest pairs are kept, each with
    all the pairs it makes with rows already there, as long as that fits.

    Examples
    --------
    Keeping a row of the square brings two pairs, and both must be paid:

    >>> square = JoinGraph(4, [[0, 0, 1, 1], [2, 3, 2, 3]])
    >>> greedy_induced_subset(square, WorkCost(update=1.0, produce=1.0), budget=7)
    Subset(2 pairs of 3 rows, cost 5)

    References
    ----------
    Ayad, Naughton, Wright, Srivastava, 2005, Definition 6; the paper gives no heuristic for it.
    """
    made, spent, last = _whole_components(graph, work, budget)
    pairs_of = _pairs_of_rows(graph)
    kept = np.zeros(graph.rows, bool)
    for pair in _by_cost(graph, last, work):
        new = graph.ends[:, pair][~kept[graph.ends[:, pair]]]
        if not len(new):
            continue
        kept[new] = True
        around = np.unique(np.concatenate([pairs_of[row] for row in new]))
        brought = around[kept[graph.ends[:, around]].all(axis=0)]
        more = work.of_work(0.0, float(len(new)), float(len(brought)))
        if spent + more <= within(budget):
            spent += more
            made[brought] = True
        else:
            kept[new] = False
    return Subset.of_pairs(graph, made, work)


def _whole_components(
    graph: JoinGraph, work: WorkCost, budget: float
) -> tuple[np.ndarray, float, np.ndarray]:
    """Pairs of the components that fit whole, their cost, and the pairs of the first that does not.

    Components come by C(G') = |E'| / F(G'), the most for the cost first.
    """
    check_budget(budget)
    of_row = graph.components()
    of_pair = of_row[graph.ends[0]]
    count = int(of_row.max(initial=-1)) + 1
    pairs = np.bincount(of_pair, minlength=count)
    rows = np.bincount(of_row, minlength=count)
    # Rows that match nothing are components without pairs: they come last and are not kept.
    costs = np.where(pairs > 0, work.update * rows + work.produce * pairs, 0.0)
    gained = np.divide(pairs, costs, out=np.where(pairs > 0, np.inf, -1.0), where=costs > 0)
    order = np.argsort(-gained, kind="stable")
    spent = np.cumsum(costs[order])
    whole = int(np.searchsorted(spent, within(budget), side="right"))
    rank = np.empty(count, np.int64)
    rank[order] = np.arange(count)
    of_pair = rank[of_pair]
    before = float(spent[whole - 1]) if whole else 0.0
    return of_pair < whole, before, np.flatnonzero(of_pair == whole)


def _by_cost(
    graph: JoinGraph, pairs: np.ndarray, work: WorkCost, descending: bool = False
) -> np.ndarray:
    """Pairs by C(e): what it costs to make them, and their rows shared out over all their pairs."""
    share = 1 / graph.degree[graph.ends[:, pairs]]
    costs = work.produce + work.update * share.sum(axis=0)
    ordered: np.ndarray = pairs[np.argsort(-costs if descending else costs, kind="stable")]
    return ordered


def _pairs_of_rows(graph: JoinGraph) -> list[np.ndarray]:
    by_row = np.argsort(graph.ends.ravel(), kind="stable") % max(graph.pairs, 1)
    return np.split(by_row, np.cumsum(graph.degree)[:-1])
