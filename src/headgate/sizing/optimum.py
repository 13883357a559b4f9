"""The upper bound: the recall of an offline optimum that knows the future."""

import numpy as np

from headgate.learning import Estimate
from headgate.policies.offline import Events, Opt
from headgate.spec import Budget, MaxImportance
from headgate.trials.drawn_replay import scaled_limit
from headgate.trials.simulation import simulate
from headgate.trials.trace import Trace

LABEL = "OPT"


def optimum(trace: Trace, rows: int) -> Estimate:
    """The best recall possible within a row budget, planned over a small trace and executed.

    Pairs of thinned heavy keys are weighted by the pairs they represent, so that the plan keeps
    these rows as it would with the full input.

    Parameters
    ----------
    trace
        A small trace without probe-only rows.
    rows
        The budget of the join itself.
    """
    left, right = trace.rows
    request = trace.request
    weights = trace.stands_for[0]
    worth = None
    if trace.is_thinned.any() or isinstance(request.goal, MaxImportance):
        goal = request.goal

        def worth(one: np.ndarray, other: np.ndarray) -> np.ndarray:
            stands_for: np.ndarray = weights[left.code[one]]
            if not isinstance(goal, MaxImportance):
                return stands_for
            assert left.importance is not None
            assert right.importance is not None
            own = goal.pair(left.importance[0, one], right.importance[0, other])
            worths: np.ndarray = stands_for * own
            return worths

    plan = Opt.plan(
        Events(left.time, left.code),
        Events(right.time, right.code),
        trace.windows,
        scaled_limit(rows, trace.scale.rows),
        request.budget.split,
        worth,
    )
    return simulate(trace, plan, Budget(rows=rows, split=request.budget.split, monitor=0)).recall
