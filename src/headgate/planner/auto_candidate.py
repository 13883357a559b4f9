"""What to expect of "auto" where it cannot be run, on a profile that kept a sample of the keys."""

from headgate.planner.candidates import makes_sense
from headgate.planner.planning_case import PlanningCase
from headgate.planner.tried_policies import Candidate, TriedPolicy, try_out
from headgate.policies import Age, Density, Fifo, Learned, Lru, Policy, Prob, Random
from headgate.trials.auto_recall import auto_among

LABEL = "AUTO"
WITHOUT_MODEL: tuple[type[Policy], ...] = (Fifo, Random, Lru)
WITH_MODEL: tuple[type[Policy], ...] = (Prob, Age, Density)
"""Of the policies that "auto" tries, those whose models it learns as it runs."""


def auto_of_sample(case: PlanningCase, tried: tuple[TriedPolicy, ...]) -> TriedPolicy:
    """ "auto" as the best of the policies that it would try, which learn as the join runs.

    Models of the profile stay what they are; those that are learned follow a stream that changes.
    """
    labels = {policy.name.upper() for policy in WITHOUT_MODEL}
    rivals = [each for each in tried if each.label in labels]
    for policy in WITH_MODEL:
        if makes_sense(Learned(policy.name), case.request.how):
            rivals.append(try_out(case, Candidate(LABEL, Learned(policy.name)), case.budget))
    best = max(rivals, key=lambda each: each.recall.value)
    recall = auto_among([each.recall for each in rivals])
    return TriedPolicy(
        Candidate(LABEL, Learned("auto")),
        case.budget,
        recall,
        best.made * (recall.value / max(best.recall.value, 1e-12)),
        best.met,
    )
