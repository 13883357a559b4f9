"""Which structure each window is kept in: the cheapest on the machine at hand, where measured."""

from dataclasses import replace

from headgate.kernel.index_choice import cheapest_indexes, chosen_indexes
from headgate.planner.draft import Draft
from headgate.planner.planning_case import Case


def plan_index(case: Case, draft: Draft) -> Draft:
    """As asked for; else the cheapest, where the machine was calibrated; else the usual.

    Where the join is not told, it may yet choose on a machine that was: by the rates.
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
