"""Outer, semi and anti joins under every policy: never a wrong row, and what is not known is said.

The exact answer is found by brute force; the rule of what is undecided is applied to what was
stored after every single arrival.
"""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.kernel import step as step_module
from headgate.kernel.layout import Count, Fate
from headgate.kernel.step import Step
from headgate.kernel.twin.twin import Twin
from headgate.policies import ALL_POLICIES, Features, Heeb
from headgate.spec import How, RowWindow, TimeWindow
from tests.checks.arrivals import Case, exact_pairs
from tests.checks.bumpy import Bumpy
from tests.checks.generated import cases, cuts, deliveries, one_by_one, watchings
from tests.checks.runs import KEYS, Part, Run, run
from tests.thoroughness import examples, spread

EVERYONE = (*ALL_POLICIES, Features, Heeb, Bumpy)
NAMES = {policy.name: policy for policy in EVERYONE}
KINDS = tuple(how for how in How if how != How.INNER)


def joins(data: st.DataObject, policy: str, how: How, time_windows: bool = False) -> Case:
    """A join of this kind under a policy."""
    case = data.draw(cases(NAMES[policy], time_windows))
    slots = data.draw(st.sampled_from((1, 2, 3, 64)))
    terms = replace(
        case.terms,
        how=how,
        filter_slots=slots,
        shows_undecided=any(how.outer) and data.draw(st.booleans()),
    )
    return replace(case, terms=terms)


every_policy_and_kind = pytest.mark.parametrize(("policy", "how"), spread(NAMES, KINDS, apart=5))


@every_policy_and_kind
@examples(9)
@given(data=st.data())
def test_in_order(policy: str, how: How, data: st.DataObject) -> None:
    """The kernel agrees with plain Python, however the input is cut; no row is wrong, and undecided
    are exactly those rows of which nothing can be known."""
    case = joins(data, policy, how)
    keep_late, watching = data.draw(st.booleans()), data.draw(watchings)
    whole = run(case, None, keep_late, Step, watching)
    assert whole == run(case, None, keep_late, Twin, watching)
    assert_no_wrong_row(case, whole)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(step_module, "PAIRS_AT_ONCE", data.draw(st.integers(1, 8)))
        assert run(case, None, keep_late, Step, watching) == whole
    in_order = run(case)
    split = run(case, data.draw(cuts(case)))
    assert outcome(split, case) == outcome(in_order, case)
    assert_as_ruled(case, run(case, one_by_one(case)))


@every_policy_and_kind
@examples(12)
@given(data=st.data())
def test_out_of_order(policy: str, how: How, data: st.DataObject) -> None:
    """The kernel agrees with plain Python after every step, and no row is wrong, when rows come
    out of order."""
    case = joins(data, policy, how, time_windows=data.draw(st.booleans()))
    parts = data.draw(deliveries(case))
    slots = data.draw(st.sampled_from((case.terms.filter_slots, 5)))
    last = replace(case.terms, filter_slots=slots)
    parts[-1] = parts[-1]._replace(terms=last)  # as after a restart with another budget
    keep_late, watching = data.draw(st.booleans()), data.draw(watchings)
    kernel, plain = (run(case, parts, keep_late, kind, watching) for kind in (Step, Twin))
    for one, other in zip(kernel.steps, plain.steps, strict=True):
        assert one == other
    if keep_late and all(isinstance(window, TimeWindow) for window in case.windows):
        assert_no_wrong_row(case, kernel)


@every_policy_and_kind
@examples(6)
@given(data=st.data())
def test_ample_memory(policy: str, how: How, data: st.DataObject) -> None:
    """Nothing is missed and nothing undecided, in order or not."""
    case = joins(data, policy, how).with_ample_memory()
    whole = run(case)
    assert_exact(case, whole)
    if all(isinstance(window, TimeWindow) for window in case.windows):
        parts = [*data.draw(deliveries(case)), Part([], watermark=10**6)]
        late = run(case, parts, keep_late=True)
        assert_exact(case, late)
        assert not late.alive  # all came out once the watermark had passed


def truly_alone(case: Case) -> set[int]:
    """Rows of outer sides without a partner in the exact join."""
    met = {row for pair in exact_pairs(case) for row in pair}
    outer = case.terms.how.outer
    return {i for i, row in enumerate(case.arrivals) if outer[row.side] and i not in met}


