"""Chooses the work to skip under a CPU budget: the shares of rows that probe and are stored."""

from dataclasses import replace

from headgate.models.skipping import Workload, best_plan
from headgate.planner.draft import Draft, SkippedWork
from headgate.planner.planning_case import PlanningCase
from headgate.spec.quantity import SECOND_US

FORESEEN = 0.8
"""Where key counts predict less than this share of the pairs, keys are not distinguished."""


def plan_effort(case: PlanningCase, draft: Draft) -> Draft:
    """Skip nothing where the join fits the CPU budget; else use the best shares."""
    cpu = case.request.budget.cpu
    if cpu is None:
        return draft
    work = workload(case, cpu)
    taken = cost_within_memory(case, 1.0 if draft.chosen is None else draft.chosen.recall.value)
    if taken <= cpu:
        return replace(draft, effort=SkippedWork(None, taken, work.exact_cost))
    plan = best_plan(work)
    return replace(draft, effort=SkippedWork(plan, plan.cost, work.exact_cost))


def cost_within_memory(case: PlanningCase, recall: float) -> float:
    """CPU time of the join at the recall that memory allows, in cores."""
    stored = sum(rate for rate, does in zip(case.rates, case.stores, strict=True) if does)
    return case.costs.of(sum(case.rates), stored, case.pairs_a_second * recall)


def workload(case: PlanningCase, cpu: float) -> Workload:
    """The join's work per second, by key where key frequencies are known."""
    costs = case.costs
    left, right = (span / SECOND_US for span in case.windows_us)
    priced = (costs.store, costs.pair, cpu, costs.arrive)
    by_key = Workload.of_frequencies(case.profile.frequencies, case.rates, (left, right), *priced)
    if FORESEEN * case.pairs_a_second <= by_key.exact_output <= case.pairs_a_second / FORESEEN:
        return by_key
    met = case.rates[0] * case.rates[1] * (left + right)
    chance = min(case.pairs_a_second / met, 1.0) if met else 0.0
    return Workload.of_selectivity(chance, case.rates, (left, right), *priced)
