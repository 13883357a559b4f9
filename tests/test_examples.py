"""The examples run as they are, on the session of the tests."""

import importlib.util
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

EXAMPLES = Path(__file__).parent.parent / "examples"


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
