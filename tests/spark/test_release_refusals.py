"""What cannot be given back to Spark's own join is refused with a word, and nothing is left."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from typer.testing import CliRunner

import headgate as hg
from headgate.cli.main import app
from headgate.spec import SpecError
from tests.spark.needed_spark import ON_CONNECT
from tests.spark.query_lives import Life, Query, join, listing, streamed

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(ON_CONNECT, reason="checkpoints are read where their files are"),
]

ROWS_WINDOW = {
    "left": hg.Side(time="left_at", window="50 rows"),
    "right": hg.Side(time="right_at", window="50 rows"),
}
TIGHT = hg.Budget(rows=120)
REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "anti": ({"how": "anti"}, {}, 'no stream-stream join with how="anti"'),
    "full, rows given up": ({"how": "full", "budget": TIGHT}, {}, "has evicted rows"),
    "left, rows given up": ({"how": "left", "budget": TIGHT}, {}, "has evicted rows"),
    "inner as left": ({}, {"how": "left"}, "how= is inner in .*, and left in the join"),
    "full as inner": ({"how": "full"}, {"how": "inner"}, "how= is full in .*, and inner in"),
}
"""The join that wrote a checkpoint, what the one given has otherwise, and what is said of it."""


def refused(life: Life, given: hg.WindowJoin, word: str, query: Query | None = None) -> None:
    """Hold a release to being refused, with the old checkpoint untouched and no new one."""
    old, new = life.folder / "checkpoint", life.folder / "new"
    before = listing(old)
    with pytest.raises(SpecError, match=word):
        hg.release(old, new, given, *life.sides(), query=query)
    assert listing(old) == before
    assert not new.exists()
    assert not (life.folder / "new.unfinished").exists()


def ran(spark: SparkSession, folder: Path, query: Query) -> Life:
    """A query that has read two files of each side."""
    life = Life(spark, folder, 58)
    life.bring(2)
    life.run(query, folder / "checkpoint")
    return life


@pytest.mark.long
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_released_says_why(
    spark: SparkSession, store: Any, tmp_path: Path, name: str
) -> None:
    asked, otherwise, word = REFUSED[name]
    store("rocksdb", 2)
    life = ran(spark, tmp_path, streamed(2, **asked))
    given = {**asked, **otherwise}
    refused(life, join(**given), word)
    if name == "anti":
        refused(life, join(**given), word, lambda left, right: hg.built_in(join(), left, right))


@pytest.mark.long
def test_a_join_with_another_window_or_key_is_not_released(
    spark: SparkSession, store: Any, tmp_path: Path
) -> None:
    store("rocksdb", 2)
    life = ran(spark, tmp_path, streamed(2))
    asked: dict[str, Any] = {
        "on": "key",
        "left": hg.Side(time="left_at", window="2 minutes"),
        "right": hg.Side(time="right_at", window="1 minute"),
        "budget": hg.Budget(rows=1_000_000),
    }
    longer = hg.Side(time="left_at", window="3 minutes")
    refused(life, hg.WindowJoin(**{**asked, "left": longer}), "the left window is 2 min.* 3 min")
    other = {"on": None, "left_on": "left_id", "right_on": "key"}
    refused(life, hg.WindowJoin(**{**asked, **other}), "the left key is key in .*, and left_id in")


@pytest.mark.long
def test_windows_of_rows_are_not_released(spark: SparkSession, store: Any, tmp_path: Path) -> None:
    store("rocksdb", 1)
    own = hg.WindowJoin(on="key", budget=hg.Budget(rows=10_000), policy="fifo", **ROWS_WINDOW)
    life = ran(spark, tmp_path, lambda left, right: own.stream(left, right, shards=1))
    refused(life, own, "no windows of the last n rows")
    refused(
        life,
        own,
        "no windows of the last n rows",
        lambda left, right: hg.built_in(join(), left, right),
    )


@pytest.mark.long
def test_a_query_with_an_aggregation_is_not_released(
    spark: SparkSession, store: Any, tmp_path: Path
) -> None:
    def counted(left: DataFrame, right: DataFrame) -> DataFrame:
        counts = streamed(2)(left, right).groupBy(F.window("left_at", "1 minute")).count()
        return counts.select("window.start", "count")

    store("rocksdb", 2)
    refused(ran(spark, tmp_path, counted), join(), "2 other stateful operators and 4 sources")


@pytest.mark.long
def test_a_changed_outer_join_is_not_released_before_it_has_settled(
    spark: SparkSession, store: Any, tmp_path: Path
) -> None:
    store("rocksdb", 2)
    life = ran(spark, tmp_path, streamed(2))
    life.bring(3)
    life.run(streamed(2, how="full"), tmp_path / "checkpoint")
    assert life.metrics[-1]["shards_unsettled"] == 2
    refused(life, join(how="full"), "it is unknown which rows have a partner")


def test_the_help_names_what_is_refused() -> None:
    shown = CliRunner().invoke(app, ["release", "--help"]).output
    for kind in (
        "anti joins",
        "a band or comparison",
        "windows in rows",
        "stateful",
        "outer joins",
    ):
        assert kind in " ".join(shown.partition("refused")[2].split())
