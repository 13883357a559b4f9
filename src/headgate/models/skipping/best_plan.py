"""The best known plan for a workload, whatever it is limited by."""

from dataclasses import replace

from headgate.models.skipping.capacity import Rows, fits
from headgate.models.skipping.drop_and_store import drop_and_store
from headgate.models.skipping.probe_no_insert import NAME as PNI
from headgate.models.skipping.semantic_pni import NAME as SEMANTIC_PNI
from headgate.models.skipping.semantic_pni import semantic_pni
from headgate.models.skipping.skipping_plan import Plan
from headgate.models.skipping.workload_problem import Workload

EXACT = "exact"
WORTH_DROPPING = 1.001
"""How much more must be gained before rows are dropped unseen that could have been looked at: what
is not seen cannot be learned from."""


def best_plan(workload: Workload, rows: Rows = None) -> Plan:
    """What to look at and what to store, for the most pairs within processor time and memory.

    The whole join where it is affordable. Otherwise all rows probe and those are stored that bring
    the most a cost (`semantic_pni`), the best there is where looking at a row costs nothing by
    itself. Where looking costs so much that more comes of dropping some rows unseen, that
    (`drop_and_store`). Where all rows are of one class, since nothing is known of the keys, this
    is PNI: a share a side.

    O(classes · log classes), some fifty times that where memory is limited too and both limits
    bind. Linear programs are solved only where each side has a memory limit of its own, or where
    rows are dropped and memory is short.

    Parameters
    ----------
    workload
        The join, its costs and its budget.
    rows
        The most rows that may be stored: both sides together, or each side's own. None sets no
        limit.

    Examples
    --------
    >>> join = Workload([8, 2], [1, 9], windows=(10, 10), update=1, produce=0.1, budget=36)
    >>> best_plan(join)
    Plan(semantic PNI: recall 0.590, 306.7 pairs for 36 of 36)
    >>> best_plan(join.pooled())
    Plan(PNI: recall 0.500, 260 pairs for 36 of 36)
    >>> best_plan(join.within(100))
    Plan(exact: recall 1.000, 520 pairs for 72 of 100)
    """
    whole = Plan.of(workload, EXACT, (1.0, 1.0), (1.0, 1.0))
    if workload.is_feasible and fits(whole.stored, rows):
        return whole
    plan = semantic_pni(workload, rows)
    if workload.look > 0:
        dropped = drop_and_store(workload, rows)
        if not plan.feasible or dropped.output > WORTH_DROPPING * plan.output:
            plan = dropped
        else:
            plan = replace(plan, bound=dropped.bound)
    if workload.classes == 1:
        plan = replace(plan, name=plan.name.replace(SEMANTIC_PNI, PNI))
    return plan
