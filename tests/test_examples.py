"""The examples run as they are, on the session of the tests."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from pyspark.sql import SparkSession

EXAMPLES = Path(__file__).parent.parent / "examples"


def example(name: str) -> ModuleType:
    """An example, imported."""
    found = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_who_is_told_how_values_move_makes_the_most() -> None:
    recalls = example("moving_values").recalls()
    assert sorted(recalls, key=recalls.get)[-2:] == ["HIST", "HEEB"]


def test_the_first_example_keeps_the_landings_that_were_latest() -> None:
    shares = example("first_join").shares()
    assert shares["greedy"] > 0.89 > 2.5 * max(shares["random"], shares["fifo"])


def test_a_cached_lookup_gives_one_answer_under_every_policy(tmp_path: Path) -> None:
    cached = example("cached_lookup")
    cached.write_consumption(tmp_path / "energy.duckdb")
    days = cached.temperatures(1000)
    outcomes = cached.outcomes(tmp_path / "energy.duckdb", days, rows=50)
    assert all(outcome.rows.equals(outcomes["lfd"].rows) for outcome in outcomes.values())
    assert outcomes["lfd"].rows.num_rows == 1000
    hits = {policy: outcome.stats.hits for policy, outcome in outcomes.items()}
    assert max(hits, key=hits.get) == "lfd"


def test_no_alert_is_false_however_small_the_memory() -> None:
    unpaid = example("unpaid_orders")
    ample = unpaid.alerts(10_000, orders=5_000)
    assert (ample.recall, ample.stats.undecided) == (1.0, 0)
    true = set(ample.pairs.column("order").to_pylist())
    small = unpaid.alerts(25, unmatched="all", orders=5_000)
    orders, certain = (small.pairs.column(name).to_pylist() for name in ("order", "certain"))
    told = dict(zip(orders, certain, strict=True))
    assert {order for order, sure in told.items() if sure} < true < set(told)
    assert small.stats.undecided == certain.count(False) > 0


def test_a_burst_is_shed_and_over() -> None:
    core = example("half_a_core")
    tables = core.feeds(rate=200)
    outcome = core.join(core.hg.Budget(cpu=1e-3)).run(*tables)
    assert outcome.stats.unstored > 0
    seen = list(core.stretches(tables, outcome))
    assert sum(stretch.pairs for stretch in seen) == outcome.stats.pairs
    assert seen[4].rows > 4 * seen[0].rows
    whole = core.join(core.hg.Budget(cpu=50.0)).run(*tables)
    assert whole.recall == 1.0


@pytest.mark.spark
@pytest.mark.long
def test_a_sampled_average_comes_with_an_interval(spark: SparkSession) -> None:
    sampled = example("sampled_average")
    averages = sampled.estimates(spark, rows=30_000, memory=30).to_pylist()
    true = {row["start"]: row["average"] for row in sampled.exact(30_000).to_pylist()}
    assert len(averages) >= 5
    covered = sum(row["low"] <= true[row["start"]] <= row["high"] for row in averages)
    assert covered >= len(averages) - 2


@pytest.mark.spark
@pytest.mark.long
def test_two_joins_share_a_memory_as_they_run(spark: SparkSession) -> None:
    seen = list(example("shared_budget").rounds(spark, rows=500, memory=1000, last=3))
    for pair in seen:
        assert [heard.join for heard in pair] == ["ads", "orders"]
        assert sum(heard.figures["limit"] for heard in pair) == 1000
        assert sum(heard.figures["stored_rows"] for heard in pair) <= 1000
    assert seen[-1][0].figures["shed"] > 0


@pytest.mark.spark
@pytest.mark.long
def test_a_running_query_takes_up_what_the_desk_publishes(spark: SparkSession) -> None:
    news = example("changing_importance")
    seen = list(news.hours(spark, articles=2_000, memory=100, last=5, changed_after=1))
    assert [hour.batch for hour in seen] == list(range(5))
    assert len({hour.run for hour in seen}) == 1
    assert [hour.figures["redefined"] for hour in seen].count(1) == 1
    assert all(hour.figures["peak_rows"] <= 100 for hour in seen)
    before, after = news.before_and_after(seen)
    assert news.share(before, "politics") > 2 * news.share(after, "politics")
    assert news.share(after, "sports") > 2 * news.share(before, "sports")
