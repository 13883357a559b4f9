"""The promises every policy must keep. A policy in ALL_POLICIES is checked without further ado.

Each generated input is run a few times, and all promises are asserted of the same runs.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.kernel import step as step_module
from headgate.kernel.layout import Count
from headgate.kernel.step import Step
from headgate.kernel.terms import Terms
from headgate.kernel.twin.twin import Twin
from headgate.policies import ALL_POLICIES, Features, Heeb, Policy
from headgate.policies.kinds.flips import Flips
from headgate.sampling import ALL_SAMPLERS
from headgate.spec import TimeWindow
from tests.checks.arrivals import Case, exact_pairs
from tests.checks.bumpy import Bumpy
from tests.checks.generated import budgets, cases, cuts, deliveries, one_by_one, watchings
from tests.checks.runs import EVERY_ROW, Part, Run, Snapshot, count_pairs, run
from tests.thoroughness import examples

Test = Callable[..., None]
EVERYONE = (*ALL_POLICIES, Features, *ALL_SAMPLERS, Heeb, Bumpy)


def check(count: int) -> Callable[[Test], Test]:
    """Run a test for every policy, on so many generated inputs."""
    every_policy = pytest.mark.parametrize("policy", EVERYONE, ids=lambda policy: policy.name)
    return lambda test: every_policy(examples(count)(given(data=st.data())(test)))


@check(18)
def test_in_order(policy: type[Policy], data: st.DataObject) -> None:
    """The kernel agrees with plain Python; a split input, or pairs in blocks of any size, give the
    same answer; the budget is kept, no pair invented, every loss counted."""
    case = _perhaps_unique(data, data.draw(cases(policy)))
    # Where rows of a key are stored once, one that is kept for late rows stands in the way.
    late_or_not = st.just(False) if case.terms.unique else st.booleans()
    keep_late, watching = data.draw(late_or_not), data.draw(watchings)
    whole = run(case, None, keep_late, Step, watching)
    assert whole == run(case, None, keep_late, Twin, watching)
    assert_within_budget(case, case.terms, whole.steps[-1])
    assert_counted(case, whole, keep_late)
    assert not Counter(whole.pairs) - Counter(exact_pairs(case))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(step_module, "PAIRS_AT_ONCE", data.draw(st.integers(1, 8)))
        assert run(case, None, keep_late, Step, watching) == whole

    split_keeps_late = data.draw(late_or_not)
    split = run(case, data.draw(cuts(case)), split_keeps_late)
    assert_counted(case, split, split_keeps_late)
    assert split.pairs == whole.pairs
    for what in (Count.PAIRS, Count.SHED, Count.REFUSED, Count.NULL_KEYS):
        assert [split.count(what, side) for side in (0, 1)] == [
            whole.count(what, side) for side in (0, 1)
        ]
    if not keep_late and not split_keeps_late:
        assert_same_rows_left(split.steps[-1], whole.steps[-1])


@check(20)
def test_out_of_order(policy: type[Policy], data: st.DataObject) -> None:
    """The kernel agrees with plain Python after every step; watching rows changes nothing; the
    budget is kept when it changes on the way, no pair invented, every loss counted."""
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
    keep_late, watching = data.draw(st.booleans()), data.draw(watchings)
    kernel, plain = (run(case, parts, keep_late, kind, watching) for kind in (Step, Twin))
    for one, other in zip(kernel.steps, plain.steps, strict=True):
        assert one == other
    for part, step in zip(parts, kernel.steps, strict=True):
        assert_within_budget(case, part.terms or case.terms, step)
    assert_counted(case, kernel, keep_late)
    if all(isinstance(window, TimeWindow) for window in case.windows):
        assert not Counter(kernel.pairs) - Counter(exact_pairs(case))
    unwatched = run(case, parts, keep_late)
    assert [_seen(step) for step in unwatched.steps] == [_seen(step) for step in kernel.steps]


@check(10)
def test_ample_memory(policy: type[Policy], data: st.DataObject) -> None:
    """Nothing is missed, in order or not; a smaller budget is met before the next arrival."""
    case = data.draw(cases(policy)).with_ample_memory()
    lean = replace(case.terms, **_limits(data))
    keep_late = data.draw(st.booleans())
    whole, after = run(
        case, [Part(range(len(case.arrivals))), Part([], terms=lean)], keep_late
    ).steps
    exact = exact_pairs(case)
    assert sorted(whole.pairs) == exact
    assert count_pairs(case) == len(exact)
    assert_within_budget(case, lean, after)
    if all(isinstance(window, TimeWindow) for window in case.windows):
        late = run(case, data.draw(deliveries(case)), keep_late=True)
        assert sorted(late.pairs) == exact


@check(10)
def test_late_rows_within_a_budget(policy: type[Policy], data: st.DataObject) -> None:
    """Watched rows meet all they would have met; pairs are missing only where a loss was counted;
    the same input gives the same output."""
    case = data.draw(cases(policy, time_windows=True))
    parts = data.draw(deliveries(case))
    late = run(case, parts, keep_late=True, watching=EVERY_ROW)
    assert run(case, parts, keep_late=True, watching=EVERY_ROW) == late
    exact = exact_pairs(case)
    losses = (Count.REFUSED, Count.SHED, Count.RETIRED, Count.UNCHOSEN)
    is_lossless = not any(late.count(what, side) for what in losses for side in (0, 1))
    # A pair may be left out of a sample while its row stays.
    if is_lossless and not (isinstance(case.terms.policy, Flips) and case.terms.policy.share < 1):
        assert sorted(late.pairs) == exact
    last: dict[int, tuple[int, float, float]] = {}
    for step in late.steps:
        last |= step.watched
    made = sum(made for _, _, made in last.values())
    if case.terms.combine:
        assert made == sum(worth for step in late.steps for worth in step.worths)
        return
    assert sum(met for _, met, _ in last.values()) == len(exact)
    # A sample of single pairs leaves some of them out.
    assert made >= len(late.pairs) if issubclass(policy, Flips) else made == len(late.pairs)
    assert sum(sum(map(sum, step.ages)) for step in late.steps) == len(exact)


@check(6)
def test_row_by_row(policy: type[Policy], data: st.DataObject) -> None:
    """The budget is kept after every arrival; unique rows are stored once a key and side."""
    case = _perhaps_unique(data, data.draw(cases(policy)))
    for step in run(case, one_by_one(case), keep_late=data.draw(st.booleans())).steps:
        assert_within_budget(case, case.terms, step)
        if case.terms.unique:
            stored = [(case.arrivals[i].side, case.arrivals[i].key) for i in step.alive]
            assert len(set(stored)) == len(stored)


def assert_within_budget(case: Case, terms: Terms, step: Snapshot) -> None:
    """The stored rows fit each pool, and are told truly, as is the most there was."""
    pools = ((0, 1),) if terms.pooled else ((0,), (1,))
    for pool, sides in enumerate(pools):
        sizes = [case.arrivals[i].size for i in step.alive if case.arrivals[i].side in sides]
        assert len(sizes) <= terms.most_rows[pool]
        assert sum(sizes) <= terms.most_bytes[pool]
    stored = (len(step.alive), sum(case.arrivals[i].size for i in step.alive))
    peak = (step.counts[Count.PEAK_ROWS][0], step.counts[Count.PEAK_BYTES][0])
    assert step.stored == stored
    for most, now, limits in zip(peak, stored, (terms.most_rows, terms.most_bytes), strict=True):
        assert now <= most
        assert most <= (limits[0] if terms.pooled else sum(limits)) or terms is not case.terms


def assert_counted(case: Case, outcome: Run, keep_late: bool) -> None:
    """Every row that is not stored at the end is counted under one cause."""
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


def assert_same_rows_left(one: Snapshot, other: Snapshot) -> None:
    """The same rows are stored, with the same past."""
    assert one.alive == other.alive
    assert one.after == other.after
    for row in one.alive:
        assert one.histories[row] == other.histories[row]
        assert one.sequences[row] == other.sequences[row]


def _seen(step: Snapshot) -> tuple[Sequence[tuple[int, int]], Sequence[int], list[list[int]]]:
    """What watching must not change."""
    return step.pairs, step.alive, step.counts


def _perhaps_unique(data: st.DataObject, case: Case) -> Case:
    """The same join, or one that stores no key twice on a side."""
    unique = case.terms.where is None and data.draw(st.booleans())
    return replace(case, terms=replace(case.terms, unique=unique))


def _limits(data: st.DataObject) -> dict[str, object]:
    most_rows, most_bytes, pooled = data.draw(budgets())
    return {"most_rows": most_rows, "most_bytes": most_bytes, "pooled": pooled}
