"""Joins whose rows do not all matter the same, in process."""

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.demo.flights import new_york_flights
from headgate.policies import ALL_POLICIES, Greedy, Ijoin, Policy
from headgate.policies.offline import Opt

START_US = 1_767_225_600_000_000


def side(seed: int, rows: int = 300, keys: int = 12) -> pa.Table:
    """A row a second; what is hot changes every 20 seconds."""
    rng = np.random.default_rng(seed)
    seconds = np.arange(rows) + rng.random(rows) / 2
    hot = (seconds // 20).astype(int) * 5 % keys
    key = np.where(rng.random(rows) < 0.5, hot, rng.integers(0, keys, rows))
    at = pa.array(START_US + (seconds * 1e6).astype(np.int64)).cast(pa.timestamp("us", "UTC"))
    return pa.table({"key": key, "at": at, "imp": 1.0 + key * 7 % 11, "id": np.arange(rows)})


TABLES = (side(1), side(2))


def join(
    policy: Policy | str, goal: hg.Goal | None = None, rows: int = 10, **more: object
) -> hg.WindowJoin:
    return hg.WindowJoin(
        on="key",
        left=hg.Side(time="at", window="25 seconds"),
        right=hg.Side(time="at", window="25 seconds"),
        budget=hg.Budget(rows=rows, monitor=0),
        goal=goal or hg.MaxImportance("imp", "imp"),
        policy=policy,
        **more,
    )


@pytest.mark.parametrize("combine", ["min", "product", "sum", "max"])
def test_the_result_carries_what_each_row_is_worth(combine: str) -> None:
    goal = hg.MaxImportance("imp", "id % 7", combine=combine, column="worth")
    outcome = join("fifo", goal).run(*TABLES)
    pairs = outcome.pairs.to_pandas()
    function = {"min": np.minimum, "product": np.multiply, "sum": np.add, "max": np.maximum}
    wanted = function[combine](pairs["imp"], pairs["id_right"] % 7)
    assert np.array_equal(pairs["worth"], wanted)
    assert outcome.stats.importance == pytest.approx(pairs["worth"].sum())
    assert 0 < outcome.importance_recall < 1


def test_where_one_side_is_told_it_alone_counts() -> None:
    pairs = join("fifo", hg.MaxImportance(right="imp")).run(*TABLES).pairs
    assert pairs.column("importance").equals(pairs.column("imp_right"))


@pytest.mark.parametrize("policy", [policy.name for policy in ALL_POLICIES if not policy.model])
def test_with_ample_memory_every_policy_makes_it_all(policy: str) -> None:
    outcome = join(policy, rows=10_000).run(*TABLES)
    assert outcome.importance_recall == 1.0
    assert outcome.stats.lost_rows == 0


def test_rows_that_matter_all_alike_count_as_pairs() -> None:
    outcome = join("lru", hg.MaxSubset()).run(*TABLES)
    assert outcome.stats.importance == outcome.stats.pairs
    assert outcome.importance_recall == outcome.recall
    assert "importance" not in outcome.pairs.column_names


def test_a_redefinition_judges_stored_and_arriving_rows_from_its_time_on() -> None:
    half = datetime.fromtimestamp((START_US + 150_000_000) / 1e6, UTC)
    flipped = hg.MaxImportance("12 - imp", "12 - imp")
    whole = join("fifo", rows=10_000).run(*TABLES, redefined=[(half, flipped)])
    pairs = whole.pairs.to_pandas()
    later = np.maximum(pairs["at"], pairs["at_right"]) >= half
    assert np.array_equal(pairs["importance"], np.where(later, 12 - pairs["imp"], pairs["imp"]))
    assert 0 < later.sum() < len(pairs)
    assert whole.stats.redefined == 1
    # GREEDY keeps other rows from then on: what it had stored goes first.
    kept = join(Greedy()).run(*TABLES, redefined=[(half, flipped)]).pairs.to_pandas()
    stale = join(Greedy()).run(*TABLES).pairs.to_pandas()
    since = np.maximum(stale["at"], stale["at_right"]) >= half
    stale_worth = np.where(since, 12 - stale["imp"], stale["imp"]).sum()
    assert kept["importance"].sum() > 1.2 * stale_worth


def test_fairness_goes_from_the_policys_own_to_first_in_first_out() -> None:
    got = [
        join(Greedy(), hg.MaxImportance("imp", "imp", fairness=share)).run(*TABLES)
        for share in (0.0, 0.3, 0.7, 1.0)
    ]
    index = [outcome.stats.fairness for outcome in got]
    assert index == sorted(index)
    assert index[0] < 0.5
    assert index[-1] > 0.99
    assert got[-1].pairs.equals(join("fifo").run(*TABLES).pairs)


def test_fairness_is_jains_index_over_lifetimes() -> None:
    """One row stays its window of 25 seconds, one is refused, one is stored to the end."""
    at = pa.array([START_US, START_US + 10**6, START_US + 40 * 10**6]).cast(
        pa.timestamp("us", "UTC")
    )
    rows = pa.table({"key": [1, 2, 3], "at": at, "imp": [5.0, 1.0, 1.0]})
    stats = join(Greedy(), rows=1).run(rows, rows.slice(0, 0)).stats
    assert (stats.expired, stats.refused, stats.stored_rows) == (1, 1, 1)
    assert stats.lifetimes == 25.0
    assert stats.fairness == pytest.approx(0.5)


@pytest.mark.parametrize("policy", [Ijoin(), Greedy(), "size", "random", "fifo"], ids=str)
def test_no_policy_makes_more_than_the_best_plan(policy: Policy | str) -> None:
    asked = join(policy)
    best = Opt.for_join(asked, *TABLES)
    followed = join(best).run(*TABLES)
    assert followed.stats.importance == pytest.approx(best.value)
    assert asked.run(*TABLES).stats.importance <= best.value


def test_a_plan_does_not_know_fairness() -> None:
    with pytest.raises(hg.SpecError, match="without fairness"):
        Opt.for_join(join("fifo", hg.MaxImportance("imp", fairness=0.5)), *TABLES)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"maturity": "-1 seconds"}, "maturity"),
        ({"decay": -1}, "decay=-1"),
        ({"penalty": float("nan")}, "penalty=nan"),
        ({"recompute": 0}, "recompute=0"),
        ({"recompute": "often"}, "successive"),
        ({"epsilon": 2}, "epsilon=2"),
    ],
)
def test_what_ijoin_cannot_go_by_is_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(hg.SpecError, match=said):
        Ijoin(**wrong)


