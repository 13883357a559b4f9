"""Plans: OPT-offline against exhaustive search and the real join, FlowExpect against OPT."""

import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headgate as hg
from headgate.models import AgeCurves, Frequencies
from headgate.models.match_density import MatchDensity
from headgate.policies import ALL_POLICIES, Age, Density, Life, Policy, Prob
from headgate.policies.offline import (
    NOT_KEPT,
    Events,
    Opt,
    Planned,
)
from headgate.policies.policy import Arrivals
from headgate.spec import RowWindow, SpecError, TimeWindow
from tests.offline_cases import NULL, Case, cases, exhaustive
from tests.thoroughness import examples


@examples(80)
@given(case=cases())
def test_opt_makes_what_exhaustive_search_makes(case: Case) -> None:
    assert case.plan().value == exhaustive(case)


@examples(80)
@given(case=cases(), data=st.data())
def test_opt_makes_the_most_of_importance(case: Case, data: st.DataObject) -> None:
    count = len(case.rows)
    numbers = st.sampled_from((0.0, 1.0, 2.0, 7.0, 0.25, 1.3))
    each = data.draw(st.lists(numbers, min_size=count, max_size=count))
    sides = [[each[at] for at in range(count) if case.rows[at][1] == side] for side in (0, 1)]
    pairs = {(a, b): min(each[a], each[b]) for a in range(count) for b in range(count)}
    best = exhaustive(case, pairs)
    assert case.plan(sides).value == pytest.approx(best, rel=1e-6)

    def lesser(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return np.minimum(np.array(sides[0])[left], np.array(sides[1])[right])

    assert case.plan(lesser).value == case.plan(sides).value


@examples(80)
@given(case=cases(most=40, keys=5))
def test_both_flows_agree_where_all_pairs_count_alike(case: Case) -> None:
    assert case.plan().value == case.plan(lambda left, _: np.ones(len(left))).value


@examples(80)
@given(case=cases(most=40, keys=4))
def test_the_join_makes_what_opt_planned(case: Case) -> None:
    opt = case.plan()
    assert case.join(opt).num_rows == opt.value


@examples(75)
@given(case=cases(most=30, keys=3), data=st.data())
def test_the_join_makes_the_importance_that_opt_planned(case: Case, data: st.DataObject) -> None:
    numbers = st.integers(0, 9)
    worth = [
        np.array([data.draw(numbers) for _ in case.of_side(side)], np.int64) for side in (0, 1)
    ]
    opt = case.plan(worth)
    pairs = case.join(opt)
    left, right = pairs["row"].to_numpy(), pairs["row_right"].to_numpy()
    assert np.minimum(worth[0][left], worth[1][right]).sum() == opt.value


def every_policy(case: Case) -> list[Policy]:
    """All that work online, given true frequencies and some age curves."""
    counts = [
        {key: 1.0 + sum(row[2] == key for row in case.of_side(side)) for key in range(4)}
        for side in (0, 1)
    ]
    model = Frequencies.of_mappings(
        *({key: count / sum(side.values()) for key, count in side.items()} for side in counts)
    )
    curves = AgeCurves.of_buckets((4, 4), ((1, 4, 9), (9, 4, 1)))
    told = {
        Prob: Prob(model),
        Life: Life(model),
        Age: Age(curves),
        Density: Density(MatchDensity.of_rates((4, 4))),
    }
    return [told.get(policy) or policy() for policy in ALL_POLICIES]


@examples(30)
@given(case=cases(most=40, keys=4, in_rows=False))
def test_no_policy_beats_opt(case: Case) -> None:
    opt = case.plan()
    for policy in every_policy(case):
        assert case.join(policy).num_rows <= opt.value, policy


def test_a_row_with_no_match_to_come_is_not_stored() -> None:
    long = TimeWindow(100)
    opt = Opt.plan(Events([1, 2, 5], [7, 8, 7]), Events([3], [7]), (long, long), rows=9)
    assert opt.ends_left.tolist() == [2, NOT_KEPT, NOT_KEPT]
    assert opt.ends_right.tolist() == [3]
    assert opt.value == 2


def test_nothing_comes_of_nothing() -> None:
    none = Events([], [])
    assert Opt.plan(none, none, (TimeWindow(1), RowWindow(1)), rows=1).value == 0
    assert Opt.plan(none, Events([1], [NULL]), (TimeWindow(1), RowWindow(1)), rows=1).value == 0


def test_the_order_in_which_rows_are_given_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    sides = [(np.arange(200) * 2 + side, rng.integers(0, 20, 200)) for side in (0, 1)]
    shuffled = [rng.permutation(200) for _ in sides]
    wide = (TimeWindow(60), TimeWindow(60))
    given = Opt.plan(*(Events(*side) for side in sides), wide, rows=10)
    mixed = Opt.plan(
        *(Events(time[at], key[at]) for (time, key), at in zip(sides, shuffled, strict=True)),
        wide,
        rows=10,
    )
    assert given.value == mixed.value > 0
    assert given.ends_left.tolist() == mixed.ends_left.tolist()


def test_a_plan_for_a_join_leaves_out_rows_without_a_time() -> None:
    at = pa.timestamp("us")
    left = pa.table({"key": [7, 7, 8], "at": pa.array([None, 1, 2], at)})
    right = pa.table({"key": [8, 8, 7], "at": pa.array([3, 4, None], at)})
    side = hg.Side(time="at", window="1 second")
    asked = {"on": "key", "left": side, "right": side, "budget": hg.Budget(rows=1)}
    opt = Opt.for_join(hg.WindowJoin(**asked, policy="fifo"), left, right.to_pandas())
    outcome = hg.WindowJoin(**asked, policy=opt).run(left, right)
    assert outcome.stats.pairs == opt.value == 2
    assert opt.label == "OPT-OFFLINE"


# FlowExpect


def test_a_plan_is_a_whole_number_a_row() -> None:
    with pytest.raises(SpecError, match="give the place in event order"):
        Planned(np.array([0.5]), np.array([1]))


def test_rows_beyond_the_plan_are_worth_nothing() -> None:
    sequence = np.array([0, 9])
    arrivals = Arrivals(sequence, np.zeros(2, np.uint8), sequence, sequence, sequence)
    assert Planned(np.array([3]), np.array([], np.int64)).score(arrivals).tolist() == [3, NOT_KEPT]


def test_a_plan_cannot_be_cut_into_shards() -> None:
    plan = Planned(np.array([3]), np.array([3]))
    assert plan.for_shard(0) is plan
    with pytest.raises(SpecError, match="use run, or shards=1"):
        plan.for_shard(1)


def test_a_plan_is_for_its_windows() -> None:
    windows = (TimeWindow(1_000_000), RowWindow(5))
    opt = Opt.plan(Events([1], [1]), Events([2], [1]), windows, rows=1)
    opt.check(windows)
    with pytest.raises(SpecError, match=r"windows of 1 second and 5 rows.*plan again"):
        opt.check((windows[0], RowWindow(6)))


@pytest.mark.parametrize(
    ("time", "key", "match"),
    [
        ([0.5], [1], "time=.*microseconds"),
        ([1], ["a"], "key=.*codes"),
        ([1, 2], [1], "2 times and 1"),
    ],
)
def test_events_are_whole_numbers(time: list[object], key: list[object], match: str) -> None:
    with pytest.raises(SpecError, match=match):
        Events(time, key)


def test_importance_is_a_number_a_pair() -> None:
    events, second = (Events([1], [1]), Events([2], [1])), TimeWindow(9)
    with pytest.raises(SpecError, match="for each of the 1 left and 1 right rows"):
        Opt.plan(*events, (second, second), rows=1, importance=([1, 2], [1]))
    with pytest.raises(SpecError, match="for 1 pairs: give a number for each, from 0 on"):
        Opt.plan(*events, (second, second), rows=1, importance=lambda left, right: -left - 1)


def test_only_joins_on_keys_within_rows_can_be_planned() -> None:
    table = pa.table({"key": [1], "at": pa.array([1], pa.timestamp("us"))})
    side = hg.Side(time="at", window="1 second")

    def plan(budget: hg.Budget, **asked: object) -> Opt:
        question = {"on": "key", "left": side, "right": side, "policy": "fifo", **asked}
        return Opt.for_join(hg.WindowJoin(budget=budget, **question), table, table)

    with pytest.raises(SpecError, match="knows equal keys alone"):
        plan(hg.Budget(rows=1), where=hg.Compare("key", "<"))
    with pytest.raises(SpecError, match=r"give Budget\(rows=...\) alone"):
        plan(hg.Budget(memory="1 MB"))
    with pytest.raises(SpecError, match="give monitor=0"):
        plan(hg.Budget(rows=100, monitor=0.05))
    with pytest.raises(SpecError, match='the left side has no column "other"'):
        plan(hg.Budget(rows=1), on="other")
    with pytest.raises(SpecError, match="a plan takes Arrow tables or pandas frames"):
        Opt.for_join(
            hg.WindowJoin(on="key", left=side, right=side, budget=hg.Budget(rows=1)), 7, table
        )


def test_a_missing_solver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ortools.graph.python", None)
    with pytest.raises(SpecError, match=r'pip install "headgate\[offline\]"'):
        Opt.plan(Events([1], [1]), Events([2], [1]), (TimeWindow(9), TimeWindow(9)), rows=1)
