"""The promises every policy must keep. A policy in ALL_POLICIES is checked without further ado."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.kernel import step as step_module
from headgate.kernel.layout import Count
from headgate.kernel.step import Step
from headgate.kernel.twin.twin import PlainStep
from headgate.policies import ALL_POLICIES, Heeb, Policy
from headgate.policies.kinds.flips import Flips
from headgate.sampling import ALL_SAMPLERS
from tests.checks.arrivals import (
    EVERY_ROW,
    Case,
    Part,
    budgets,
    cases,
    count_pairs,
    cuts,
    deliveries,
    exact_pairs,
    one_by_one,
    run,
    watchings,
)
from tests.checks.bumpy import Bumpy

Test = Callable[..., None]


def check(test: Test | None = None, examples: int = 20) -> Test:
    """Run a test for every policy, on generated inputs."""
    if test is None:
        return partial(check, examples=examples)
    everyone = (*ALL_POLICIES, *ALL_SAMPLERS, Heeb, Bumpy)
    every_policy = pytest.mark.parametrize("policy", everyone, ids=lambda policy: policy.name)
    careful = settings(max_examples=examples, deadline=None, derandomize=True)
    return every_policy(careful(given(data=st.data())(test)))


def assert_within_budget(case: Case, alive: Sequence[int]) -> None:
    """The stored rows fit each pool."""
    pools = ((0, 1),) if case.terms.pooled else ((0,), (1,))
    for pool, sides in enumerate(pools):
        sizes = [case.arrivals[i].size for i in alive if case.arrivals[i].side in sides]
        assert len(sizes) <= case.terms.most_rows[pool]
        assert sum(sizes) <= case.terms.most_bytes[pool]


def total(limits: tuple[int, int], pooled: bool) -> int:
    """The budget of all pools together."""
    return limits[0] if pooled else sum(limits)


@check
def test_state_never_exceeds_the_budget(policy: type[Policy], data: st.DataObject) -> None:
    case = data.draw(cases(policy))
    whole = run(case, keep_late=data.draw(st.booleans()))
    assert_within_budget(case, whole.alive)
    assert whole.count(Count.PEAK_ROWS, 0) <= total(case.terms.most_rows, case.terms.pooled)
    assert whole.count(Count.PEAK_BYTES, 0) <= total(case.terms.most_bytes, case.terms.pooled)


@check
def test_state_fits_the_budget_after_every_arrival(
    policy: type[Policy], data: st.DataObject
) -> None:
    case = data.draw(cases(policy))
    for step in run(case, one_by_one(case), keep_late=data.draw(st.booleans())).steps:
        assert_within_budget(case, step.alive)
        assert step.stored == (len(step.alive), sum(case.arrivals[i].size for i in step.alive))
        assert step.counts[Count.PEAK_ROWS][0] >= step.stored[0]
        assert step.counts[Count.PEAK_BYTES][0] >= step.stored[1]


@check
def test_a_smaller_budget_is_met_before_the_next_arrival(
    policy: type[Policy], data: st.DataObject
) -> None:
    case = data.draw(cases(policy)).with_ample_memory()
    lean = replace(case, terms=replace(case.terms, **_limits(data)))
    parts = [Part(range(len(case.arrivals))), Part([], terms=lean.terms)]
    assert_within_budget(lean, run(case, parts, keep_late=data.draw(st.booleans())).alive)


@check
def test_invents_no_pair(policy: type[Policy], data: st.DataObject) -> None:
    case = data.draw(cases(policy))
    pairs = run(case).pairs
    assert not Counter(pairs) - Counter(exact_pairs(case))


@check
def test_invents_no_pair_out_of_order(policy: type[Policy], data: st.DataObject) -> None:
    case = data.draw(cases(policy, time_windows=True))
    pairs = run(case, data.draw(deliveries(case)), keep_late=data.draw(st.booleans())).pairs
    assert not Counter(pairs) - Counter(exact_pairs(case))


@check
def test_misses_nothing_when_memory_is_ample(policy: type[Policy], data: st.DataObject) -> None:
    case = data.draw(cases(policy)).with_ample_memory()
    pairs = run(case, keep_late=data.draw(st.booleans())).pairs
    assert sorted(pairs) == exact_pairs(case)
    assert count_pairs(case) == len(pairs)


@check
def test_out_of_order_rows_join_as_if_in_order(policy: type[Policy], data: st.DataObject) -> None:
    case = data.draw(cases(policy, time_windows=True)).with_ample_memory()
    late = run(case, data.draw(deliveries(case)), keep_late=True)
    assert sorted(late.pairs) == exact_pairs(case)


@check(examples=45)
def test_kernel_agrees_with_plain_python(policy: type[Policy], data: st.DataObject) -> None:
    case = _perhaps_unique(data, data.draw(cases(policy)))
    keep_late = data.draw(st.booleans())
    watching = data.draw(watchings)
    kernel, plain = (run(case, None, keep_late, kind, watching) for kind in (Step, PlainStep))
    assert kernel == plain


@check(examples=80)
def test_kernel_agrees_with_plain_python_out_of_order(
    policy: type[Policy], data: st.DataObject
) -> None:
    case = _perhaps_unique(data, data.draw(cases(policy)))
    # Both must do the same even with a watermark that has passed some of the rows to come.
    ahead = data.draw(st.integers(0, 9))
    parts = [
        part._replace(watermark=part.watermark + ahead) for part in data.draw(deliveries(case))
    ]
    if data.draw(st.booleans()):
        terms = replace(case.terms, **_limits(data))
        at = data.draw(st.integers(0, len(parts) - 1))
        parts[at:] = [part._replace(terms=terms) for part in parts[at:]]
    keep_late = data.draw(st.booleans())
    watching = data.draw(watchings)
    runs = (run(case, parts, keep_late, kind, watching) for kind in (Step, PlainStep))
    for kernel, plain in zip(*(each.steps for each in runs), strict=True):
        assert kernel == plain


@check
def test_a_split_input_gives_the_same_answer(policy: type[Policy], data: st.DataObject) -> None:
    case = data.draw(cases(policy))
    whole = run(case)
    split = run(case, data.draw(cuts(case)), keep_late=data.draw(st.booleans()))
    assert split.pairs == whole.pairs
    for side in (0, 1):
        for what in (Count.PAIRS, Count.SHED, Count.REFUSED, Count.NULL_KEYS):
            assert split.count(what, side) == whole.count(what, side)


@check
def test_a_split_input_leaves_the_same_rows(policy: type[Policy], data: st.DataObject) -> None:
    case = _perhaps_unique(data, data.draw(cases(policy)))
    whole = run(case).steps[-1]
    runs = run(case, data.draw(cuts(case)))
    split = runs.steps[-1]
    assert runs.pairs == run(case).pairs
    assert split.alive == whole.alive
    assert split.after == whole.after
    for row in split.alive:
        assert split.histories[row] == whole.histories[row]
        assert split.sequences[row] == whole.sequences[row]


@check
def test_pairs_come_alike_in_blocks_of_any_size(policy: type[Policy], data: st.DataObject) -> None:
    case = data.draw(cases(policy))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(step_module, "PAIRS_AT_ONCE", data.draw(st.integers(1, 8)))
        in_blocks = run(case)
    assert in_blocks == run(case)


@check
def test_watching_rows_changes_nothing(policy: type[Policy], data: st.DataObject) -> None:
    case = data.draw(cases(policy))
    parts = data.draw(deliveries(case))
    keep_late = data.draw(st.booleans())
    watched = run(case, parts, keep_late, watching=data.draw(watchings))
    plain = run(case, parts, keep_late)
    assert watched.pairs == plain.pairs
    assert [step.alive for step in watched.steps] == [step.alive for step in plain.steps]
    assert [step.counts for step in watched.steps] == [step.counts for step in plain.steps]


@check
def test_watched_rows_meet_all_they_would_have_met(
    policy: type[Policy], data: st.DataObject
) -> None:
    case = data.draw(cases(policy, time_windows=True))
    late = run(case, data.draw(deliveries(case)), keep_late=True, watching=EVERY_ROW)
    last: dict[int, tuple[int, float, float]] = {}
    for step in late.steps:
        last |= step.watched
    exact = len(exact_pairs(case))
    made = sum(made for _, _, made in last.values())
    if case.terms.combine:
        assert made == sum(worth for step in late.steps for worth in step.worths)
        return
    assert sum(met for _, met, _ in last.values()) == exact
    # A sample of single pairs leaves some of them out.
    assert made >= len(late.pairs) if issubclass(policy, Flips) else made == len(late.pairs)
    assert sum(sum(map(sum, step.ages)) for step in late.steps) == exact


@check
def test_watched_rows_meet_as_many_in_blocks_of_any_size(
    policy: type[Policy], data: st.DataObject
) -> None:
    case = data.draw(cases(policy))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(step_module, "PAIRS_AT_ONCE", data.draw(st.integers(1, 4)))
        in_blocks = run(case, watching=EVERY_ROW)
    assert in_blocks == run(case, watching=EVERY_ROW)


@check
def test_every_loss_is_counted(policy: type[Policy], data: st.DataObject) -> None:
    case = data.draw(cases(policy))
    parts = data.draw(st.one_of(cuts(case), deliveries(case)))
    keep_late = data.draw(st.booleans())
    outcome = run(case, parts, keep_late)
    for side in (0, 1):
        happened = {what: outcome.count(what, side) for what in Count}
        arrived = sum(row.side == side for row in case.arrivals)
        nulls = sum(row.side == side and case.is_null(row) for row in case.arrivals)
        alive = sum(case.arrivals[i].side == side for i in outcome.alive)
        turned_away = happened[Count.REFUSED] + happened[Count.UNNEEDED] + nulls
        gone = happened[Count.SHED] + happened[Count.EXPIRED]
        retired_at_arrival = arrived - turned_away - happened[Count.ADMITTED]
        retired_later = happened[Count.ADMITTED] - gone - alive
        assert happened[Count.NULL_KEYS] == nulls
        assert min(retired_at_arrival, retired_later) >= 0
        left_over = happened[Count.RETIRED] + happened[Count.UNCHOSEN]
        assert retired_at_arrival + retired_later == left_over
        assert keep_late or happened[Count.RETIRED] == 0


@check
def test_pairs_are_missing_only_when_a_loss_was_counted(
    policy: type[Policy], data: st.DataObject
) -> None:
    case = data.draw(cases(policy, time_windows=True))
    outcome = run(case, data.draw(deliveries(case)), keep_late=True)
    if isinstance(case.terms.policy, Flips) and case.terms.policy.share < 1:
        return  # a pair may be left out of the sample while its row stays
    losses = (Count.REFUSED, Count.SHED, Count.RETIRED, Count.UNCHOSEN)
    if not any(outcome.count(what, side) for what in losses for side in (0, 1)):
        assert sorted(outcome.pairs) == exact_pairs(case)


@check
def test_unique_rows_are_stored_once_a_key_and_side(
    policy: type[Policy], data: st.DataObject
) -> None:
    case = data.draw(cases(policy))
    case = replace(case, terms=replace(case.terms, where=None, unique=True), keyed=True)
    for step in run(case, one_by_one(case)).steps:
        stored = [(case.arrivals[i].side, case.arrivals[i].key) for i in step.alive]
        assert len(set(stored)) == len(stored)


@check
def test_the_same_input_gives_the_same_output(policy: type[Policy], data: st.DataObject) -> None:
    case = data.draw(cases(policy))
    parts = data.draw(deliveries(case))
    keep_late = data.draw(st.booleans())
    assert run(case, parts, keep_late, Step) == run(case, parts, keep_late, Step)


def _perhaps_unique(data: st.DataObject, case: Case) -> Case:
    """The same join, or one that stores no key twice on a side."""
    unique = case.terms.where is None and data.draw(st.booleans())
    return replace(case, terms=replace(case.terms, unique=unique))


def _limits(data: st.DataObject) -> dict[str, object]:
    most_rows, most_bytes, pooled = data.draw(budgets())
    return {"most_rows": most_rows, "most_bytes": most_bytes, "pooled": pooled}
