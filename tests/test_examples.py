"""The examples run as they are, on the session of the tests."""

import importlib.util
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_a_cached_lookup_gives_one_answer_under_every_policy(tmp_path: Path) -> None:
    path = EXAMPLES / "cached_lookup.py"
    found = importlib.util.spec_from_file_location("cached_lookup", path)
    example = importlib.util.module_from_spec(found)
    found.loader.exec_module(example)
    example.write_consumption(tmp_path / "energy.duckdb")
    days = example.temperatures(1000)
    outcomes = example.outcomes(tmp_path / "energy.duckdb", days, rows=50)
    assert all(outcome.rows.equals(outcomes["lfd"].rows) for outcome in outcomes.values())
    assert outcomes["lfd"].rows.num_rows == 1000
    hits = {policy: outcome.stats.hits for policy, outcome in outcomes.items()}
    assert max(hits, key=hits.get) == "lfd"


@pytest.mark.spark
def test_a_sampled_average_comes_with_an_interval(spark: SparkSession) -> None:
    path = EXAMPLES / "sampled_average.py"
    found = importlib.util.spec_from_file_location("sampled_average", path)
    example = importlib.util.module_from_spec(found)
    found.loader.exec_module(example)
    averages = example.estimates(spark, rows=60_000, memory=40).to_pylist()
    true = {row["start"]: row["average"] for row in example.exact(60_000).to_pylist()}
    assert len(averages) >= 5
    covered = sum(row["low"] <= true[row["start"]] <= row["high"] for row in averages)
    assert covered >= len(averages) - 2