def test_ijoin_wants_windows_in_time() -> None:
    with pytest.raises(hg.SpecError, match="give windows in time"):
        hg.WindowJoin(
            on="key",
            left=hg.Side(time="at", window=hg.RowWindow(5)),
            right=hg.Side(time="at", window="25 seconds"),
            budget=hg.Budget(rows=10),
            policy="ijoin",
        )


def test_a_taken_column_name_is_refused() -> None:
    with pytest.raises(hg.SpecError, match=r"MaxImportance\(column=...\)"):
        join("fifo", hg.MaxImportance("imp", column="id")).run(*TABLES)


@pytest.mark.parametrize(
    ("policy", "window", "followed"),
    [("auto", "25 seconds", "GREEDY"), ("auto", 25, "GREEDY"), ("prob", "25 seconds", "GREEDY")],
)
def test_the_learned_policy_goes_by_importance_before_it_knows_anything(
    policy: str, window: str | int, followed: str
) -> None:
    span = hg.RowWindow(window) if isinstance(window, int) else window
    asked = hg.WindowJoin(
        on="key",
        left=hg.Side(time="at", window=span),
        right=hg.Side(time="at", window=span),
        budget=hg.Budget(rows=100),
        goal=hg.MaxImportance("imp", "imp"),
        policy=policy,
    )
    assert asked.run(*TABLES).followed == {followed: 600}


def test_auto_makes_nearly_as_much_importance_as_the_best_policy_on_flights() -> None:
    flights = new_york_flights()
    made = {}
    for policy in ("auto", "greedy", "ijoin"):
        asked = hg.WindowJoin(
            on="plane",
            left=hg.Side(time="landed_at", window="7 days"),
            right=hg.Side(time="departed_at", window="0 seconds"),
            budget=hg.Budget(rows=1_300),
            goal=hg.MaxImportance(left="minutes_late"),
            policy=policy,
        )
        made[policy] = asked.run(flights.landings, flights.departures).stats.importance
    # IJOIN makes half of what GREEDY makes.
    assert made["auto"] > 0.95 * max(made.values())
