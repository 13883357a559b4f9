"""Checkpoints of every format since 6 are taken up, as if nothing had happened."""

import json
import uuid
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import headgate as hg
from headgate.spark.spark_versions import figures_of
from headgate.spark.state.blobs import FORMAT, OLDEST
from headgate.spark.state.shard_head import ShardHead
from tests.golden.checkpoint_cases import (
    FILES,
    FOLDER,
    KINDS,
    READ_BEFORE,
    joined,
    run,
    unpack,
    write_files,
)
from tests.golden.shard_states import MORE_KINDS, feed, read_states, restore, shard_of, variables
from tests.spark.streams import multiset

pytestmark = pytest.mark.spark

VERSIONS = [
    pytest.param(version, marks=[] if version < FORMAT else pytest.mark.long)
    for version in range(OLDEST, FORMAT + 1)
]
USUAL = ()
"""Kinds of checkpoints that the usual round takes up on Spark: those of shards are tried by all."""


@cache
def states_of(version: int) -> dict[str, dict[str, Any]]:
    return read_states(FOLDER / f"format-{version}" / "states.zip")


@cache
def uninterrupted(kind: str) -> list[pa.Table]:
    return feed(shard_of(kind, uuid.uuid4().hex), 0, FILES)


@pytest.mark.parametrize("kind", [*KINDS, *MORE_KINDS])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_shard_of_an_earlier_format_carries_on(version: int, kind: str) -> None:
    state = states_of(version)[kind]
    assert ShardHead.read(state["head"][0]).format == version
    shard = shard_of(kind, uuid.uuid4().hex)
    restore(shard, state)
    for got, wanted in zip(
        feed(shard, READ_BEFORE, FILES), uninterrupted(kind)[READ_BEFORE:], strict=True
    ):
        assert multiset(got) == multiset(wanted)
    assert ShardHead.read(variables(shard)["head"][0]).format == FORMAT


@pytest.mark.parametrize("kind", ["auto", "importance"])
@pytest.mark.parametrize("version", range(OLDEST, FORMAT + 1))
def test_a_shard_that_counted_what_it_learned_has_those_rows_too(
    version: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KINDS, kind, {**KINDS[kind], "budget": hg.Budget(rows=60)})
    shard = shard_of(kind, uuid.uuid4().hex)
    restore(shard, states_of(version)[kind])
    got = sum(table.num_rows for table in feed(shard, READ_BEFORE, FILES))
    # Three more of sixty rows are stored, of which some were given up before.
    assert got > 0.98 * sum(table.num_rows for table in uninterrupted(kind)[READ_BEFORE:])


@pytest.mark.parametrize(
    "kind",
    [kind if kind in USUAL else pytest.param(kind, marks=pytest.mark.long) for kind in KINDS],
)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_checkpoint_of_an_earlier_format_carries_on(
    spark: SparkSession, tmp_path: Path, version: int, kind: str
) -> None:
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    try:
        write_files(tmp_path, 0, FILES)
        unpack(FOLDER / f"format-{version}" / f"{kind}.zip", tmp_path)
        query = run(joined(spark, tmp_path, kind), tmp_path)
        figures = [
            figures_of(batch["observedMetrics"]["headgate"])
            for batch in query.recentProgress
            if batch["numInputRows"]  # as users have it, a last batch without rows follows
        ]
        assert len(figures) == FILES - READ_BEFORE
        assert figures[0]["stored_rows"] > 0
        assert figures[0]["shards_unsettled"] == 0
        got = multiset(put_out_since(spark, tmp_path, READ_BEFORE))
        whole = tmp_path / "whole"
        write_files(whole, 0, FILES)
        run(joined(spark, whole, kind), whole)
        assert got == multiset(put_out_since(spark, whole, READ_BEFORE))
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "1")


def put_out_since(spark: SparkSession, folder: Path, batch: int, end: int = FILES) -> Any:
    """The rows that a query put out from a batch on, up to another, by the log of its sink."""
    lines = [
        line
        for number in range(batch, end)
        for line in (folder / "out" / "_spark_metadata" / str(number)).read_text().splitlines()[1:]
    ]
    return spark.read.parquet(*(json.loads(line)["path"] for line in lines))
