"""The policies that a plan chooses from, simplest first."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from headgate.models import ExponentialLife
from headgate.planner.fitted_models import (
    Moving,
    Span,
    ages_between,
    frequencies_between,
    moving_between,
)
from headgate.planner.planning_case import PlanningCase
from headgate.planner.tried_policies import Candidate
from headgate.policies import Age, Fifo, Heeb, Learned, Life, Lru, Policy, Prob, Random
from headgate.spec import How, SpecError, TimeWindow

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def candidates(case: PlanningCase) -> tuple[Candidate, ...]:
    """Every policy that can be tried on the case's rows.

    Policies without a model come first, then those that use a model from the profile, and last the
    one that learns while it runs, which spends part of the memory on learning.
    """
    kept = case.profile.trace
    assert kept is not None
    found = [
        Candidate("FIFO", Fifo()),
        Candidate("RANDOM", Random(case.request.seed)),
    ]
    if not kept.looking.any():
        # Where rows of heavy keys were left out, their histories show too few matches.
        found.append(Candidate("LRU", Lru()))
    if case.can_judge:
        found += [by_age(case), by_key(case, Prob), by_key(case, Life)]
        moving = by_process(case)
        if moving is not None:
            found.append(moving)
    if kept.is_whole and case.request.budget.monitor != 0:
        # Of a sample it would learn too little: see `auto_of_sample`.
        found.append(Candidate("AUTO", Learned("auto")))
    return tuple(each for each in found if makes_sense(each.policy, case.request.how))


def makes_sense(policy: Policy, how: How) -> bool:
    """Whether a policy can serve a join of this kind."""
    try:
        policy.check_kind(how)
    except SpecError:
        return False
    return True


def by_age(case: PlanningCase) -> Candidate:
    """AGE with the profile's curves."""
    kept = case.profile.trace
    assert kept is not None
    return Candidate(
        "AGE",
        Age(case.ages),
        "age",
        lambda span: Age(ages_between(kept, case.windows_us, span)),
    )


def by_key(case: PlanningCase, kind: type[Prob] | type[Life]) -> Candidate:
    """PROB or LIFE with the profile's key counts."""
    kept, skew = case.profile.trace, case.profile.skew
    assert kept is not None
    listed = (
        skew.left.listed / max(skew.left.keys, 1),
        skew.right.listed / max(skew.right.keys, 1),
    )
    return Candidate(
        kind.name.upper(),
        kind(case.frequencies),
        "frequency",
        lambda span: kind(
            replace(
                frequencies_between(kept, case.key_names, listed, span), rows_per_second=case.rates
            )
        ),
    )


def by_process(case: PlanningCase) -> Candidate | None:
    """HEEB with stochastic processes fitted to the values; None where values do not move."""
    kept = case.profile.trace
    assert kept is not None
    moving = moving_between(kept, None)
    if moving is None:
        return None
    told = heeb_of(case, moving)

    def learned(span: Span | None) -> Policy:
        part = moving_between(kept, span)
        return told if part is None else heeb_of(case, part)

    return Candidate("HEEB", told, "process", learned)


def heeb_of(case: PlanningCase, moving: Moving) -> Heeb:
    """HEEB sized for the memory available."""
    heeb = Heeb(
        *moving.processes,
        every=TimeWindow(moving.step_us),
        start=EPOCH + timedelta(microseconds=moving.start_us),
        rates=moving.rates,
    )
    arriving = sum(rate for rate, stores in zip(moving.rates, case.stores, strict=True) if stores)
    rows = min(case.room, case.needed_rows)
    return replace(heeb, survival=ExponentialLife.of_budget(max(rows, 1.0), max(arriving, 1e-9)))
