"""FlowExpect: plans by what is expected of the future."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.models import Frequencies
from headgate.policies import Prob, Random
from headgate.policies.offline import (
    NOT_KEPT,
    FlowExpect,
    Now,
    best_sequence,
)
from headgate.spec import SpecError, TimeWindow
from tests.offline_cases import Case, meet
from tests.thoroughness import examples


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


@examples(100)
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


@examples(75)
@given(values=VALUES, rows=st.integers(1, 3), spans=SPANS, ahead=st.integers(1, 4))
def test_flow_expect_never_beats_opt(
    values: list[tuple[int, int]], rows: int, spans: tuple[int, int], ahead: int
) -> None:
    left, right = ([pair[side] for pair in values] for side in (0, 1))
    guess = Table(({0: 0.1, 1: 0.2, 2: 0.3, 3: 0.4},) * len(left))
    policy = FlowExpect.plan(np.array(left), np.array(right), (guess, guess), rows, ahead, spans)
    case = as_case(left, right, rows, spans)
    assert case.join(policy).num_rows <= case.plan().value


@examples(75)
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
