"""States what to expect: recall with its interval, sample error, CPU time, exact join's needs."""

from dataclasses import replace

from headgate.planner.draft import Draft, Expectation
from headgate.planner.model_estimates import recall_by_model
from headgate.planner.planning_case import PlanningCase
from headgate.planner.rules.effort import cost_within_memory
from headgate.spec import How, MaxImportance

TRIED = "tried on the profile's rows"
BY_MODEL = "by the model alone"
BY_WORK = "by the cost of work, which is another on every machine"


def plan_expectation(case: PlanningCase, draft: Draft) -> Draft:
    """Take the expectation from the chosen policy's trial run, or from formulas without one."""
    recall, low, high, basis = _recall(case, draft)
    fifo = next((each.recall.value for each in draft.tried if each.label == "FIFO"), None)
    expect = Expectation(
        recall=recall,
        low=low,
        high=high,
        basis=basis,
        error=None if draft.sampling is None else draft.sampling.error,
        cores=_cores(case, draft, recall),
        rows=case.needed_rows,
        bytes=case.needed_bytes,
        fifo=fifo,
    )
    return replace(draft, expect=expect)


def _recall(
    case: PlanningCase, draft: Draft
) -> tuple[float | None, float | None, float | None, str]:
    if draft.sampling is not None:
        return None, None, None, BY_MODEL
    if isinstance(case.request.goal, MaxImportance):
        return None, None, None, "not known"
    value: float | None
    if draft.chosen is not None:
        found = draft.chosen.recall
        value, low, high, basis = found.value, found.low, found.high, TRIED
    else:
        model = draft.model.name if draft.model else "none"
        inner = case.request.how == How.INNER
        value, low, high, basis = (
            recall_by_model(case, model) if inner else None,
            None,
            None,
            BY_MODEL,
        )
    if draft.effort is not None and draft.effort.plan is not None:
        most = draft.effort.plan.recall
        return most if value is None else min(value, most), None, None, BY_WORK
    return value, low, high, basis


def _cores(case: PlanningCase, draft: Draft, recall: float | None) -> float:
    """CPU time of the join itself, in cores."""
    if draft.effort is not None:
        return draft.effort.takes
    return cost_within_memory(case, 1.0 if recall is None else recall)
