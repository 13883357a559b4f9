"""The upper bound: what a policy that knows the future could make of a budget, and no other more.

Over a small trace it is the optimum itself. Where that would take long, or needs a solver that is
not installed, it is a bound by prices, and what a plan makes is told beside it.
"""

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from headgate.learning import Estimate
from headgate.policies.offline import Ceiling, Events, Opt
from headgate.spec import Budget, MaxImportance
from headgate.trials.drawn_replay import scaled_limit
from headgate.trials.simulation import simulate
from headgate.trials.trace import Trace

LABEL = "OPT"
MOST_SOLVED, PAIRS_A_ROW = 12_000, 20
"""Rows, and pairs of each, up to which the optimum is solved: with more it takes long."""


def is_solved(trace: Trace) -> bool:
    """Whether the optimum itself is found, not a bound."""
    many = trace.count > MOST_SOLVED or trace.met.total > PAIRS_A_ROW * trace.count
    return not many and find_spec("ortools") is not None


def optimum(trace: Trace, rows: int) -> Estimate:
    """The best recall possible within a row budget: planned over a trace, and executed.

    Where it is a bound, that is the value, and the interval goes down to what a plan makes. Pairs
    of thinned heavy keys are weighted by the pairs they represent, so that the plan keeps these
    rows as it would with the full input.

    Parameters
    ----------
    trace
        A trace without probe-only rows.
    rows
        The budget of the join itself.
    """
    left, right = (Events(side.time, side.code) for side in trace.rows)
    split, memory = trace.request.budget.split, scaled_limit(rows, trace.scale.rows)
    budget = Budget(rows=rows, split=split, monitor=0)
    worth = _worth(trace)
    if is_solved(trace):
        plan = Opt.plan(left, right, trace.windows, memory, split, worth)
        return simulate(trace, plan, budget).recall
    bound = Ceiling.of(left, right, trace.windows, memory, split, worth)
    made = simulate(trace, bound.plan, budget).recall
    most = min(max(bound.value / max(trace.met.total, 1e-300), made.value), 1.0)
    return Estimate(most, made.low, min(most + made.high - made.value, 1.0))


def _worth(trace: Trace) -> "Callable[[np.ndarray, np.ndarray], np.ndarray] | None":
    """What pairs are worth, by the numbers of their rows; None where they count alike."""
    goal, (left, right) = trace.request.goal, trace.rows
    if not (trace.is_thinned.any() or isinstance(goal, MaxImportance)):
        return None
    weights = trace.stands_for[0]

    def worth(one: np.ndarray, other: np.ndarray) -> np.ndarray:
        stands_for: np.ndarray = weights[left.code[one]]
        if not isinstance(goal, MaxImportance):
            return stands_for
        assert left.importance is not None
        assert right.importance is not None
        own = goal.pair(left.importance[0, one], right.importance[0, other])
        worths: np.ndarray = stands_for * own
        return worths

    return worth