def outcome(done: Run, case: Case) -> tuple[object, ...]:
    """What a run has put out, with the rows that it still holds told apart at the end."""
    held = [
        (i, not done.steps[-1].fates[i] & Fate.DOUBTFUL)
        for i in done.alive
        if case.terms.how.outer[case.arrivals[i].side]
        and not done.steps[-1].fates[i] & Fate.MATCHED
    ]
    shown = [row for row in held if row[1] or case.terms.shows_undecided]
    undecided = sum(done.count(Count.UNDECIDED, side) for side in (0, 1))
    return done.pairs, sorted(done.alone + shown), undecided + sum(not sure for _, sure in held)


def assert_no_wrong_row(case: Case, done: Run) -> None:
    """Pairs are the exact join's; a certain row is right; no row comes out twice."""
    exact = exact_pairs(case)
    _, alone, _ = outcome(done, case)
    assert not Counter(done.pairs) - Counter(exact)
    assert len({row for row, _ in alone}) == len(alone)
    certain = {row for row, sure in alone if sure}
    if case.terms.how == How.SEMI:
        assert certain <= {left for left, _ in exact}
    else:
        assert certain <= truly_alone(case)
    in_pairs = {row for pair in done.pairs for row in pair}
    assert not in_pairs & {row for row, _ in alone}
    undecided = sum(done.count(Count.UNDECIDED, side) for side in (0, 1))
    shown = sum(not sure for _, sure in done.alone)
    assert shown == (undecided if case.terms.shows_undecided else 0)


def assert_exact(case: Case, done: Run) -> None:
    """The result is the exact join's, and nothing is undecided."""
    exact, how = exact_pairs(case), case.terms.how
    pairs, alone, undecided = outcome(done, case)
    assert undecided == 0
    assert all(sure for _, sure in alone)
    wanted = {left for left, _ in exact} if how == How.SEMI else truly_alone(case)
    assert [row for row, _ in alone] == sorted(wanted)
    assert sorted(pairs) == ([] if how.frees_left else exact)


def assert_as_ruled(case: Case, done: Run) -> None:
    """Undecided are the rows given up unmatched, and those that may have lost a partner before they
    came; with a filter that tells all keys apart, no others."""
    how, given_up = case.terms.how, list[int]()
    met, doubtful, undecided = set[int](), set[int](), set[int]()
    seen, before = [0, 0], set[int]()
    exact = set(exact_pairs(case))
    for i, step in enumerate(done.steps if case.arrivals else ()):
        row = case.arrivals[i]
        seen[row.side] += 1
        partners = {a for a in before if ((a, i) if row.side else (i, a)) in exact}
        met |= partners | ({i} if partners else set())
        waits = not case.is_null(row) and i not in met and how.outer[row.side]
        if waits and any(could_have_met(case, y, i, seen) for y in given_up):
            doubtful.add(i)
        for gone in (before | {i}) - set(step.alive):
            if how.frees_left and case.arrivals[gone].side == 0 and gone in met:
                continue
            in_time = case.is_null(case.arrivals[gone]) or is_past(case, gone, i, seen, done)
            if not in_time:
                given_up.append(gone)
            unmatched = how.outer[case.arrivals[gone].side] and gone not in met
            if unmatched and (gone in doubtful or not in_time):
                undecided.add(gone)
        before = set(step.alive)
    count = sum(done.count(Count.UNDECIDED, side) for side in (0, 1))
    shown = {row for row, sure in done.alone if not sure}
    if case.terms.filter_slots >= 16 * KEYS:
        assert count == len(undecided)
        assert shown == (undecided if case.terms.shows_undecided else set())
    assert count >= len(undecided)
    if case.terms.shows_undecided:
        assert shown >= undecided


def could_have_met(case: Case, given_up: int, came: int, seen: list[int]) -> bool:
    """Whether a row given up before has the key of one that comes, and its window reaches it."""
    one, other = case.arrivals[given_up], case.arrivals[came]
    if one.side == other.side or (case.keyed and one.key != other.key):
        return False
    window = case.windows[one.side]
    if isinstance(window, RowWindow):
        place = sum(row.side == one.side for row in case.arrivals[:given_up])
        return place >= seen[one.side] - window.span
    return one.time >= other.time - window.span


def is_past(case: Case, gone: int, now: int, seen: list[int], done: Run) -> bool:
    """Whether no row from now on can meet a row."""
    row, window = case.arrivals[gone], case.windows[case.arrivals[gone].side]
    if isinstance(window, RowWindow):
        place = sum(other.side == row.side for other in case.arrivals[:gone])
        return seen[row.side] > place + window.span
    present = case.arrivals[now]
    end = row.time + window.span
    return (end, 1 - row.side) < (present.time, present.side)
