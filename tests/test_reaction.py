"""How fast what is learned follows a stream that changes: key counts, and policies on trial."""

import math

import numpy as np
import pytest

import headgate as hg
from headgate.engine.limits import room_for
from headgate.learning.key_change import arrivals_worth
from headgate.learning.rival_list import places_among, regrouped, regrouped_rows
from headgate.learning.rival_round import RivalRows
from headgate.learning.standing import GROUPS, Standing
from headgate.policies import Learned
from headgate.policies.density import Density
from headgate.spec import How, RowWindow, TimeWindow

MINUTES = (TimeWindow(60_000_000), TimeWindow(60_000_000))


def zipf_counts(seed: int, rows: int, moved: bool = False) -> np.ndarray:
    share = np.arange(1, 2001) ** -0.8
    share = np.roll(share, 1000) if moved else share
    return np.random.default_rng(seed).multinomial(rows, share / share.sum()).astype(np.float64)


def test_counts_of_keys_that_come_as_before_are_kept() -> None:
    differs = sum(
        arrivals_worth(zipf_counts(2 * seed, 5_000), zipf_counts(2 * seed + 1, 2_000)) < math.inf
        for seed in range(200)
    )
    assert differs <= 4


@pytest.mark.parametrize("rows", [500, 2_000, 20_000])
def test_counts_of_other_keys_are_worth_little(rows: int) -> None:
    before, now = zipf_counts(1, 20_000), zipf_counts(2, rows, moved=True)
    assert arrivals_worth(before, now) < 1_000
    # The share that is forgotten does not depend on the rate at which rows come.
    assert arrivals_worth(before, 10 * now) <= arrivals_worth(before, now)


def test_nothing_counted_says_nothing() -> None:
    assert arrivals_worth(np.zeros(3), np.ones(3)) == math.inf
    assert arrivals_worth(np.full(3, 9.0), np.zeros(3)) == math.inf


def standing_of(**made: float) -> Standing:
    standing = Standing(tuple(made))
    chance = np.random.default_rng(1)
    standing.add(np.stack([chance.poisson(rate, GROUPS) for rate in made.values()]))
    return standing


def test_policies_far_behind_are_told_from_those_near() -> None:
    standing = standing_of(prob=100.0, life=97.0, fifo=20.0, lru=60.0)
    assert standing.far_behind("prob") == ("fifo", "lru")
    assert standing_of(prob=5.0, fifo=1.0).far_behind("prob") == (), "too few pairs to tell"


def test_a_policy_that_comes_back_is_as_good_as_the_one_followed() -> None:
    standing = standing_of(prob=100.0, fifo=20.0)
    paused = regrouped(standing, ("prob",), (0.0,), "prob")
    assert paused.made.tolist() == standing.made[:1].tolist()
    back = regrouped(paused, ("prob", "fifo"), (0.0, 0.0), "prob")
    assert back.made[0].tolist() == back.made[1].tolist()
    assert back.leader("prob") == "prob"


def rows_held(held: np.ndarray) -> RivalRows:
    rows = held.shape[1]
    return RivalRows(
        time=np.arange(rows),
        size=np.ones(rows, np.int64),
        sequence=np.arange(rows),
        code=np.zeros(rows, np.int32),
        value=np.empty(0),
        held=held,
        matches=np.arange(held.size).reshape(held.shape).astype(np.int32),
        touched=np.zeros(held.shape, np.int64),
        recent=np.zeros((len(held), 0)),
        met=np.zeros((len(held), 0), np.bool_),
        importance=np.empty(0),
        source=np.arange(rows),
    )


def test_a_policy_that_comes_back_begins_with_what_the_one_followed_stores() -> None:
    held = np.array([[True, True, False, False], [False, True, True, False]])
    side = rows_held(held)
    left, _ = regrouped_rows((side, side), ("prob", "fifo"), ("fifo", "lru"), "fifo")
    assert left.held.tolist() == [[True, True], [True, True]]
    assert left.sequence.tolist() == [1, 2]
    assert left.matches.tolist() == [[5, 6], [5, 6]]
    (nobody, _) = regrouped_rows((side, side), ("prob", "fifo"), ("lru",), "age")
    assert nobody.held.shape == (1, 0)
    assert places_among((), ("lru",), "lru").tolist() == [-1]


def test_match_density_is_learned_within_the_monitors_share() -> None:
    large, small = (
        room_for(hg.Budget(memory=memory), Learned("auto"), 1, 0.05, windows=MINUTES)
        for memory in ("64 MB", "8 MB")
    )
    assert large.class_bytes > 0
    assert large.bytes <= 0.05 * 64e6
    assert small.class_bytes == 0
    named = room_for(hg.Budget(memory="8 MB"), Learned("density"), 1, 0.05, windows=MINUTES)
    assert named.class_bytes > 0
    assert named.bytes <= 0.05 * 8e6 + named.class_bytes
    counted = room_for(
        hg.Budget(rows=500_000, monitor=0.05), Learned("auto"), 1, 0.05, windows=MINUTES
    )
    assert counted.class_rows > 0
    assert counted.rows <= 0.05 * 500_000
    free = room_for(hg.Budget(rows=50), Learned("auto"), 1, 0.05, windows=MINUTES)
    assert (free.class_rows, free.rows) == (0, 0)
    assert free.class_bytes > 0


def test_match_density_is_tried_where_it_is_learned() -> None:
    auto, rows = Learned("auto"), (RowWindow(5), RowWindow(5))
    assert Density.name in auto.rivals(MINUTES)
    assert Density.name not in auto.rivals(MINUTES, dense=False)
    assert Density.name not in auto.rivals(rows)
    assert Density.name not in auto.rivals(MINUTES, How.ANTI)
    assert room_for(hg.Budget(rows=50), auto, 1, 0.05, windows=rows).class_bytes == 0
