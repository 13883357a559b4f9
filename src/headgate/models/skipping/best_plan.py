"""The best known plan for a workload, under CPU and memory limits."""

from dataclasses import replace

from headgate.models.skipping.capacity import Rows, fits
from headgate.models.skipping.drop_and_store import drop_and_store
from headgate.models.skipping.probe_no_insert import NAME as PNI
from headgate.models.skipping.semantic_pni import NAME as SEMANTIC_PNI
from headgate.models.skipping.semantic_pni import semantic_pni
from headgate.models.skipping.skipping_plan import SkippingPlan
from headgate.models.skipping.workload import Workload

EXACT = "exact"
WORTH_DROPPING = 1.001
"""The gain, as a factor, required before rows are dropped unprocessed: nothing can be learned from
rows that are not processed."""


def best_plan(workload: Workload, rows: Rows = None) -> SkippingPlan:
    """Choose which rows to process and store, for the most pairs within CPU time and memory.

    The exact join where it is affordable. Otherwise all rows probe and those with the most output
    per cost are stored (`semantic_pni`), which is optimal where arrivals themselves cost nothing.
    Where arrivals cost so much that dropping some rows unprocessed gives more, `drop_and_store` is
    used. Where nothing is known of the keys, all rows are one class and this is PNI: one share per
    side.

    O(classes · log classes), about fifty times that where both CPU and memory limits bind. Linear
    programs are solved only where each side has a memory limit of its own, or where rows are
    dropped and memory is short.

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
    SkippingPlan(semantic PNI: recall 0.590, 306.7 pairs for 36 of 36)
    >>> best_plan(join.pooled())
    SkippingPlan(PNI: recall 0.500, 260 pairs for 36 of 36)
    >>> best_plan(join.within(100))
    SkippingPlan(exact: recall 1.000, 520 pairs for 72 of 100)
    """
    whole = SkippingPlan.of(workload, EXACT, (1.0, 1.0), (1.0, 1.0))
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
