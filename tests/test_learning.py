"""What a join learns of its streams, and how good it says it is."""

import numpy as np
import pytest

import headgate as hg
from headgate.engine.batch import NO_WATERMARK, Batch, Progress, Terms
from headgate.engine.learning import LearningStep, new_monitor
from headgate.engine.limits import room_for
from headgate.engine.open_rows import OpenRows
from headgate.monitor.ages import AgeLearner
from headgate.monitor.monitor import Candidates
from headgate.monitor.recall import Evidence
from headgate.policies import Learned
from headgate.studies.learned.streams import AMPLE, aging, recall_by_part, true_ages, zipf


def test_learned_age_comes_near_age_with_the_true_curve() -> None:
    streams = aging(60_000, seconds=400, window=20, shapes=["rising"], seed=1)
    budget = hg.Budget(rows=300)
    true = streams.join(hg.policies.Age(true_ages(20)), budget)
    learned = streams.join("age", budget)
    auto = streams.join("auto", budget)
    assert learned.recall > 0.9 * true.recall
    assert auto.recall > 0.85 * true.recall
    assert auto.followed["AGE"] > 0.8 * sum(auto.followed.values())
    for policy in ("fifo", "lru", "ttl", "join-to-live"):
        assert streams.join(policy, budget).recall < 0.7 * learned.recall


def test_learned_prob_comes_near_prob_with_the_true_frequencies() -> None:
    streams = zipf(60_000, seconds=200, seed=2)
    budget = hg.Budget(rows=600)
    true = streams.join("prob", budget, frequencies=streams.frequencies())
    learned = streams.join("prob", budget)
    auto = streams.join("auto", budget)
    assert learned.recall > 0.95 * true.recall
    assert auto.recall > 0.9 * true.recall
    assert auto.followed["PROB"] > 0.9 * sum(auto.followed.values())
    for policy in ("fifo", "ttl", "join-to-live", "random"):
        assert streams.join(policy, budget).recall < 0.5 * learned.recall


def test_age_follows_a_curve_that_turns_over() -> None:
    streams = aging(80_000, 480, window=20, shapes=["rising", "falling"], seed=3)
    exact = streams.join("fifo", AMPLE)
    learned = streams.join("age", hg.Budget(rows=600))
    windows = recall_by_part(streams, learned, exact, 480, 24)
    settled, turned = windows[8:12].mean(), windows[13]
    # Falling matches come early, so a tenth of the memory is worth more than it was before.
    assert windows[20:24].mean() > 1.5 * settled
    assert windows[17:24].min() > 0.8 * windows[20:24].mean()
    assert turned < windows[20:24].mean()


def test_prob_follows_hot_keys_that_change() -> None:
    streams = zipf(80_000, 240, seed=4, parts=2)
    exact = streams.join("fifo", AMPLE)
    learned = streams.join("prob", hg.Budget(rows=600))
    windows = recall_by_part(streams, learned, exact, 240, 24)
    before, after = windows[6:12].mean(), windows[18:24].mean()
    assert windows[12] < 0.7 * before
    assert after > 0.9 * before


@pytest.mark.parametrize("policy", ["auto", "random", "lru", "fifo"])
def test_intervals_cover_the_truth_as_often_as_they_say(policy: str) -> None:
    covered, runs = 0, 0
    for seed in range(25):  # 200 of them, with both bounds: `headgate reproduce learned-intervals`
        by_age = aging(3_000, 60, window=6, shapes=["rising"], seed=seed)
        by_key = zipf(6_000, 60, seed=seed, keys=300, window=2)
        for streams in (by_age, by_key):
            outcome = streams.join(policy, hg.Budget(rows=120, monitor=0.3), seed=seed)
            estimate = outcome.estimated_recall
            assert estimate is not None
            covered += estimate.low <= outcome.recall <= estimate.high
            runs += 1
    assert runs == 50
    assert 0.86 * runs <= covered


@pytest.mark.parametrize("budget", [hg.Budget(rows=200), hg.Budget(memory=20_000)])
def test_the_monitor_is_inside_the_budget(budget: hg.Budget) -> None:
    streams = zipf(20_000, 100, seed=5, window=5)
    outcome = streams.join("auto", budget)
    if budget.rows is not None:
        assert outcome.stats.peak_rows <= 0.95 * budget.rows
    if budget.memory is not None:
        assert outcome.stats.peak_bytes <= 0.95 * budget.memory


