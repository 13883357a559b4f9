"""What a join learns of its streams, and how good it says it is.

How much learning gains, how it follows a stream that changes, and how often the interval of the
recall is right, is on trial in `headgate reproduce learned`, whose quick form is in the suite.
"""

import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

import headgate as hg
from headgate.engine.limits import room_for
from headgate.kernel.rows import Rows
from headgate.kernel.step import Step
from headgate.kernel.step_input import StepInput
from headgate.kernel.step_progress import StepProgress
from headgate.kernel.terms import Terms
from headgate.learning.age_learner import AgeLearner
from headgate.learning.evidence import Evidence
from headgate.learning.learned_rows import LearnedRows
from headgate.learning.learner import Learner, new_monitor
from headgate.learning.model_fit import ModelFit
from headgate.learning.watch_room import Coming, Spans, open_at_once
from headgate.learning.watched_rows import WatchedRows
from headgate.models import AgeCurve, AgeCurves
from headgate.policies import Learned
from headgate.policies.chance import uniform
from headgate.studies.ijoin.scale import Many, made
from headgate.studies.ijoin.streams import BY_ROW
from headgate.studies.streams import aging, zipf


def test_auto_follows_the_model_that_fits() -> None:
    by_age = aging(30_000, seconds=200, window=20, shapes=["rising"], seed=1)
    followed = by_age.join("auto", hg.Budget(rows=300)).followed
    # Match density goes by age as well.
    assert followed["AGE"] + followed["DENSITY"] > 0.95 * sum(followed.values())
    by_key = zipf(30_000, seconds=100, seed=2)
    followed = by_key.join("auto", hg.Budget(rows=600)).followed
    # LRU is nearly as good until enough keys are counted.
    assert followed["PROB"] > 0.75 * sum(followed.values())


@pytest.mark.parametrize(
    ("many", "policy"),
    [
        (Many(topic_stays=2), "IJOIN"),
        (Many(skew=0.6), "PROB"),
        (Many(keys=0.2), "GREEDY"),
    ],
    ids=["what is hot changes", "some keys are frequent", "nothing tells rows apart"],
)
def test_auto_follows_what_suits_the_stream_where_rows_matter_differently(
    many: Many, policy: str
) -> None:
    streams = many.draw(20_000, BY_ROW, seed=1)
    followed = made(streams, "auto", window_stays=5)[1]
    assert followed[policy] > 0.7 * sum(followed.values())


def test_auto_begins_with_ijoin_again_only_if_it_is_sure() -> None:
    auto, curve = Learned("auto", important=True), AgeCurve(10, [1])
    weights, curves = np.ones(2), AgeCurves(curve, curve)

    def follow(fading: tuple[float, float], followed: str) -> str:
        return auto.follow(curves, weights, "key", fading, followed).label

    assert follow((0.06, 0.02), "prob") == "PROB"
    assert follow((0.06, 0.02), "ijoin") == "IJOIN"
    assert follow((0.08, 0.02), "prob") == "IJOIN"
    assert follow((0.04, 0.0), "ijoin") == "PROB"


def test_keys_are_counted_over_a_few_stays() -> None:
    room = room_for(hg.Budget(rows=1000), Learned("auto"), 1, 0.5)
    monitor = new_monitor((hg.TimeWindow(1000), hg.TimeWindow(1000)), room)
    monitor.counts = np.array([[8.0, 4.0]])
    # A tenth of a window, in which all that is stored was replaced three times.
    monitor.forget(0.1, 100.0, arrived=300, stored=100)
    assert monitor.counts.tolist() == [[4.0, 2.0]]
    assert monitor.rate == 3.0
    # With room for a whole window, two windows.
    monitor.forget(2.0, 2000.0, arrived=200, stored=100)
    assert monitor.counts.tolist() == [[2.0, 1.0]]


