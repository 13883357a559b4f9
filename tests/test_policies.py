"""Each policy on a scenario small enough to work out by hand."""

from datetime import timedelta

import numpy as np
import pyarrow as pa
import pytest

from headgate.kernel.layout import Count
from headgate.kernel.step import Step
from headgate.kernel.terms import Terms
from headgate.kernel.twin.twin import Twin
from headgate.models import AgeCurves, Frequencies
from headgate.policies import (
    ALL_POLICIES,
    Age,
    Density,
    Fifo,
    JoinToLive,
    Learned,
    Lfu,
    Life,
    Lru,
    Policy,
    Prob,
    Random,
    Ttl,
    UntilExpiry,
    make_policy,
)
from headgate.policies.chance import uniform
from headgate.policies.policy import Arrivals
from headgate.spec import RowWindow, SpecError, TimeWindow, Window
from tests.checks.arrivals import Arrival, Case
from tests.checks.runs import Part, Run, run

COMMON, RARE, OTHER = 0, 1, 2
LEFT, RIGHT = 0, 1

MODEL = Frequencies.of_mappings({COMMON: 0.9, RARE: 0.2}, {COMMON: 0.9, RARE: 0.2})

CURVES = AgeCurves.of_buckets((4, 0), ((1, 1, 2, 1), (1,)))

both_engines = pytest.mark.parametrize("engine", [Step, Twin], ids=["kernel", "plain"])


def row(time: int, key: int = COMMON, side: int = LEFT, size: int = 1) -> Arrival:
    return Arrival(time, side, key, size, delay=0)


def join(
    policy: Policy,
    *rows: Arrival,
    budget: int = 2,
    windows: tuple[Window, Window] = (TimeWindow(10), TimeWindow(0)),
    engine: type[Step] | type[Twin] = Step,
    parts: list[Part] | None = None,
) -> Run:
    """Run rows under a pooled budget of rows; right rows wait for nobody."""
    return run(Case(rows, Terms(windows, policy, (budget, 0))), parts, engine=engine)


@both_engines
def test_fifo_keeps_the_newest(engine: type[Step]) -> None:
    outcome = join(Fifo(), row(1), row(2), row(3), row(4), engine=engine)
    assert outcome.alive == [2, 3]
    assert outcome.count(Count.SHED, LEFT) == 2


@both_engines
def test_fifo_sheds_the_earlier_given_of_one_time(engine: type[Step]) -> None:
    assert join(Fifo(), row(1), row(1), row(1), engine=engine).alive == [1, 2]


@both_engines
def test_lfu_keeps_the_rows_that_matched_most_often(engine: type[Step]) -> None:
    hit = [row(2, COMMON, RIGHT), row(3, COMMON, RIGHT), row(3, RARE, RIGHT)]
    outcome = join(Lfu(), row(0, COMMON), row(1, RARE), *hit, row(4, OTHER), engine=engine)
    # The newcomer has matched nobody, and yet has its place.
    assert outcome.alive == [0, 5]


@both_engines
def test_lfu_sheds_the_elder_of_equals(engine: type[Step]) -> None:
    outcome = join(Lfu(), row(1), row(2), row(3), engine=engine)
    assert outcome.alive == [1, 2]


@both_engines
def test_until_expiry_refuses_while_memory_is_full(engine: type[Step]) -> None:
    outcome = join(UntilExpiry(), row(1), row(2), row(3), row(12), engine=engine)
    # The row of time 1 waits until 11; that of time 3 came too early to have its place.
    assert outcome.alive == [1, 3]
    assert outcome.count(Count.REFUSED, LEFT) == 1
    assert outcome.count(Count.EXPIRED, LEFT) == 1
    assert outcome.count(Count.SHED, LEFT) == 0


@both_engines
def test_prob_keeps_the_frequent_key(engine: type[Step]) -> None:
    rows = (row(1, RARE), row(2), row(3, RARE), row(4), row(5, RARE), row(6, RARE))
    outcome = join(Prob(MODEL), *rows, engine=engine)
    assert outcome.alive == [1, 3]
    # The first rare row made room; those that came later were refused.
    assert outcome.count(Count.SHED, LEFT) == 2
    assert outcome.count(Count.REFUSED, LEFT) == 2


