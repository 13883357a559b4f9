"""Some generated joins and damaged inputs in every round, and all that ever failed."""

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fuzzing.__main__ import TURNS, run_named
from tests.fuzzing.hostile_inputs import LATER_PARSERS, PARSERS, run_later_case
from tests.fuzzing.hostile_inputs import run_case as hostile_case
from tests.thoroughness import LONG

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

KEPT: dict[str, str] = json.loads((Path(__file__).parent / "kept.json").read_text())


@pytest.mark.parametrize("seed", KEPT)
def test_what_ever_failed_passes(seed: str) -> None:
    run_named(seed)


def test_generated_joins_agree_with_twin_duckdb_and_themselves() -> None:
    for number in range(4_000 if LONG else 60):
        if TURNS[number % len(TURNS)] in ("kernel", "join"):
            run_named(f"{TURNS[number % len(TURNS)]} {number}")


def test_generated_joins_make_the_same_rows_on_spark(spark: "SparkSession") -> None:
    passed = Counter[str]()
    for number in range(60 if LONG else 4):
        passed += run_named(f"spark {number}")
    assert passed["spark_within_budget"]
    assert passed["spark_as_duckdb"]


def test_no_parser_answers_with_anything_but_a_value_or_an_error_in_words() -> None:
    tried = Counter[str]()
    for number in range(100_000, 100_000 + 800):
        tried += hostile_case(number)
    for number in range(100_000, 100_000 + 200):
        tried += run_later_case(number)
    assert set(tried) == {*PARSERS, *LATER_PARSERS}
