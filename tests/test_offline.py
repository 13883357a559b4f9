"""Plans: OPT-offline against exhaustive search and the real join, FlowExpect against OPT."""

import sys
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headgate as hg
from headgate.models import AgeCurves, Frequencies
from headgate.policies import ALL_POLICIES, Age, Life, Policy, Prob, Random
from headgate.policies.offline import (
    NOT_KEPT,
    Events,
    FlowExpect,
    Now,
    Opt,
    Planned,
    best_sequence,
)
from headgate.policies.policy import Arrivals
from headgate.spec import RowWindow, SpecError, TimeWindow, Window

NULL = -1
Row = tuple[int, int, int]
"""Time, side, key."""


def careful(examples: int) -> settings:
    """So many generated inputs, the same every time."""
    return settings(max_examples=examples, deadline=None, derandomize=True)


@dataclass(frozen=True)
class Case:
    """A small input and the join asked of it."""

    rows: tuple[Row, ...]
    """In event order."""
    windows: tuple[Window, Window]
    memory: int
    split: tuple[int, int] | None = None

    def of_side(self, side: int) -> list[Row]:
        """The rows of a side."""
        return [row for row in self.rows if row[1] == side]

    def events(self, side: int) -> Events:
        """The same for a plan."""
        rows = self.of_side(side)
        return Events([row[0] for row in rows], [row[2] for row in rows])

    def number(self, event: int) -> int:
        """Of a row among those of its side."""
        return sum(row[1] == self.rows[event][1] for row in self.rows[:event])

    def plan(self, importance: object = None) -> Opt:
        """The best plan."""
        return Opt.plan(
            self.events(0),
            self.events(1),
            self.windows,
            self.memory,
            self.split or "pooled",
            importance,
        )

    def table(self, side: int) -> pa.Table:
        """The rows of a side, numbered."""
        rows = self.of_side(side)
        return pa.table(
            {
                "key": pa.array([None if row[2] == NULL else row[2] for row in rows], pa.int64()),
                "at": pa.array([row[0] for row in rows], pa.timestamp("us")),
                "row": pa.array(range(len(rows)), pa.int64()),
            }
        )

    def join(self, policy: Policy) -> pa.Table:
        """What the real join makes of it."""
        return (
            hg.WindowJoin(
                on="key",
                left=hg.Side(time="at", window=self.windows[0]),
                right=hg.Side(time="at", window=self.windows[1]),
                budget=hg.Budget(rows=self.memory, split=self.split or "pooled", monitor=0),
                policy=policy,
            )
            .run(self.table(0), self.table(1))
            .pairs
        )


def meet(case: Case, stored: int, arriving: int) -> bool:
    """Whether an arrival meets a row stored before, given as places in event order."""
    (then, side, key), (now, other, same) = case.rows[stored], case.rows[arriving]
    window = case.windows[side]
    if side == other or key != same or key == NULL:
        return False
    if isinstance(window, RowWindow):
        since = sum(row[1] == side for row in case.rows[stored + 1 : arriving])
        return since < window.rows
    return now - then <= window.us


