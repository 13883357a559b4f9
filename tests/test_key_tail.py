"""Keys too rare to be counted by themselves: their classes, and what rows of each are worth."""

import numpy as np
import pytest

import headgate as hg
from headgate.engine.limits import room_for
from headgate.learning.key_counts import marks_of, mixed
from headgate.learning.key_tail import CLASSES, COUNTED, NULL_LEVEL, KeyTail
from headgate.learning.learner import new_monitor
from headgate.policies import Learned
from headgate.studies.streams import Streams, keyed


def flat_tail(rows: int, keys: int, seed: int) -> Streams:
    """Half of the rows are of keys that come again and again, half of keys that never do."""
    rng = np.random.default_rng(seed)
    often = rng.integers(0, keys, (2, rows))
    once = 10**6 + np.arange(2 * rows).reshape(2, rows)
    left, right = np.where(rng.random((2, rows)) < 0.5, often, once)
    at = np.sort(rng.random((2, rows)), axis=1) * 400
    return keyed((left, right), (at[0], at[1]), (40, 40))


def test_keys_that_came_before_are_kept_before_those_that_never_did(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    streams = flat_tail(150_000, keys=10_000, seed=1)
    budget = hg.Budget(rows=8_000)
    told_apart = streams.join("prob", budget).pairs.num_rows
    monkeypatch.setattr(KeyTail, "rates", property(lambda _: np.zeros((CLASSES + 1, 2))))
    all_alike = streams.join("prob", budget).pairs.num_rows
    assert told_apart > 1.2 * all_alike


def test_a_class_is_worth_what_its_rows_met() -> None:
    tail = KeyTail()
    met = np.array([[0] * 3 + [900] + [0] * 3, [0] * 7])
    tail.add(np.stack([met, np.full((2, CLASSES), 1000), met]), matches=900)
    rates = tail.rates
    assert rates[3, 1] == pytest.approx(0.9, rel=0.2)
    assert rates[0, 1] < rates[3, 1] / 10
    assert not rates[:, 0].any(), "no row of the right side met any"
    assert not rates[COUNTED].any()


def test_many_matches_of_one_row_say_no_more_of_its_class_than_a_few() -> None:
    def told(squares: int) -> bool:
        tail, met = KeyTail(), np.array([[5.0] * 3 + [40] + [5] * 3, [0] * 7])
        sums = np.stack([met, np.full((2, CLASSES), 1000), np.where(met == 40, squares, met)])
        tail.add(sums, matches=70)
        return tail.tells

    assert told(squares=40), "forty rows met one each"
    assert not told(squares=1600), "one row met them all"


def test_few_matches_tell_that_keys_which_came_more_often_match_more() -> None:
    def told(*met: int) -> bool:
        tail, waited = KeyTail(), np.array([[30.0, 40, 10, 5, 3, 2, 2], [0] * 7])
        sums = np.stack([np.array([met, [0] * 7]), waited, np.array([met, [0] * 7])])
        tail.add(sums, matches=sum(met))
        return tail.tells

    assert told(6, 14, 8, 5, 3, 2, 2), "twice and thrice as often as those that came never or once"
    assert not told(13, 17, 4, 2, 1, 1, 2), "all alike"
    assert not told(20, 14, 4, 1, 1, 0, 0), "the less, the more often they came"


@pytest.mark.parametrize("windows", [1.5, 2.5])
def test_classes_that_do_not_tell_keys_apart_are_not_used(windows: float) -> None:
    tail = KeyTail(np.zeros(8, np.uint8), windows=windows)
    tail.add(np.full((3, 2, CLASSES), 100), matches=1400)
    assert not tail.rates.any()
    assert tail.is_useless == (windows > 2)
    assert len(tail.cells) == (0 if windows > 2 else 8)


def test_what_came_long_ago_fades() -> None:
    tail = KeyTail(np.full(10_000, 6 << 1, np.uint8))
    tail.forget(0.1, 0.5, seed=3, at=1)
    assert set((tail.cells >> 1).tolist()) == {3}
    tail.forget(0.1, 0.4, seed=3, at=2)
    assert (tail.cells >> 1).mean() == pytest.approx(1.2, abs=0.05), "rounded by chance"
    tail.cells |= 1
    for at in range(9):
        tail.forget(0.1, 1.0, seed=3, at=at)
        tail.cells |= 1
    assert set((tail.cells >> 1).tolist()) == {7}
    tail.fit(4)
    assert not tail.cells.any(), "another room begins anew"


@pytest.mark.parametrize("policy", ["prob", "auto"])
@pytest.mark.parametrize(
    "budget",
    [
        hg.Budget(rows=20_000),
        hg.Budget(rows=20_000, monitor=0.1),
        hg.Budget(memory="1 MB"),
        hg.Budget(memory="1 MB", monitor=0.1),
    ],
    ids=str,
)
def test_the_sketch_is_inside_the_monitors_share(budget: hg.Budget, policy: str) -> None:
    share = budget.monitor or 0.05
    room = room_for(budget, Learned(policy), 1, share)
    assert 4096 <= room.tail_cells <= 1 << 17
    if budget.rows is not None:
        assert room.rows <= share * budget.rows
    if budget.memory is not None:
        assert room.tail_cells <= 2 * room.tail_bytes
        assert room.bytes <= share * budget.memory
    assert not room_for(hg.Budget(memory="50 kB"), Learned(policy), 1, 0.05).tail_cells
    assert not room.without_tail.tail_cells


def test_a_key_that_is_no_longer_counted_by_itself_is_remembered() -> None:
    tail, hashes = KeyTail(np.zeros(1 << 12, np.uint8)), mixed(3)
    tail.add_keys(marks_of(hashes[:2]), np.array([2.6, 40.0]))
    places = np.array([-1, -1, 0, -1], np.int32)
    assert tail.levels(hashes, places, counted=1).tolist() == [1 + 3, 1 + 6, 0, 1 + NULL_LEVEL]


def test_the_tail_outlives_a_restart() -> None:
    windows = (hg.TimeWindow(1000), hg.TimeWindow(1000))
    room = room_for(hg.Budget(rows=1000), Learned("auto"), 1, 0.5)
    monitor, again = new_monitor(windows, room), new_monitor(windows, room)
    monitor.tail.cells = np.arange(10, dtype=np.uint8) << 1
    monitor.tail.forget(0.5, 1.0, seed=1, at=1)
    monitor.tail.add(np.full((3, 2, CLASSES), 10**12), matches=7)
    monitor.epoch.add_tail(1, np.array([2, COUNTED]), np.array([4.0, 5.0]), np.array([7, 8]))
    again.recall_facts(monitor.facts())
    assert again.facts() == monitor.facts()
    assert (again.tail.cells >> 1).tolist() == [*range(8), 7, 7]
    assert (again.tail.matches, again.tail.windows, again.epoch.watched_met) == (7, 0.5, 9)
    assert (again.epoch.tail[0, 1, 2], again.epoch.tail[1].sum()) == (4, 7)


@pytest.mark.parametrize(
    "damage",
    [{"matches": "many"}, {"windows": None}, {"sums": "AAAA"}, {"cells": "no text"}],
    ids=lambda damage: next(iter(damage)),
)
def test_damaged_facts_are_noticed_when_they_are_read(damage: dict[str, object]) -> None:
    with pytest.raises((TypeError, ValueError)):
        KeyTail.of(KeyTail().facts() | damage)