def test_with_ample_memory_nothing_is_missing_and_recall_is_sure() -> None:
    streams = zipf(2_000, 100, seed=6, window=5)
    outcome = streams.join("auto", hg.Budget(rows=1_000_000))
    assert outcome.recall == 1.0
    assert outcome.estimated_recall is not None
    assert outcome.estimated_recall.value == 1.0


def test_a_budget_without_a_monitor_cannot_learn() -> None:
    with pytest.raises(hg.SpecError, match=r'policy "age" learns a model .* monitor=0'):
        zipf(100, 10, 7).join("age", hg.Budget(rows=10, monitor=0))
    with pytest.raises(hg.SpecError, match=r"monitor=0\.9 .* from 0 .* to 0\.5"):
        hg.Budget(rows=10, monitor=0.9)


def test_evidence_adds_up_over_rows_and_shards() -> None:
    random = np.random.default_rng(8)
    met = random.integers(0, 9, 50)
    made = random.binomial(met, 0.4)
    share = random.choice([0.25, 0.5, 1.0], 50)
    parts = [Evidence.of(met[part], made[part], share[part]) for part in (slice(20), slice(20, 50))]
    whole = Evidence.of(met, made, share)
    assert (parts[0] + parts[1]).recall().value == pytest.approx(whole.recall().value)
    assert (parts[0] + parts[1]).recall().low == pytest.approx(whole.recall().low)


def test_nothing_met_says_nothing() -> None:
    assert Evidence().recall() == hg.Estimate(1.0, 0.0, 1.0)


def test_an_age_curve_is_matches_over_rows_that_reached_the_age() -> None:
    learner = AgeLearner((100, 0), (10, 1), 10)
    # Forty rows followed to age 35, twenty of them on to 100; two matches each in bucket 1.
    until = np.repeat([35, 100], 20)
    met = np.zeros(10)
    met[1] = 80
    learner.learn(0, met, np.zeros(40), until)
    assert learner.rows[0].tolist() == [40, 40, 40, 30, 20, 20, 20, 20, 20, 20]
    curves = learner.curves()
    assert curves is not None
    assert curves.left.matches.tolist() == [0, 2, 0, 0, 0, 0, 0, 0, 0, 0]


def test_watched_rows_that_missed_a_step_are_given_up() -> None:
    minute = hg.TimeWindow(60_000_000)
    room = room_for(hg.Budget(rows=1000), Learned("age"), 1, 0.5)
    terms = Terms((minute, minute), hg.policies.Fifo())
    rows = Batch.of_arrivals(np.arange(5), np.zeros(5, np.int32), np.ones(5, np.int64), np.zeros(5))

    def step(stored: Batch, open_rows: OpenRows) -> OpenRows:
        learning = LearningStep(
            terms,
            (stored, Batch.empty()),
            (rows, Batch.empty()),
            1,
            Progress(8, (len(stored.time), 0)),
            NO_WATERMARK,
            False,
            new_monitor(terms.windows, room),
            open_rows,
            np.empty(0, np.int64),
            8,
        )
        assert not list(learning.pairs())
        return learning.finish()[0]

    opened = step(Batch.empty(), OpenRows.none())
    assert opened.number.tolist() == [0, 1, 2, 3, 4]
    kept = rows._replace(sequence=np.arange(5))
    assert len(step(kept, opened).time) == 10
    # Had the join gone on without its monitor, other rows would be in their places.
    assert len(step(kept.take(np.array([0, 1])), opened).time) == 5
    anew = step(kept._replace(sequence=np.arange(5) + 9), opened)
    assert len(anew.time) == 5
    # Their columns stand behind those of the rows that were given up.
    assert anew.source.tolist() == [5, 6, 7, 8, 9]


def test_rows_watched_at_once_are_counted_at_their_most() -> None:
    marks = np.sort(np.random.default_rng(9).integers(0, 300, 80))
    drawn = np.random.default_rng(10).random(80)
    for share in (0.2, 0.7, 1.0):
        chosen = marks[drawn < share]
        most = max(sum((chosen >= t - 20) & (chosen <= t)) for t in range(301))
        assert Candidates(drawn, marks, 20).most_open(share) == most