def exhaustive(case: Case, worth: dict[tuple[int, int], float] | None = None) -> float:
    """The most that can be made, by trying every choice of whom to give up.

    Nobody is given up while there is room: an empty place makes nothing.
    """
    shares = case.split and [case.memory * part // sum(case.split) for part in case.split]
    count = len(case.rows)
    meets = {
        event: [row for row in range(event) if meet(case, row, event)] for event in range(count)
    }

    def fits(held: tuple[int, ...]) -> bool:
        if shares:
            sides = [case.rows[row][1] for row in held]
            return all(sides.count(side) <= shares[side] for side in (0, 1))
        return len(held) <= case.memory

    @cache
    def most(event: int, held: tuple[int, ...]) -> float:
        if event == count:
            return 0.0
        met = [row for row in meets[event] if row in held]
        made = sum(1.0 if worth is None else worth[row, event] for row in met)
        everyone = (*held, event)
        if fits(everyone):
            return made + most(event + 1, everyone)
        fewer = combinations(everyone, len(held))
        return made + max(most(event + 1, kept) for kept in fewer if fits(kept))

    return most(0, ())


@st.composite
def windows(draw: st.DrawFn, in_rows: bool = True) -> Window:
    """Empty, short or long; in time or rows."""
    if in_rows and draw(st.booleans()):
        return RowWindow(draw(st.integers(0, 4)))
    return TimeWindow(draw(st.sampled_from((2, 0, 1, 4, 20))))


@st.composite
def cases(draw: st.DrawFn, most: int = 8, in_rows: bool = True, keys: int = 2) -> Case:
    """Few keys, many ties, little memory."""
    gaps = st.sampled_from((0, 0, 1, 1, 3))
    values = st.sampled_from((0, *range(keys), *range(keys), NULL))
    # Lists drawn without a least size are mostly too short for anything to compete.
    size = draw(st.sampled_from((most, most, most, most - 1, most // 2, 0)))
    row = st.tuples(gaps, st.integers(0, 1), values)
    drawn = draw(st.lists(row, min_size=size, max_size=size))
    times = np.cumsum([gap for gap, _, _ in drawn]).tolist()
    rows = [(time, side, key) for time, (_, side, key) in zip(times, drawn, strict=True)]
    return Case(
        tuple(sorted(rows, key=lambda row: row[:2])),
        (draw(windows(in_rows)), draw(windows(in_rows))),
        draw(st.integers(1, 3)),
        draw(st.sampled_from((None, None, (1, 1), (2, 1), (0, 1)))),
    )


@careful(1500)
@given(case=cases())
def test_opt_makes_what_exhaustive_search_makes(case: Case) -> None:
    assert case.plan().value == exhaustive(case)


@careful(500)
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


@careful(150)
@given(case=cases(most=40, keys=5))
def test_both_flows_agree_where_all_pairs_count_alike(case: Case) -> None:
    assert case.plan().value == case.plan(lambda left, _: np.ones(len(left))).value


@careful(150)
@given(case=cases(most=40, keys=4))
def test_the_join_makes_what_opt_planned(case: Case) -> None:
    opt = case.plan()
    assert case.join(opt).num_rows == opt.value


@careful(75)
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
    told = {Prob: Prob(model), Life: Life(model), Age: Age(curves)}
    return [told.get(policy) or policy() for policy in ALL_POLICIES]


@careful(30)
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


@dataclass(frozen=True)
class Table:
    """A process given as a table: for each step, the chance of each value; the past is no help."""

    steps: tuple[dict[int, float], ...]

    def chance(self, values: np.ndarray, now: Now, ahead: np.ndarray) -> np.ndarray:
        """Looked up."""
        at = [now.step + int(steps) for steps in ahead]
        return np.array(
            [
                [
                    self.steps[step].get(int(v), 0.0) if step < len(self.steps) else 0.0
                    for v in values
                ]
                for step in at
            ]
        )

    def spread(self, now: Now, ahead: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """From the least to the greatest there is."""
        values = [value for step in self.steps for value in step]
        return np.full(len(ahead), min(values)), np.full(len(ahead), max(values))


def known(values: list[int]) -> Table:
    """A process that is known in advance."""
    return Table(tuple({value: 1.0} for value in values))


def as_case(left: list[int], right: list[int], rows: int, spans: tuple[int, int]) -> Case:
    """Two streams of values, a left and a right row a step, as a join."""
    both = [
        (step, side, value)
        for step, pair in enumerate(zip(left, right, strict=True))
        for side, value in enumerate(pair)
    ]
    return Case(tuple(both), (TimeWindow(spans[0]), TimeWindow(spans[1])), rows)


VALUES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=8, max_size=14)
SPANS = st.sampled_from(((99, 99), (3, 3), (4, 0), (0, 2)))


@careful(100)
@given(values=VALUES, rows=st.integers(1, 3), spans=SPANS)
def test_flow_expect_is_opt_where_the_future_is_known(
    values: list[tuple[int, int]], rows: int, spans: tuple[int, int]
) -> None:
    left, right = ([pair[side] for pair in values] for side in (0, 1))
    policy = FlowExpect.plan(
        np.array(left), np.array(right), (known(left), known(right)), rows, len(left), spans
    )
    case = as_case(left, right, rows, spans)
    assert case.join(policy).num_rows == case.plan().value


@careful(75)
@given(values=VALUES, rows=st.integers(1, 3), spans=SPANS, ahead=st.integers(1, 4))
def test_flow_expect_never_beats_opt(
    values: list[tuple[int, int]], rows: int, spans: tuple[int, int], ahead: int
) -> None:
    left, right = ([pair[side] for pair in values] for side in (0, 1))
    guess = Table(({0: 0.1, 1: 0.2, 2: 0.3, 3: 0.4},) * len(left))
    policy = FlowExpect.plan(np.array(left), np.array(right), (guess, guess), rows, ahead, spans)
    case = as_case(left, right, rows, spans)
    assert case.join(policy).num_rows <= case.plan().value


@careful(75)
@given(values=VALUES, rows=st.integers(1, 3), spans=SPANS, ahead=st.integers(1, 4))
def test_the_join_makes_what_flow_expect_planned(
    values: list[tuple[int, int]], rows: int, spans: tuple[int, int], ahead: int
) -> None:
    left, right = ([pair[side] for pair in values] for side in (0, 1))
    guess = Table(({0: 0.4, 1: 0.3, 2: 0.2, 3: 0.1},) * len(left))
    policy = FlowExpect.plan(np.array(left), np.array(right), (guess, guess), rows, ahead, spans)
    case = as_case(left, right, rows, spans)
    ends = np.column_stack([policy.ends_left, policy.ends_right]).ravel()
    planned = {
        (case.number(stored), case.number(event))[:: 1 if case.rows[stored][1] == 0 else -1]
        for event in range(len(case.rows))
        for stored in range(event)
        if event <= ends[stored] and meet(case, stored, event)
    }
    pairs = case.join(policy)
    made = zip(pairs["row"].to_pylist(), pairs["row_right"].to_pylist(), strict=True)
    assert set(made) == planned


def test_flow_expect_keeps_what_the_other_side_favours() -> None:
    rng = np.random.default_rng(1)
    shares = {0: 0.7, 1: 0.1, 2: 0.1, 3: 0.1}
    streams = [rng.choice(4, 300, p=list(shares.values())) for _ in range(2)]
    process = Table((shares,) * 400)
    policy = FlowExpect.plan(*streams, (process, process), rows=5, look_ahead=5)
    case = as_case(streams[0].tolist(), streams[1].tolist(), 5, (300, 300))
    told = Prob(Frequencies.of_mappings(shares, shares))
    random, prob, expect = (case.join(each).num_rows for each in (Random(), told, policy))
    assert random < prob <= expect < case.plan().value


# The example of section 4: a cache of one row holds value 1 of R. NOTHING joins with no row.
NOTHING_R, NOTHING_S = -1, -2
R_VALUES = ({NOTHING_R: 1.0}, {2: 1.0}, {3: 1.0}, {2: 0.5, NOTHING_R: 0.5})
S_VALUES = ({2: 1.0}, {3: 0.5, NOTHING_S: 0.5}, {1: 0.8, NOTHING_S: 0.2}, {1: 0.8, NOTHING_S: 0.2})


def example() -> tuple[np.ndarray, np.ndarray]:
    """When rows come and their expected benefits: R's 1 at hand, then R's and S's of each step."""
    arrives, benefits = [0], [[0.0, *(chances.get(1, 0.0) for chances in S_VALUES[1:])]]
    for own, other in ((R_VALUES, S_VALUES), (S_VALUES, R_VALUES)):
        for step, chances in enumerate(own):
            arrives.append(step)
            benefits.append(
                [
                    sum(chance * other[later].get(value, 0.0) for value, chance in chances.items())
                    if later > step
                    else 0.0
                    for later in range(len(other))
                ]
            )
    return np.array(arrives), np.array(benefits)


def fixed_sequences() -> dict[tuple[int, ...], float]:
    """What each predetermined sequence is worth: which row the one slot holds after each step."""
    arrives, benefits = example()
    steps = range(benefits.shape[1])
    worth = {}
    for sequence in product(range(len(arrives)), repeat=len(steps) - 1):
        since = dict(zip(reversed(sequence), reversed(steps[:-1]), strict=True))
        comes = all(arrives[row] == since[row] or (row == 0 == since[row]) for row in since)
        stays = all(
            sequence[step] == row
            for row, first in since.items()
            for step in range(first, max(s for s, held in enumerate(sequence) if held == row))
        )
        if comes and stays:
            worth[sequence] = sum(benefits[row, at + 1] for at, row in enumerate(sequence))
    return worth


def adaptive(step: int, held: tuple[str, int]) -> float:
    """The most to expect with a row at hand before a step, when decisions may wait and see."""
    if step == len(R_VALUES):
        return 0.0
    expected = 0.0
    for (r, r_chance), (s, s_chance) in product(R_VALUES[step].items(), S_VALUES[step].items()):
        made = float(held == ("S", r)) + float(held == ("R", s))
        best = max(adaptive(step + 1, kept) for kept in (held, ("R", r), ("S", s)))
        expected += r_chance * s_chance * (made + best)
    return expected


KEEP_R, NEW_S, NEXT_S = 0, 5, 6


def test_the_papers_example_of_sequences() -> None:
    worth = fixed_sequences()
    assert worth[KEEP_R, KEEP_R, KEEP_R] == pytest.approx(1.6)
    assert worth[NEW_S, NEW_S, NEW_S] == pytest.approx(1.5)
    assert worth[NEW_S, NEXT_S, NEXT_S] == pytest.approx(1.5)
    assert max(worth.values()) == pytest.approx(1.6)


def test_the_best_sequence_of_the_papers_example_keeps_r() -> None:
    best = best_sequence(*example(), memory=1)
    assert best.value == pytest.approx(1.6)
    assert np.flatnonzero(best.stored).tolist() == [KEEP_R]
    assert best.until[KEEP_R] == 3


def test_to_wait_and_see_is_better_in_the_papers_example() -> None:
    assert adaptive(0, ("R", 1)) == pytest.approx(1.75)


def test_flow_expect_keeps_r_in_the_papers_example() -> None:
    processes = (Table(({1: 1.0}, *R_VALUES)), Table(({NOTHING_S: 1.0}, *S_VALUES)))
    left, right = [1, NOTHING_R, 2, 3, 2], [NOTHING_S, 2, 3, 1, 1]
    plan = FlowExpect.plan(np.array(left), np.array(right), processes, rows=1, look_ahead=3)
    arrival_of_2 = 2 * 1 + 1
    assert plan.ends_left[0] > arrival_of_2
    assert plan.ends_right[1] == NOT_KEPT


# What is refused


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


def test_flow_expect_takes_a_row_of_each_side_a_step() -> None:
    process = (known([1]), known([1]))
    with pytest.raises(SpecError, match="2 left and 1 right values"):
        FlowExpect.plan(np.array([1, 2]), np.array([1]), process, rows=1, look_ahead=1)
    with pytest.raises(SpecError, match="look_ahead=0"):
        FlowExpect.plan(np.array([1]), np.array([1]), process, rows=1, look_ahead=0)
    with pytest.raises(SpecError, match="give the steps that rows of each side wait"):
        FlowExpect.plan(np.array([1]), np.array([1]), process, 1, look_ahead=1, windows=(-1, None))
    with pytest.raises(SpecError, match=r"left=.*a whole number a step"):
        FlowExpect.plan(np.array([0.5]), np.array([1]), process, rows=1, look_ahead=1)


def test_values_far_apart_are_refused() -> None:
    far = [0, 10**9, 0]
    with pytest.raises(SpecError, match="from 0 to 1,000,000,000: FlowExpect looks at each"):
        FlowExpect.plan(np.array(far), np.array(far), (known(far), known(far)), 1, look_ahead=1)


def test_benefits_are_by_row_and_moment() -> None:
    with pytest.raises(SpecError, match="give a number for each row and moment"):
        best_sequence(np.array([0]), np.array([1.0]), memory=1)


def test_a_missing_solver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ortools.graph.python", None)
    with pytest.raises(SpecError, match=r'pip install "headgate\[offline\]"'):
        Opt.plan(Events([1], [1]), Events([2], [1]), (TimeWindow(9), TimeWindow(9)), rows=1)
