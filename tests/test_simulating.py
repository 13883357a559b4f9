"""Miniature simulations: exact with all rows, and without bias where keys are drawn."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.policies import ALL_POLICIES
from headgate.studies.streams import Streams, aging, zipf
from headgate.trials.draw import BUCKETS, PROBES, STORED, draw_rows
from headgate.trials.local_share import LocalShare, Scale
from headgate.trials.simulation import simulate
from headgate.trials.trace import Trace
from tests.thoroughness import LONG

NAMES = ("auto", *(policy.name for policy in ALL_POLICIES))
SKEWED = zipf(4000, seconds=100, seed=3, keys=400, window=20)
SEEDS = 12 if LONG else 4
LARGE = zipf(60_000, seconds=300, seed=5, keys=20_000, exponent=0.8, window=20)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("budget", [hg.Budget(rows=150), hg.Budget(memory=12_000)], ids=str)
def test_with_every_row_the_recall_is_that_of_the_join(name: str, budget: hg.Budget) -> None:
    join = SKEWED.request(name, budget)
    tried = simulate(Trace.of_tables(join, *SKEWED.tables), name, budget)
    outcome = join.run(*SKEWED.tables)
    assert tried.recall.value == outcome.recall
    assert tried.recall.low == tried.recall.high == outcome.recall
    assert tried.made.by_key.sum() == tried.made.by_time.sum() == outcome.stats.pairs
    assert tried.stats.peak_rows == outcome.stats.peak_rows


def test_a_policy_with_a_model_is_tried_with_it() -> None:
    policy = hg.policies.Prob(SKEWED.frequencies())
    budget = hg.Budget(rows=150, split=(2, 1))
    join = SKEWED.request(policy, budget)
    tried = simulate(Trace.of_tables(join, *SKEWED.tables), policy, budget)
    assert tried.recall.value == join.run(*SKEWED.tables).recall


def test_where_rows_matter_differently_importance_is_counted() -> None:
    worth = np.random.default_rng(1).exponential(size=SKEWED.left.num_rows)
    left = SKEWED.left.append_column("worth", pa.array(worth))
    goal, budget = hg.MaxImportance(left="worth"), hg.Budget(rows=150)
    join = SKEWED.request("greedy", budget, goal=goal)
    outcome = join.run(left, SKEWED.right)
    tried = simulate(Trace.of_tables(join, left, SKEWED.right), "greedy", budget)
    assert tried.recall.value == pytest.approx(outcome.importance_recall)
    drawn = Trace.of_tables(join, left, SKEWED.right, share=0.3)
    few = simulate(drawn, "greedy", budget)
    assert few.recall.value == pytest.approx(outcome.importance_recall, abs=0.1)


def test_a_band_without_keys_is_thinned_by_rows() -> None:
    random = np.random.default_rng(2)
    tables = [
        table.append_column("x", pa.array(random.random(table.num_rows))) for table in SKEWED.tables
    ]
    join = hg.WindowJoin(
        where=hg.Band("x", lower=-0.05, upper=0.05),
        left=hg.Side("lt", "20 seconds"),
        right=hg.Side("rt", "20 seconds"),
        budget=hg.Budget(rows=300),
        policy="fifo",
    )
    exact = join.run(*tables).recall
    whole, few = (Trace.of_tables(join, *tables, share=share) for share in (1.0, 0.25))
    assert simulate(whole, "fifo", join.budget).recall.value == exact
    assert simulate(few, "fifo", join.budget).recall.value == pytest.approx(exact, abs=0.05)


@pytest.mark.parametrize("name", ["fifo", "prob"])
def test_a_tenth_of_the_keys_tells_recall_without_bias_and_intervals_cover(name: str) -> None:
    budget = hg.Budget(rows=3000)
    join = LARGE.request(name, budget)
    exact = simulate(Trace.of_tables(join, *LARGE.tables), name, budget).recall.value
    found = [
        simulate(Trace.of_tables(join, *LARGE.tables, share=0.1, seed=seed), name, budget).recall
        for seed in range(SEEDS)
    ]
    values = np.array([recall.value for recall in found])
    assert values.mean() == pytest.approx(exact, abs=0.02)
    covering = sum(recall.low - 0.005 <= exact <= recall.high + 0.005 for recall in found)
    assert covering >= SEEDS - 1


@pytest.mark.parametrize("name", ["lru", "lfu", "ijoin", "join-to-live"])
def test_what_goes_by_history_is_told_from_stretches_of_time(name: str) -> None:
    streams = zipf(60_000, seconds=600, seed=6, keys=20_000, window=5)
    budget = hg.Budget(rows=300)
    join = streams.request(name, budget)
    exact = simulate(Trace.of_tables(join, *streams.tables), name, budget).recall.value
    trace = Trace.of_tables(join, *streams.tables, share=0.15, by_time=True)
    assert trace.stretches is not None
    assert trace.count < 0.2 * sum(trace.whole.rows)
    found = simulate(trace, name, budget).recall
    assert found.value == pytest.approx(exact, abs=0.04)
    assert found.low - 0.01 <= exact <= found.high + 0.01


def test_rows_that_match_by_age_are_told_as_well() -> None:
    streams = aging(30_000, seconds=300, window=30, shapes=["rising"], seed=2)
    budget = hg.Budget(rows=1000)
    join = streams.request("age", budget)
    exact = join.run(*streams.tables).recall
    few = simulate(Trace.of_tables(join, *streams.tables, share=0.1), "age", budget)
    assert few.recall.value == pytest.approx(exact, abs=0.03)


def test_what_the_exact_join_needs_scales_with_the_share() -> None:
    join = LARGE.request("fifo", hg.Budget(rows=10))
    whole = Trace.of_tables(join, *LARGE.tables)
    few = Trace.of_tables(join, *LARGE.tables, most_rows=LARGE.left.num_rows // 5)
    assert few.count < whole.count / 4
    needs = few.needs.peak_rows / few.scale.rows
    assert needs == pytest.approx(whole.needs.peak_rows, rel=0.1)
    assert few.met.total / few.draw.share == pytest.approx(whole.met.total, rel=0.1)


def test_a_heavy_key_is_there_whatever_is_drawn_and_takes_its_share_of_memory() -> None:
    counts = np.ones((2, BUCKETS), np.int64)
    counts[:, 7] = 50_000
    draw = draw_rows(counts, 0.02, (True, True), seed=3)
    hashes = np.full(50_000, 7 << 44, np.uint64)
    done = draw.taken(hashes, np.ones(50_000, bool), side=0)
    stored = np.count_nonzero(done == STORED)
    assert stored == pytest.approx(1000, rel=0.15)
    looks = np.count_nonzero(done >= PROBES)
    assert looks == pytest.approx(50_000 * draw.looking_of(hashes[:1], 0)[0], rel=0.1)
    assert looks > 2 * stored


def test_windows_of_rows_shrink_with_the_trace() -> None:
    streams = Streams(LARGE.left, LARGE.right, LARGE.windows)
    join = hg.WindowJoin(
        on="key",
        left=hg.Side("lt", hg.RowWindow(4000)),
        right=hg.Side("rt", hg.RowWindow(4000)),
        budget=hg.Budget(rows=2000),
        policy="fifo",
    )
    exact = join.run(*streams.tables).recall
    few = simulate(Trace.of_tables(join, *streams.tables, share=0.2), "fifo", join.budget)
    assert few.recall.value == pytest.approx(exact, abs=0.04)


def test_a_sample_has_no_recall_to_tell() -> None:
    join = SKEWED.request("auto", hg.Budget(rows=10), goal=hg.Sample("cluster"))
    with pytest.raises(hg.SpecError, match="no recall to tell"):
        Trace.of_tables(join, *SKEWED.tables)


@pytest.mark.parametrize("share", [0.0, 1.5])
def test_a_share_of_keys_lies_between_none_and_all(share: float) -> None:
    with pytest.raises(hg.SpecError, match="share"):
        Trace.of_tables(SKEWED.request("fifo", hg.Budget(rows=1)), *SKEWED.tables, share=share)


def test_memory_follows_what_of_the_windows_is_there() -> None:
    whole = np.arange(0, 1000)
    drawn = np.concatenate([np.arange(0, 500, 5), np.arange(500, 1000, 20)])
    local = LocalShare.of([whole], [drawn], [100], share=0.125, rows=125)
    assert local is not None
    scale = Scale(0.125, 0.25)
    early, late = local.at(300, scale), local.at(900, scale)
    assert early.rows == pytest.approx(0.2, abs=0.01)
    assert late.rows == pytest.approx(0.05, abs=0.01)
    assert late.bytes == pytest.approx(2 * late.rows)
    assert local.step_rows == pytest.approx(125 * 0.1 / 4, abs=1)


def test_a_policy_that_runs_just_full_is_told_better_by_memory_that_follows() -> None:
    streams = aging(30_000, seconds=300, window=30, shapes=["falling"], seed=2)
    join = streams.request("fifo", hg.Budget(rows=1))
    whole = Trace.of_tables(join, *streams.tables)
    budget = hg.Budget(rows=whole.needs.peak_rows)
    trace = Trace.of_tables(join, *streams.tables, share=0.02)
    follows = simulate(trace, "random", budget).recall.value
    stays = simulate(replace(trace, local=None), "random", budget).recall.value
    assert stays < follows <= 1.0
    assert follows > 0.97