def test_what_a_monitor_knows_outlives_a_restart() -> None:
    room = room_for(hg.Budget(rows=1000), Learned("auto"), 1, 0.5)
    windows = (hg.TimeWindow(1000), hg.TimeWindow(1000))
    monitor, again = new_monitor(windows, room), new_monitor(windows, room)
    monitor.forget(0.1, 100.0, arrived=300, stored=100)
    spent = monitor.ages.followed(0, np.zeros(5, int), np.full(5, 900))
    monitor.ages.add(np.stack([np.arange(120)] * 2), np.stack([spent] * 2))
    monitor.epoch.judged[:] = 0.1
    monitor.epoch.matches[1, 7] = 3
    monitor.followed = "ijoin"
    again.recall_facts(monitor.facts())
    assert again.facts() == monitor.facts()
    assert (again.followed, again.counted) == ("ijoin", 100.0)
    assert again.fading(30) == monitor.fading(30)


def test_what_an_earlier_version_wrote_is_taken_up_and_an_epoch_begins() -> None:
    room = room_for(hg.Budget(rows=1000), Learned("auto"), 1, 0.5)
    windows = (hg.TimeWindow(1000), hg.TimeWindow(1000))
    monitor = new_monitor(windows, room)
    written = {
        "share": 0.25,
        "finished": asdict(Evidence(8.0, 4.0)),
        "counted": 10.0,
        "lived": 20.0,
        "arrived": 30.0,
        "fit": asdict(ModelFit(age=1.0, matches=60.0)),
        "followed": "prob",
        "switched": 1,
        "contested": True,
        "steady": 3.0,
        "spared": None,
        "tried": 0.1,
        "standing": {"names": ["fifo", "prob"], "costs": [0.0, 0.1], "made": [[1.0] * 16] * 2},
        "pairs": 5,
        "lost": 6,
        "matches": [[1.0] * 120] * 2,
        "rows": [[2.0] * 120] * 2,
    }
    monitor.recall_facts(json.dumps(written))
    assert (monitor.share, monitor.followed, monitor.finished.met) == (0.25, "prob", 8.0)
    assert monitor.ages.rows.sum() == 480.0
    again = new_monitor(windows, room)
    again.recall_facts(monitor.facts())
    assert again.facts() == monitor.facts()


def test_the_monitor_is_cut_to_its_room_when_the_budget_changes() -> None:
    windows = (hg.TimeWindow(1000), hg.TimeWindow(1000))
    one, other = (
        new_monitor(windows, room_for(hg.Budget(rows=rows), Learned("auto"), 1, 0.5))
        for rows in (1000, 500)
    )
    other.recall_facts(one.facts())
    assert other.epoch.until == 0, "the epoch ends with the next step"


@pytest.mark.parametrize("budget", [hg.Budget(rows=200, monitor=0.05), hg.Budget(memory=20_000)])
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


def test_a_row_watched_with_a_chance_of_a_half_stands_for_two() -> None:
    met, made, share = np.array([4.0, 1.0]), np.array([3.0, 1.0]), np.array([0.5, 1.0])
    assert Evidence.of(met, made, share) == Evidence(9.0, 7.0, 32.0, 24.0, 18.0)


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
    met = np.zeros((2, 10), int)
    met[0, 1] = 80
    spent = learner.followed(0, np.zeros(40, int), until)
    learner.add(met, np.stack([spent, 0 * spent]))
    assert learner.rows[0].tolist() == [40, 40, 40, 30, 20, 20, 20, 20, 20, 20]
    curves = learner.curves()
    assert curves is not None
    assert curves.left.matches.tolist() == [0, 2, 0, 0, 0, 0, 0, 0, 0, 0]


def test_age_curves_get_enough_of_a_small_budget_where_that_is_enough() -> None:
    both, one = (hg.TimeWindow(1000), hg.TimeWindow(9)), (hg.TimeWindow(1000), hg.TimeWindow(0))

    def watched(
        policy: str, monitor: float | None = None, windows: Any = both, **budget: int
    ) -> int:
        given = hg.Budget(**budget, monitor=monitor)
        room = room_for(given, Learned(policy), 1, monitor or 0.05, windows=windows)
        return room.most_watched(key_bytes=8)

    assert (watched("age", memory=73_000), watched("age", memory=20_000)) == (60, 31)
    # Too small to learn anything from, or large enough: a fortieth, as of a budget that says so.
    assert (watched("age", memory=10_000), watched("age", memory=1_000_000)) == (3, 390)
    assert (watched("age", 0.05, memory=73_000), watched("age", 0.05, rows=740)) == (28, 36)
    assert (watched("auto", 0.05, rows=740), watched("age", windows=one, memory=73_000)) == (36, 28)
    # Where keys are counted as well, it is enough of less, and never more than a twentieth.
    assert (watched("auto", memory=73_000), watched("auto", memory=40_000)) == (48, 31)
    # Where rows are counted, what is learned from is no row.
    assert (watched("age", rows=40), watched("auto", rows=740)) == (232, 232)
    assert watched("age", rows=10_000) == 500