@both_engines
def test_prob_gives_up_keys_it_has_never_seen(engine: type[Step]) -> None:
    assert join(Prob(MODEL), row(1, OTHER), row(2, RARE), row(3), engine=engine).alive == [1, 2]


@both_engines
def test_life_weighs_the_remaining_time(engine: type[Step]) -> None:
    # At time 9 the common row has 1 left: 0.9. The rare rows have 9 and 10: 1.8 and 2.0.
    rows = (row(0), row(8, RARE), row(9, RARE))
    assert join(Life(MODEL), *rows, engine=engine).alive == [1, 2]
    assert join(Prob(MODEL), *rows, engine=engine).alive == [0, 2]


@both_engines
def test_life_keeps_the_frequent_key_while_it_has_time(engine: type[Step]) -> None:
    # At time 6 the common row has 4 left: 3.6. The rare rows have 9 and 10: 1.8 and 2.0.
    rows = (row(0), row(5, RARE), row(6, RARE))
    assert join(Life(MODEL), *rows, engine=engine).alive == [0, 2]


@both_engines
def test_life_on_row_windows_counts_rows_not_time(engine: type[Step]) -> None:
    # The row of time 3 comes after that of time 5, so it has more of its five rows left.
    outcome = join(
        Life(MODEL),
        *(row(3), row(5), row(6)),
        windows=(RowWindow(5), RowWindow(5)),
        engine=engine,
        parts=[Part([1]), Part([0, 2])],
    )
    assert outcome.alive == [0, 2]


@both_engines
def test_lru_sheds_the_row_that_matched_longest_ago(engine: type[Step]) -> None:
    rows = (row(1, COMMON), row(2, RARE), row(3, COMMON, RIGHT), row(4, OTHER))
    outcome = join(Lru(), *rows, engine=engine)
    assert outcome.pairs == [(0, 2)]
    assert outcome.alive == [0, 3]


@both_engines
def test_lru_remembers_matches_of_earlier_steps(engine: type[Step]) -> None:
    rows = (row(1, COMMON), row(2, RARE), row(3, COMMON, RIGHT), row(4, OTHER))
    parts = [Part([0, 1]), Part([2]), Part([3])]
    assert join(Lru(), *rows, engine=engine, parts=parts).alive == [0, 3]


@both_engines
def test_join_to_live_lets_matched_rows_go_first(engine: type[Step]) -> None:
    rows = (row(1, COMMON), row(2, RARE), row(3, RARE, RIGHT), row(4, OTHER))
    assert join(JoinToLive(), *rows, engine=engine).alive == [0, 3]


@both_engines
def test_join_to_live_waits_for_enough_matches(engine: type[Step]) -> None:
    rows = (row(1, COMMON), row(2, RARE), row(3, RARE, RIGHT), row(4, OTHER))
    assert join(JoinToLive(matches=2), *rows, engine=engine).alive == [1, 3]


@both_engines
def test_ttl_refuses_while_all_are_young_and_then_sheds_the_oldest(engine: type[Step]) -> None:
    rows = (row(0), row(1), row(3), row(6))
    outcome = join(Ttl(timedelta(microseconds=5)), *rows, engine=engine)
    assert outcome.alive == [1, 3]
    assert outcome.count(Count.REFUSED, LEFT) == 1
    assert outcome.count(Count.SHED, LEFT) == 1


@both_engines
def test_ttl_is_half_the_window_unless_given(engine: type[Step]) -> None:
    rows = (row(0), row(1), row(4), row(5))
    outcome = join(Ttl(), *rows, engine=engine)
    assert outcome.alive == [1, 3]
    assert outcome.count(Count.REFUSED, LEFT) == 1


@both_engines
def test_random_keeps_every_position_equally_often(engine: type[Step]) -> None:
    positions, budget, seeds = 20, 5, 400
    kept = np.zeros(positions)
    rows = [row(time) for time in range(positions)]
    for seed in range(seeds):
        alive = join(
            Random(seed),
            *rows,
            budget=budget,
            windows=(TimeWindow(99), TimeWindow(0)),
            engine=engine,
        ).alive
        assert len(alive) == budget
        kept[alive] += 1
    share = budget / positions
    spread = np.sum((kept - seeds * share) ** 2) / (seeds * share * (1 - share))
    # Chi-square with 19 degrees of freedom exceeds 43.8 once in a thousand.
    assert spread < 43.8


