"""Chooses the index of each window: the cheapest on this machine, where it was calibrated."""

from dataclasses import replace

from headgate.kernel.index_choice import cheapest_indexes, chosen_indexes
from headgate.planner.draft import Draft
from headgate.planner.planning_case import PlanningCase


def plan_index(case: PlanningCase, draft: Draft) -> Draft:
    """Use the requested index; else the cheapest on a calibrated machine; else the default.

    Where no index is set, the join may still choose one by its rates on a calibrated machine.
    """
    if draft.rates is None and draft.sampling is None and min(case.rates) > 0:
        draft = replace(draft, rates=case.rates)
    if draft.index is not None:
        return replace(draft, shown_index=draft.index)
    found = None
    if case.calibration is not None:
        keys = max(case.profile.skew.left.keys, case.profile.skew.right.keys)
        found = cheapest_indexes(case.request.windows, case.rates, keys, True, case.room)
    return replace(draft, index=found, shown_index=found or chosen_indexes(None, None))