def test_age_learns_in_a_small_budget_where_rows_of_both_sides_wait() -> None:
    streams = replace(
        aging(4000, seconds=200, window=20, shapes=["rising"], seed=1), windows=(20, 20)
    )

    def recall(monitor: float | None) -> float:
        return streams.join("age", hg.Budget(memory="20 kB", monitor=monitor)).recall

    assert recall(None) > 1.5 * recall(0.05)


def test_one_bad_epoch_is_no_reason_to_leave_the_counts_of_keys() -> None:
    # Other keys became frequent: a lead of many nats, but of little a match.
    assert not ModelFit(age=20_549.0, key=19_490.0, matches=8797.0).tells_clearly
    assert ModelFit(age=-0.4, key=-107.3, matches=54.0).tells_clearly


def test_watched_rows_that_missed_a_step_are_given_up() -> None:
    minute = hg.TimeWindow(60_000_000)
    room = room_for(hg.Budget(rows=1000), Learned("age"), 1, 0.5)
    terms = Terms((minute, minute), hg.policies.Fifo())
    rows = Rows.of_arrivals(np.arange(5), np.zeros(5, np.int32), np.ones(5, np.int64), np.zeros(5))

    def step(stored: Rows, watched: WatchedRows) -> WatchedRows:
        before = LearnedRows(watched, np.empty(0, np.int64))
        learner = Learner(new_monitor(terms.windows, room), before)
        progress = StepProgress(8, (len(stored.time), 0))
        given = StepInput(terms, (stored, Rows.empty()), (rows, Rows.empty()), 1, progress)
        step = Step(learner.before(given))
        assert not list(step.pairs())
        learner.after(step)
        return learner.rows.watched

    opened = step(Rows.empty(), WatchedRows.none())
    assert opened.number.tolist() == [0, 1, 2, 3, 4]
    kept = rows._replace(sequence=np.arange(5))
    assert len(step(kept, opened).time) == 10
    # Had the join gone on without its monitor, other rows would be in their places.
    assert len(step(kept.take(np.array([0, 1])), opened).time) == 5
    anew = step(kept._replace(sequence=np.arange(5) + 9), opened)
    assert len(anew.time) == 5
    # Their columns stand behind those of the rows that were given up.
    assert anew.source.tolist() == [5, 6, 7, 8, 9]


@pytest.mark.parametrize("by_rows", [False, True])
def test_rows_watched_at_once_are_counted(by_rows: bool) -> None:
    rng = np.random.default_rng(9)
    time, side = np.sort(rng.integers(0, 300, 80)), rng.integers(0, 2, 80).astype(np.uint8)
    order = np.lexsort((side, time))
    coming = Coming(side[order], time[order], rng.random(80) < 0.9)
    spans, sequence = Spans((20, 5), (by_rows, by_rows)), coming.sequence((3, 4))
    assert sequence[coming.side == 1].tolist() == list(range(4, 4 + int(side.sum())))
    for share in (0.2, 0.7, 1.0):
        chosen = (uniform(5, coming.side, sequence) < share) & coming.joins
        places, count = open_at_once(coming, WatchedRows.none(), spans, sequence, chosen)
        assert places.tolist() == np.flatnonzero(chosen).tolist()
        for place, many in zip(places, count, strict=True):
            now = StepProgress(
                2 * int(coming.time[place]) + int(coming.side[place]),
                tuple(
                    int(sequence[: place + 1][coming.side[: place + 1] == which].max(initial=-1))
                    + 1
                    for which in (0, 1)
                ),
            )
            came = [at for at in places if at <= place]
            rows = WatchedRows.none()._replace(
                side=coming.side[came], time=coming.time[came], sequence=sequence[came]
            )
            assert many == np.count_nonzero(~spans.are_past(rows, now))