def test_random_keeps_the_same_rows_for_the_same_seed() -> None:
    rows = [row(time) for time in range(30)]
    windows = (TimeWindow(99), TimeWindow(0))
    first, again, other = (join(Random(seed), *rows, windows=windows).alive for seed in (3, 3, 4))
    assert first == again
    assert first != other


def test_random_numbers_differ_by_side_and_lie_in_the_unit_interval() -> None:
    sequence = np.arange(1000)
    left = uniform(0, np.zeros(1000, np.uint8), sequence)
    right = uniform(0, np.ones(1000, np.uint8), sequence)
    for numbers in (left, right):
        assert 0 <= numbers.min() < numbers.max() < 1
        assert abs(numbers.mean() - 0.5) < 0.03
    assert not np.intersect1d(left, right).size
    assert abs(np.corrcoef(left, right)[0, 1]) < 0.1


def test_a_pooled_budget_compares_rows_of_both_sides() -> None:
    rows = (row(1), row(2, side=RIGHT), row(3, RARE), row(4, RARE))
    windows = (TimeWindow(10), TimeWindow(10))
    assert join(Fifo(), *rows, windows=windows).alive == [2, 3]


def test_a_split_budget_keeps_the_sides_apart() -> None:
    rows = (row(1), row(2, side=RIGHT), row(3, RARE), row(4, RARE))
    terms = Terms((TimeWindow(10), TimeWindow(10)), Fifo(), (1, 1), pooled=False)
    assert run(Case(rows, terms)).alive == [3, 1]


def test_a_large_row_may_cost_several_small_ones() -> None:
    rows = (row(1), row(2), row(3), row(4, size=2), row(5, size=9))
    terms = Terms((TimeWindow(10), TimeWindow(0)), Fifo(), most_bytes=(3, 0))
    outcome = run(Case(rows, terms))
    assert outcome.alive == [2, 3]
    assert outcome.count(Count.SHED, LEFT) == 2
    assert outcome.count(Count.REFUSED, LEFT) == 1


def test_an_arrival_probes_even_when_it_is_refused() -> None:
    rows = (row(1), row(2, side=RIGHT), row(3))
    outcome = join(UntilExpiry(), *rows, budget=1, windows=(TimeWindow(9), TimeWindow(9)))
    assert outcome.pairs == [(0, 1)]
    assert outcome.count(Count.REFUSED, RIGHT) == 1


def test_life_rounds_many_probabilities_to_few_classes() -> None:
    shares = {key: 1 / (key + 1) for key in range(1000)}
    life = Life(Frequencies.of_mappings(shares, shares))
    levels = life.class_weights()
    weight = np.array([1.0, 1 / 1000, 0.0, 0.3])
    nearest = levels[life.classify(Arrivals(weight, weight, weight, weight, weight))]
    assert len(levels) == 64
    assert nearest[[0, 2]].tolist() == pytest.approx([1.0, 0.0])
    assert nearest[1] == pytest.approx(0.001)
    assert nearest[3] == pytest.approx(0.3, rel=0.07)


@both_engines
@pytest.mark.parametrize(("arrived", "stored"), [(1, 1), (2, 1), (3, 1), (4, 4), (6, 4), (7, 7)])
def test_age_keeps_a_row_to_its_best_age(engine: type[Step], arrived: int, stored: int) -> None:
    """Example 3.3: one row a unit of time, memory for one, best age 3."""
    rows = [row(time) for time in range(1, arrived + 1)]
    windows = (TimeWindow(4), TimeWindow(0))
    outcome = join(Age(CURVES), *rows, budget=1, windows=windows, engine=engine)
    assert [rows[at].time for at in outcome.alive] == [stored]


@both_engines
@pytest.mark.parametrize(
    ("arrived", "stored"), [(3, [1, 3]), (4, [3, 4]), (5, [3, 5]), (6, [5, 6]), (7, [5, 7])]
)
def test_age_sheds_rows_in_a_trough_and_keeps_them_at_the_next_rise(
    engine: type[Step], arrived: int, stored: list[int]
) -> None:
    """Example 3.4: rows are kept for one and for three units of time in turn."""
    rows = [row(time) for time in range(1, arrived + 1)]
    curves = AgeCurves.of_buckets((3, 0), ((3, 0, 2), (1,)))
    windows = (TimeWindow(3), TimeWindow(0))
    outcome = join(Age(curves), *rows, windows=windows, engine=engine)
    assert [rows[at].time for at in outcome.alive] == stored


