"""Policies tried in miniature: what they make is what they would make, and the best is followed."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.engine.limits import room_for, terms_for
from headgate.engine.replay import Replay
from headgate.learning import room as rooms
from headgate.learning.key_counts import COUNT_BYTES
from headgate.learning.learner import Learner, new_monitor
from headgate.learning.rival_list import ages_together, regrouped
from headgate.learning.rival_round import RivalRound, RivalRows, coins
from headgate.learning.room import ALWAYS, TRIED_BYTES, WATCHED_BYTES
from headgate.learning.standing import GROUPS, LEAST_PAIRS, Standing
from headgate.learning.trial import sharing
from headgate.policies import Learned, Policy
from headgate.studies.auto.band_streams import BandStreams, band_streams
from headgate.studies.auto.streams import STREAMS
from headgate.studies.streams import Streams, aging, zipf
from headgate.trials.trace import Trace

ROWS = 4_000


def tried_pairs(
    monkeypatch: pytest.MonkeyPatch, streams: Streams | BandStreams, budget: hg.Budget, share: float
) -> dict[str, float]:
    """Pairs that each rival made in miniature on a share of the rows, scaled up."""
    made: dict[str, float] = {}
    play = RivalRound.play

    def noted(tried: RivalRound, policies: tuple[Policy, ...], *given: Any) -> Any:
        rows, pairs = play(tried, policies, *given)
        for policy, own in zip(policies, pairs.sum(axis=1), strict=True):
            made[policy.name] = made.get(policy.name, 0.0) + own / share
        return rows, pairs

    monkeypatch.setattr(RivalRound, "play", noted)
    monkeypatch.setattr("headgate.learning.trial.tried_share", lambda *_: share)
    monkeypatch.setattr(rooms, "MOST_TRIED", 10**9)
    monkeypatch.setattr(rooms, "TRIED_A_ROW", 10**9)
    monkeypatch.setattr("headgate.learning.trial.TRIED_ENOUGH", 0.0)  # nobody is paused
    streams.join("auto", budget)
    return made


@pytest.mark.parametrize(("share", "within"), [(1.0, 0.04), (0.1, 0.2)])
def test_a_rival_makes_in_miniature_what_it_makes_alone(
    monkeypatch: pytest.MonkeyPatch, share: float, within: float
) -> None:
    streams = zipf(40_000, 400, seed=3, keys=6_000, exponent=0.8, window=60)
    budget = hg.Budget(rows=2_200, monitor=0.05)
    alone = {
        name: streams.join(name, hg.Budget(rows=2_090, monitor=0)).stats.pairs
        for name in ("random", "fifo", "lru")
    }
    made = tried_pairs(monkeypatch, streams, budget, share)
    for name, pairs in alone.items():
        assert made[name] == pytest.approx(pairs, rel=within), name


@pytest.mark.parametrize(("share", "within"), [(1.0, 0.04), (0.1, 0.15)])
def test_a_rival_without_keys_makes_in_miniature_what_it_makes_alone(
    monkeypatch: pytest.MonkeyPatch, share: float, within: float
) -> None:
    streams = band_streams("gathered values", rows=40_000, rate=100, seed=3)
    budget = hg.Budget(rows=2_200, monitor=0.05)
    alone = {
        name: streams.join(name, hg.Budget(rows=2_090, monitor=0)).stats.pairs
        for name in ("random", "fifo", "lru", "lfu")
    }
    made = tried_pairs(monkeypatch, streams, budget, share)
    for name, pairs in alone.items():
        assert made[name] == pytest.approx(pairs, rel=within), name


@pytest.mark.parametrize(
    ("name", "best"),
    [
        ("gathered values", ("LFU",)),
        ("bursts", ("FIFO", "LRU", "AGE", "DENSITY")),
        ("values rise, one side ahead", ("AGE", "DENSITY")),
    ],
)
def test_auto_finds_the_best_policy_for_a_band_without_keys(
    name: str, best: tuple[str, ...]
) -> None:
    streams = band_streams(name, rows=30_000, rate=40, seed=2)
    budget = hg.Budget(rows=800)
    outcome = streams.join("auto", budget)
    followed = outcome.followed
    assert sum(followed.get(each, 0) for each in best) > 0.8 * sum(followed.values()), followed
    singles = ("random", "fifo", "lru", "lfu", "age", "density")
    most = max(streams.join(single, budget).stats.pairs for single in singles)
    assert outcome.stats.pairs > 0.93 * most


def test_auto_by_importance_needs_no_keys() -> None:
    streams = band_streams("gathered values", rows=40_000, rate=50, seed=1)
    worth = np.random.default_rng(1).choice([1.0, 1.0, 1.0, 50.0], streams.left.num_rows)
    left = streams.left.append_column("worth", pa.array(worth))
    budget, goal = hg.Budget(rows=500), hg.MaxImportance(left="worth")

    def made(policy: str) -> float:
        outcome = streams.request(policy, budget, goal=goal).run(left, streams.right)
        return outcome.stats.importance

    best = made("lfu")
    assert made("greedy") < 0.5 * best
    assert made("auto") > 0.9 * best


def test_windows_in_rows_and_no_keys_leave_policies_to_try() -> None:
    rows, seconds = hg.Side(time="lt", window="50 rows"), hg.Side(time="rt", window="9 seconds")
    near = hg.Band("value", lower=-1, upper=1)
    join = hg.WindowJoin(left=rows, right=seconds, where=near, budget=hg.Budget(rows=9))
    assert isinstance(join.policy, Learned)
    assert join.policy.rivals(join.windows) == ("random", "fifo", "lru", "lfu")
    assert not join.policy.counts_keys


@pytest.mark.parametrize(
    ("streams", "best"),
    [
        (
            aging(60_000, 600, window=60, shapes=["falling"], seed=1),
            ("FIFO", "LRU", "AGE", "DENSITY"),
        ),
        (aging(60_000, 600, window=60, shapes=["rising"], seed=1), ("AGE", "DENSITY")),
        (
            zipf(60_000, 600, seed=2, keys=20_000, exponent=0.8, window=60),
            ("PROB", "LRU", "LIFE", "DENSITY"),
        ),
    ],
    ids=["falling", "rising", "zipf"],
)
def test_auto_follows_who_makes_the_most_and_stays_near_it(
    streams: Streams, best: tuple[str, ...]
) -> None:
    budget = hg.Budget(rows=2_500)
    outcome = streams.join("auto", budget)
    followed = outcome.followed
    assert sum(followed.get(name, 0) for name in best) > 0.7 * sum(followed.values()), followed
    most = max(
        streams.join(name, budget).stats.pairs
        for name in ("random", "fifo", "lru", "prob", "life", "age")
    )
    assert outcome.stats.pairs > 0.9 * most
    assert outcome.stats.pairs > 0.9 * streams.join("fifo", budget).stats.pairs


def test_stored_rows_and_what_is_learned_stay_within_the_budget() -> None:
    streams = zipf(40_000, 400, seed=2, keys=20_000, window=60)
    request = streams.request("auto", hg.Budget(rows=ROWS, monitor=0.05))
    outcome = request.run(*streams.tables)
    room = room_for(request.budget, request.policy, 1, request.monitor_share(live=False))
    assert room.rows == 200
    # Once settled, what is not needed goes back to the rows, and no more than that.
    least = room.needed(by_key=False)
    assert outcome.stats.peak_rows <= ROWS - least.rows


def test_small_budgets_of_bytes_try_nothing_and_go_by_the_models() -> None:
    room = room_for(hg.Budget(memory="60 kB"), Learned("auto"), 1, 0.05)
    assert room.most_tried(key_bytes=8) == 0
    asked = room_for(hg.Budget(rows=500, monitor=0.05), Learned("auto"), 1, 0.05)
    assert (asked.most_tried(8), asked.rows, asked.watched.rows) == (0, 24, 12)


def test_budgets_of_rows_have_room_to_learn_beside_them() -> None:
    small, large = (
        room_for(hg.Budget(rows=rows), Learned("auto"), 1, 0.05) for rows in (40, 100_000)
    )
    assert small.rows == 0
    assert (small.most_watched(8), small.most_keys, small.most_tried(8)) == (232, 768, 768)
    told = 232 * (WATCHED_BYTES + 8) + 768 * COUNT_BYTES + 768 * (TRIED_BYTES + 8)
    assert told <= 64_000, "what is said of it"
    # Of large budgets it takes a twentieth but for that, and gives back what it does not need.
    assert large.rows == 5000 - sum(ALWAYS)
    assert large.needed(by_key=False).rows == 750 + 400 + 750 - sum(ALWAYS)


def test_auto_finds_the_best_policy_within_forty_rows() -> None:
    streams = aging(4000, seconds=2000, window=20, shapes=["rising"], seed=3)
    budget = hg.Budget(rows=8)
    best = streams.join("age", budget).stats.pairs
    assert streams.join("auto", budget).stats.pairs > 0.95 * best
    assert streams.join("random", budget).stats.pairs < 0.9 * best


def test_a_trial_that_memory_for_all_rows_makes_needless_ends() -> None:
    streams = zipf(4_000, 400, seed=2, keys=2_000, window=2)
    request = streams.request("auto", hg.Budget(rows=10_000))
    trace = Trace.of_tables(request, *streams.tables)
    room = room_for(request.budget, request.policy, 1, 0.05)
    learner = Learner(new_monitor(trace.windows, room), hashes=trace.key_hashes)
    terms = terms_for(request.budget, trace.windows, request.policy, monitor=0.05)
    Replay(terms, *trace.rows, trace.codes, learner=learner, hashes=trace.key_hashes).total()
    assert learner.monitor.tried == 0
    assert learner.rows.rivals is None


def test_the_leader_is_left_only_for_one_that_is_surely_better() -> None:
    standing = Standing(("fifo", "prob", "age"))
    chance = np.random.default_rng(5)
    near = np.stack([chance.poisson(rate, GROUPS) for rate in (50.0, 51.0, 20.0)])
    standing.add(near)
    assert standing.leader("fifo") == "fifo"
    assert standing.leader("age") in ("fifo", "prob")
    standing.add(np.stack([np.zeros(GROUPS), np.full(GROUPS, 20.0), np.zeros(GROUPS)]))
    assert standing.leader("fifo") == "prob"


def test_a_small_lead_is_followed_once_it_has_lasted() -> None:
    standing, nobody_waits = Standing(("fifo", "lru")), np.zeros(2)
    little = np.linspace(0.9, 1.1, GROUPS)
    standing.add(np.stack([np.full(GROUPS, 1000.0), 1000.0 + 10.0 * little]))
    assert not standing.leads("lru", "fifo")
    standing.go_on("fifo", 0.5, nobody_waits)
    assert standing.leader("fifo") == "fifo", "1 % for half a window"
    standing.go_on("fifo", 1.0, nobody_waits)
    assert standing.leader("fifo") == "lru", "for more than one"
    assert not standing.leads("prob", "fifo"), "nobody tries it"


def test_one_that_leads_waits_for_rows_that_mature_together() -> None:
    standing = Standing(("density", "random"))
    standing.add(np.stack([np.full(GROUPS, 20.0), np.full(GROUPS, 40.0)]))
    all_came_at_once, of_all_ages = np.array([0.3, 0.0]), np.zeros(2)
    standing.go_on("density", 0.4, all_came_at_once)
    assert standing.leader("density") == "density"
    standing.go_on("density", 0.4, all_came_at_once)
    assert standing.leader("density") == "density"
    standing.go_on("density", 0.4, all_came_at_once)
    assert standing.leader("density") == "random"
    standing.add(np.stack([np.full(GROUPS, 30.0), np.zeros(GROUPS)]))
    standing.go_on("density", 0.1, of_all_ages)  # they have matched: the lead is gone
    standing.add(np.stack([np.zeros(GROUPS), np.full(GROUPS, 30.0)]))
    standing.go_on("density", 0.1, of_all_ages)
    assert standing.leader("density") == "density"


def test_rows_that_came_together_are_told_from_rows_of_all_ages() -> None:
    ages = np.array([0.1, 0.3, 0.5, 0.7, 0.9, 0.48, 0.49, 0.5, 0.51, 0.52])
    held = np.zeros((3, 10), np.bool_)
    held[0, :5], held[1, 5:] = True, True
    rows = RivalRows.none(3)._replace(held=held)
    spread, together, nobody = ages_together((rows, RivalRows.none(3)), (ages, ages[:0]))
    assert (spread, nobody) == (0.0, 0.0)
    assert together == pytest.approx(0.47)


def test_auto_does_not_leave_rows_that_are_about_to_match() -> None:
    streams = STREAMS["INC"](60_000, 60, 1)
    budget = hg.Budget(rows=611)
    density = streams.join("density", budget).stats.pairs
    assert streams.join("auto", budget).stats.pairs > 0.97 * density


def test_of_two_that_make_the_same_the_one_that_leaves_more_room_is_better() -> None:
    standing = Standing(("fifo", "prob"), (0.0, 0.03))
    standing.add(np.full((2, GROUPS), 50.0))
    assert standing.leader("prob") == "fifo"
    assert standing.leader("fifo") == "fifo"


def test_one_lucky_row_is_no_lead() -> None:
    standing = Standing(("fifo", "prob"))
    lucky = np.full((2, GROUPS), 10.0)
    lucky[1, 3] += 500.0
    standing.add(lucky)
    assert standing.leader("fifo") == "fifo"


def test_nothing_is_told_by_a_few_pairs() -> None:
    standing = Standing(("fifo", "prob"))
    standing.add(np.stack([np.zeros(GROUPS), np.full(GROUPS, (LEAST_PAIRS - 1) / GROUPS)]))
    assert not standing.tells
    assert standing.leader("fifo") == "fifo"


def test_where_few_rivals_are_left_more_arrivals_are_put_to_them() -> None:
    windows = (hg.TimeWindow(1000), hg.TimeWindow(1000))
    monitor = new_monitor(windows, room_for(hg.Budget(rows=2_000), Learned("auto"), 1, 0.05))
    monitor.standing, monitor.tried = Standing(("fifo", "lru")), 0.05
    monitor.standing.add(np.ones((2, GROUPS)))
    ones = np.ones((2, 400))
    rows = RivalRows.none(2)._replace(
        time=np.arange(400),
        size=np.arange(400),
        sequence=np.arange(400),
        code=np.arange(400),
        held=ones > 0,
        matches=ones,
        touched=ones,
        source=np.arange(400),
    )
    both = (rows.where(coins(monitor.seed, 0, rows.sequence) < 0.05), RivalRows.none(2))
    grown = sharing(both, monitor, 2_000, most=400)
    assert (monitor.tried, grown) == (0.1, both)
    # Others come back: all have room for fewer, which are part of those before.
    monitor.standing = regrouped(monitor.standing, tuple("abcde"), (0.0,) * 5, "fifo")
    fewer, _ = sharing(grown, monitor, 2_000, most=400)
    assert monitor.tried == 0.04
    assert len(fewer.time) < len(both[0].time)
    assert (coins(monitor.seed, 0, fewer.sequence) < 0.04).all()


def test_rows_without_a_rival_are_let_go() -> None:
    rows = RivalRows.none(3)
    assert rows.where(np.zeros(0, bool)).held.shape == (3, 0)


def test_by_importance_a_lead_in_nearly_all_groups_tells_though_groups_differ() -> None:
    worth = np.random.default_rng(3).permutation(np.linspace(0.2, 3.0, GROUPS))
    standing = Standing(("fifo", "greedy", "ijoin"), by_importance=True)
    standing.add(np.stack([2 * worth, 3 * worth, 3.2 * worth]))
    assert standing.tells
    assert standing.leader("fifo") == "ijoin"
    standing.made = np.stack([3 * worth, 3 * worth[::-1], 3 * np.roll(worth, 5)])
    assert not standing.tells


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_which_rival_leads_by_importance_does_not_depend_on_its_unit(unit: float) -> None:
    chance = np.random.default_rng(2)
    standing = Standing(("fifo", "greedy"), by_importance=True)
    expected = np.array([[20.0], [29.0]])
    few, many = (chance.poisson(n * expected, (2, GROUPS)) * unit for n in (0.1, 3))
    standing.add(few)
    assert not standing.tells
    standing.add(many)
    assert standing.leader("fifo") == "greedy"
