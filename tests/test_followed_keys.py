"""Keys that are followed to tell recall where rows of both sides wait."""

import json
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headgate as hg
from headgate.engine.limits import room_for
from headgate.kernel.key_draw import KeyDraw
from headgate.learning.cluster_sums import ClusterSums, Together
from headgate.learning.followed_keys import FollowedKeys
from headgate.learning.keys_seen import Following, HashedRows, KeysSeen
from headgate.learning.learner import new_monitor
from headgate.policies import Random
from headgate.spec import TimeWindow

NO_KEYS = np.empty(0, np.uint64)
SPANS = (30, 12)


def keyed_rows(seed: int, rows: int, keys: int) -> HashedRows:
    """Rows in event order, some at the same time."""
    rng = np.random.default_rng(seed)
    side, time = rng.integers(0, 2, rows).astype(np.uint8), rng.integers(0, 4 * rows // 5, rows)
    order = np.lexsort((side, time))
    key = rng.integers(0, keys, rows).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return HashedRows(side[order], time[order], key)


def rule_of(share: float) -> Following:
    return Following(KeyDraw(7, share, 1.0, 2 * max(SPANS), (True, True), NO_KEYS), SPANS)


@given(st.integers(0, 2**64 - 1), st.integers(1, 10**12), st.integers(-(10**15), 10**15))
def test_lots_are_those_of_their_clusters(seed: int, block_us: int, first: int) -> None:
    rng = np.random.default_rng(seed)
    key, time = rng.integers(0, 2**64, 50, np.uint64), first + rng.integers(0, 10**13, 50)
    draw = KeyDraw(seed, 0.5, 1.0, block_us, (True, True), np.empty(0, np.uint64))
    expected = draw.lots(draw.clusters(key, time))
    assert draw.lots_at(key, time).tolist() == expected.tolist()


@pytest.mark.parametrize("share", [1.0, 0.4])
def test_who_was_preceded_by_a_partner_is_known_of_drawn_keys_wherever_steps_are_cut(
    share: float,
) -> None:
    rows, rule = keyed_rows(3, 600, 40), rule_of(share)
    draw = rule.draw
    asked = draw.lots(draw.clusters(rows.key, rows.time)) < share
    true = [
        any(
            rows.side[before] != rows.side[at]
            and rows.key[before] == rows.key[at]
            and rows.time[before] + SPANS[rows.side[before]] >= rows.time[at]
            for before in range(at)
        )
        for at in range(len(rows.side))
    ]
    assert 0 < np.count_nonzero(np.array(true) & asked) < np.count_nonzero(asked)
    for cuts in ([0, 600], [0, 7, 8, 333, 600], list(range(0, 601, 20))):
        seen, found = KeysSeen.none(), []
        for first, end in pairwise(cuts):
            part = rows.where(np.arange(first, end))
            entered = rule.enters(part)
            found += seen.precede(part, rule, entered, asked[first:end]).tolist()
            seen = seen.then(part.where(entered))
            clock = 2 * int(part.time[-1]) + int(part.side[-1])
            is_open = rule.is_open(seen.rows, clock)
            seen = seen.fitting(is_open, ~is_open, most=10**6)
        assert found == (np.array(true) & asked).tolist()


@pytest.mark.parametrize("share", [1.0, 0.4])
def test_entries_at_once_are_counted_before_a_step(share: float) -> None:
    rows, rule = keyed_rows(4, 300, 30), rule_of(share)
    before, rows = rows.where(np.arange(100)), rows.where(np.arange(100, 300))
    joins = np.random.default_rng(1).random(200) < 0.9
    held = KeysSeen.none().then(before.where(rule.enters(before)))
    places, count = held.at_once(rows, rule, joins)
    assert places.tolist() == np.flatnonzero(joins & rule.enters(rows)).tolist()
    for place, many in zip(places, count, strict=True):
        came = np.flatnonzero(joins[: place + 1])
        new = rows.where(came)
        seen = held.then(new.where(rule.enters(new)))
        clock = 2 * int(rows.time[place]) + int(rows.side[place])
        assert many == np.count_nonzero(rule.is_open(seen.rows, clock))


def test_the_variance_is_that_of_sums_over_clusters() -> None:
    """On average over the random signs, and about so with 64 of them."""
    rng = np.random.default_rng(5)
    cluster = rng.integers(0, 400, 3_000)
    met, made = rng.integers(0, 3, 3_000) * 1.0, rng.integers(0, 2, 3_000) * 1.0
    half, all_of_them = np.full(3_000, 0.5), np.ones(3_000)
    found, by_row = [], ClusterSums()
    for seed in range(60):
        words = (cluster + 1_000 * seed).astype(np.uint64) * np.uint64(0xD1342543DE82EF95)
        parts = [
            ClusterSums().then(met[part], made[part], Together(words[part], half[part], half[part]))
            for part in (slice(1_234), slice(1_234, None))
        ]
        found.append((parts[0] + parts[1]).evidence)
        by_row = ClusterSums().then(met, made, Together(words, all_of_them, half))
    sums = np.bincount(cluster, met / 0.5, 400)
    # A half of the clusters, and a half of the rows of those: (1 - q) / q² and (1 - p) / (p² q).
    true = 0.5 / 0.25 * float(sums @ sums) + 0.5 / 0.125 * float(met @ met)
    assert np.mean([each.met_met for each in found]) == pytest.approx(true, rel=0.05)
    assert all(each.met_met == pytest.approx(true, rel=0.8) for each in found)
    # Of all clusters a half of the rows: as if rows were drawn one by one.
    assert by_row.evidence.met_met == pytest.approx(0.5 / 0.25 * float(met @ met))


def test_keys_drawn_anew_count_once_they_were_followed_for_a_window() -> None:
    keys = FollowedKeys(spans=(30, 12), share=0.25, counted=0.25)
    keys.follow_more(0.5, now_us=100)
    keys.count_new(130)
    assert (keys.share, keys.counted) == (0.5, 0.25)
    keys.count_new(131)
    assert (keys.share, keys.counted, keys.raised_us) == (0.5, 0.5, None)
    keys.follow(0.125)
    assert (keys.share, keys.counted) == (0.125, 0.125)


def test_what_is_known_of_keys_outlives_a_restart_and_older_checkpoints_are_taken_up() -> None:
    room = room_for(hg.Budget(rows=1_000), Random(), 1, 0.2)
    windows = (TimeWindow(30), TimeWindow(12))
    monitor = new_monitor(windows, room)
    monitor.follows_keys = True
    keys, rows = monitor.followed_keys, keyed_rows(3, 50, 20)
    keys.follow(0.5)
    keys.seen = keys.seen.then(rows.where(keys.entered((True, True)).enters(rows)))
    one = np.ones(1)
    drawn = Together(np.array([9], np.uint64), one * 0.5, one * 0.25)
    keys.sums = (ClusterSums().then(one, one, drawn), ClusterSums())
    again = new_monitor(windows, room)
    again.recall_facts(monitor.facts())
    assert again.followed_keys.facts() == keys.facts()
    assert again.followed_keys.sums[0].evidence.met == 8.0
    older = json.loads(monitor.facts())
    del older["followed_keys"]
    taken_up = new_monitor(windows, room)
    taken_up.recall_facts(json.dumps(older))
    # What came before was not noted: rows count after a window.
    assert taken_up.followed_keys.counted == 0.0
    taken_up.followed_keys.count_new(1_000)
    assert taken_up.followed_keys.counted == 0.0
    taken_up.followed_keys.count_new(1_031)
    assert taken_up.followed_keys.counted == 1.0


@pytest.mark.parametrize("how", ["left", "full", "semi", "anti"])
def test_a_key_with_more_rows_than_can_be_watched_does_not_hide_the_others(how: str) -> None:
    """It takes one entry for a side, and of its rows a share is watched."""
    rng = np.random.default_rng(8)
    sides = []
    for at in ("lt", "rt"):
        keys = rng.zipf(1.4, 6_000) % 1_000
        time = np.sort(rng.integers(0, 60_000_000, 6_000))
        sides.append(pa.table({"k": keys, at: pa.array(time).cast(pa.timestamp("us", "UTC"))}))
    join = hg.WindowJoin(
        how=how,
        on="k",
        left=hg.Side("lt", "5 seconds"),
        right=hg.Side("rt", "5 seconds"),
        budget=hg.Budget(rows=400, monitor=0.3),
        policy="random",
    )
    outcome = join.run(*sides)
    told = outcome.estimated_recall
    assert told is not None
    assert told.low <= outcome.recall <= told.high
    if how in ("left", "full"):  # of semi and anti joins, little is told by few drawn keys
        assert told.high - told.low < 0.3