@pytest.mark.parametrize("policy", [Prob, Life])
def test_a_policy_without_its_model_still_scores_but_cannot_weigh(policy: type[Policy]) -> None:
    shipped = policy(MODEL).without_model()
    arrivals = Arrivals(*(np.array([0.9]),) * 4, np.ones(1))
    if isinstance(shipped, Prob):
        assert shipped.score(arrivals).tolist() == [0.9]
    else:
        assert shipped.class_weights()[shipped.classify(arrivals)].tolist() == [0.9]
    with pytest.raises(SpecError, match="without its model"):
        shipped.weigh([pa.chunked_array([[COMMON]])], LEFT)


@pytest.mark.parametrize("policy", ALL_POLICIES, ids=lambda policy: policy.name)
def test_every_policy_is_found_by_its_name(policy: type[Policy]) -> None:
    made = make_policy(policy.name, MODEL, CURVES)
    # Nobody has a model of densities at hand: it is learned.
    assert type(made) is (Learned if policy is Density else policy)
    assert made.label == policy.name.upper()
    assert make_policy(made) is made


def test_auto_is_the_policy_of_the_model_there_is() -> None:
    assert make_policy("auto") == Learned("auto")
    assert isinstance(make_policy("auto", MODEL), Prob)
    assert isinstance(make_policy("auto", ages=CURVES), Age)


@pytest.mark.parametrize("given", ["oldest", 5, None])
def test_an_unknown_policy_is_answered_with_the_names(given: object) -> None:
    with pytest.raises(SpecError) as error:
        make_policy(given)  # type: ignore[arg-type]
    assert str(error.value).startswith(f"policy {given!r} is unknown: give one of")
    assert all(f'"{policy.name}"' in str(error.value) for policy in ALL_POLICIES)


@pytest.mark.parametrize("name", ["prob", "life", "age", "density"])
def test_a_policy_that_needs_a_model_and_has_none_learns_it(name: str) -> None:
    assert make_policy(name) == Learned(name)
    assert make_policy(name).label == name.upper()


def test_a_learned_policy_is_neutral_until_there_is_a_model() -> None:
    keys = np.array([0.2, 0.4])
    for name in ("auto", "age", "prob", "life"):
        assert Learned(name).follow(None, None, "age") == Random()
    assert Learned("age").follow(CURVES, None, "key") == Age(CURVES, of_first=True)
    assert isinstance(Learned("prob").follow(CURVES, keys, "age"), Prob)
    assert isinstance(Learned("life").follow(None, keys, "key"), Life)
    assert Learned("auto").follow(CURVES, keys, "age") == Age(CURVES, of_first=True)
    assert isinstance(Learned("auto").follow(CURVES, keys, "key"), Prob)
    assert isinstance(Learned("auto").follow(None, keys, "age"), Prob)


def test_parameters_out_of_range_are_refused() -> None:
    with pytest.raises(SpecError, match="matches 0: give a whole number, one or more"):
        JoinToLive(matches=0)
    with pytest.raises(SpecError, match=r'time to live "10 mins" .* write "10 minutes"'):
        Ttl("10 mins")
    with pytest.raises(SpecError, match="Prob takes a Frequencies model, not 'often'"):
        Prob("often")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="Life takes a Frequencies model, not 'long'"):
        Life("long")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="Age takes an AgeCurves model, not 'old'"):
        Age("old")  # type: ignore[arg-type]


def test_windows_a_policy_cannot_serve_are_refused() -> None:
    mixed = (TimeWindow(60_000_000), RowWindow(10))
    with pytest.raises(SpecError, match="1 minute and 10 rows: give both in time or both in rows"):
        Life(MODEL).check(mixed)
    with pytest.raises(SpecError, match='give Ttl\\("10 minutes"\\)'):
        Ttl().check(mixed)
    Life(MODEL).check((RowWindow(1), RowWindow(2)))
    with pytest.raises(SpecError, match=r'policy "age" .* a window is 10 rows'):
        Age(CURVES).check(mixed)
    Ttl("1 second").check(mixed)
