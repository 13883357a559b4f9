"""Chooses the policy: runs the candidates and takes the simplest within noise of the best."""

from dataclasses import replace

from headgate.planner.auto_candidate import auto_of_sample
from headgate.planner.candidates import by_age, by_key, candidates
from headgate.planner.draft import Draft
from headgate.planner.planning_case import PlanningCase
from headgate.planner.tried_policies import Candidate, TriedPolicy, try_out
from headgate.policies import Age, Life, Policy, Prob
from headgate.policies.offline.planned import Planned
from headgate.profiles.durations import about
from headgate.spec import MaxImportance, Sample, SpecError


def plan_policy(case: PlanningCase, draft: Draft) -> Draft:
    """Run the candidates and choose; a requested policy only gets its model."""
    asked = case.request.policy
    if isinstance(case.request.goal, Sample):
        return draft
    if asked.is_offline or isinstance(asked, Planned):
        raise SpecError(
            f'policy "{asked.label.lower()}" is itself a plan of the whole input: '
            f'give policy="auto" to have one chosen'
        )
    if isinstance(case.request.goal, MaxImportance):
        note = (
            "a profile does not know what rows are worth, so policies were not tried: the join "
            "does what it was asked for"
        )
        return replace(draft, as_asked=True, notes=(*draft.notes, note))
    if case.trace is None:
        return _without_rows(case, draft)
    own = asked_for(case)
    if case.fits_easily and own is None:
        # Nothing distinguishes the policies yet; this one learns as rows arrive.
        adapts = try_out(case, Candidate("AUTO", asked), case.budget)
        return _settled(draft, adapts, (adapts,))
    if not case.can_judge:
        note = (
            f"the profile covers {about(case.profile.span_us)}, less than two windows: too little "
            f"to learn models on one half and judge them on the other"
        )
        draft = replace(draft, notes=(*draft.notes, note))
    tried = tuple(try_out(case, each, case.budget) for each in candidates(case))
    if not case.profile_is_whole and case.request.budget.monitor != 0:
        tried = (*tried, auto_of_sample(case, tried))
    if own is not None:
        chosen = next((each for each in tried if each.label == own.label), None)
        if chosen is None or chosen.candidate.policy != own.policy:
            chosen = try_out(case, own, case.budget)
        others = tuple(each for each in tried if each.label != own.label)
        return _settled(draft, chosen, (*others, chosen), as_asked=True)
    return _settled(draft, best_of(tried), tried)


def best_of(tried: tuple[TriedPolicy, ...]) -> TriedPolicy:
    """The first (simplest) candidate that the best does not beat by more than noise."""
    best = max(tried, key=lambda each: each.recall.value)
    return next(each for each in tried if not best.beats(each))


def asked_for(case: PlanningCase) -> Candidate | None:
    """The requested policy, with its model where it needs one; None where it is to be chosen."""
    asked = case.request.policy
    if asked.learned is None:
        return Candidate(asked.label, asked, _model_of(asked))
    wanted = asked.asked_name
    if wanted == "auto":
        return None
    if wanted == Age.name:
        return by_age(case)
    return by_key(case, Prob if wanted == Prob.name else Life)


def _model_of(policy: Policy) -> str:
    return {"ages": "age", "frequencies": "frequency", "processes": "process"}.get(
        policy.model, "none"
    )


def _settled(
    draft: Draft, chosen: TriedPolicy, tried: tuple[TriedPolicy, ...], as_asked: bool = False
) -> Draft:
    notes = draft.notes
    if chosen.hindsight:
        notes = (*notes, "the policy was judged on the rows it was told of, which flatters it")
    return replace(
        draft,
        policy=chosen.candidate.policy,
        chosen=chosen,
        tried=tried,
        as_asked=as_asked,
        notes=notes,
    )


def _without_rows(case: PlanningCase, draft: Draft) -> Draft:
    """Choose by the model that explains the matches best."""
    note = "the profile has no rows to try policies on: what is expected follows from its model"
    draft = replace(draft, notes=(*draft.notes, note))
    if case.request.policy.learned is None:
        return replace(draft, as_asked=True)
    better = case.profile.explains.better
    wanted = case.request.policy.asked_name
    told: dict[str, Policy] = {
        Age.name: Age(case.ages),
        Prob.name: Prob(case.frequencies),
        Life.name: Life(case.frequencies),
    }
    if wanted != "auto":
        return replace(draft, policy=told[wanted], as_asked=True)
    by_model = {"age": told[Age.name], "frequency": told[Prob.name]}
    return replace(draft, policy=by_model.get(better or "", case.request.policy))
