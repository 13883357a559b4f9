"""The ceiling: what a policy that knew all that was to come would make of the same memory."""

import numpy as np

from headgate.learning import Estimate
from headgate.policies.offline import Events, Opt
from headgate.spec import Budget, MaxImportance
from headgate.trials import Trace, simulate
from headgate.trials.drawn_replay import scaled_limit

LABEL = "OPT"


def optimum(trace: Trace, rows: int) -> Estimate:
    """The most that can be made within so many rows, planned over a small trace and carried out.

    Where rows of heavy keys were left out, their pairs count for as many as they stand for, so
    that the plan keeps them as it would with all rows there.

    Parameters
    ----------
    trace
        Few rows, none of them there only to look for partners.
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
