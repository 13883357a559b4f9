"""Real queries of every kind that the live page shows: auto, shared budget, lookup, sample, CPU."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import headgate as hg
from tests.postgres import Server
from tests.spark.streams import START_US, read_side, timestamps, write_side

ROWS, FILES, SECONDS = 3000, 6, 30
"""Rows a side and batch, batches, and how many seconds of the stream a batch has."""
Keys = Callable[[np.random.Generator, np.ndarray], np.ndarray]
"""Keys of rows, from their times in seconds."""


def zipf(chance: np.random.Generator, at: np.ndarray) -> np.ndarray:
    """Some keys are far more frequent than others: one shard is hot."""
    return chance.zipf(1.3, len(at)) % 3000


def moving(chance: np.random.Generator, at: np.ndarray) -> np.ndarray:
    """First a few frequent keys, then keys that come and go."""
    passing = 5000 + (at * 40).astype(np.int64) + chance.integers(0, 400, len(at))
    return np.where(at < FILES * SECONDS / 2, zipf(chance, at), passing)


def write_streams(folder: Path, keys: Keys, files: int = FILES) -> None:
    """Both sides, a file a batch."""
    for seed, (side, time) in enumerate((("left", "lt"), ("right", "rt"))):
        tables = []
        for file in range(files):
            chance = np.random.default_rng([seed, file])
            at = (file + np.arange(ROWS) / ROWS) * SECONDS
            micros = START_US + (at * 1e6).astype(np.int64)
            tables.append(pa.table({"key": keys(chance, at), time: timestamps(micros)}))
        write_side(folder / side, tables)


def sides_of(spark: SparkSession, folder: Path) -> tuple[DataFrame, DataFrame]:
    """What `write_streams` wrote, as streams."""
    left, right = (
        read_side(spark, folder / side, f"key long, {time} timestamp", time)
        for side, time in (("left", "lt"), ("right", "rt"))
    )
    return left, right


def join_of(budget: hg.Budget, **more: Any) -> hg.WindowJoin:
    """Rows of both sides wait twenty seconds."""
    wait = f"{SECONDS * 2 // 3} seconds"
    left, right = (hg.Side(time=time, window=wait) for time in ("lt", "rt"))
    return hg.WindowJoin(on="key", left=left, right=right, budget=budget, **more)


def run(frame: DataFrame, checkpoint: Path, name: str) -> Any:
    """A query with a name, into nothing."""
    made = frame.writeStream.format("noop").queryName(name)
    return made.option("checkpointLocation", str(checkpoint)).start()


def run_alone(spark: SparkSession, folder: Path, name: str, keys: Keys, join: Any) -> None:
    """One join over all its files."""
    write_streams(folder / name, keys)
    frame = join.stream(*sides_of(spark, folder / name), shards=3)
    query = run(frame, folder / name / "checkpoint", name)
    query.processAllAvailable()
    query.stop()


def run_group(spark: SparkSession, folder: Path) -> None:
    """Two joins that share a budget; one of them needs less."""
    streams = {}
    for name, keys in (("ads", zipf), ("orders", moving)):
        write_streams(folder / name, keys)
        streams[name] = sides_of(spark, folder / name)
    budget = hg.Budget(rows=1, monitor=0.1)
    joins = {name: join_of(budget, policy="prob") for name in streams}
    group = hg.JoinGroup(budget=hg.Budget(rows=2500), joins=joins)
    shared = group.stream(streams, folder=folder / "limits", shards=1)
    queries = [run(shared[name], folder / name / "checkpoint", name) for name in streams]
    for query in queries:
        query.processAllAvailable()
        query.stop()
    shared.stop()


def run_lookup(spark: SparkSession, folder: Path) -> None:
    """A stream against a table of a PostgreSQL server, which fails once and comes back."""
    server = Server()
    try:
        server.execute(
            "create table levels as select k as key, 'level ' || k as level "
            "from generate_series(0, 2400) k"
        )
        write_streams(folder / "lookup", zipf, 4)
        table = hg.PostgresTable(server.dsn, "levels", retry=hg.Retry(20, first_seconds=0.1))
        asked = hg.CachedLookup(table=table, on="key", budget=hg.Budget(rows=300), policy="lru")
        frame = asked.stream(sides_of(spark, folder / "lookup")[0], shards=2)
        query = run(frame, folder / "lookup" / "checkpoint", "lookup")
        query.processAllAvailable()
        server.kill()
        write_streams(folder / "lookup", zipf, 6)
        threading.Timer(2.0, server.start).start()
        query.processAllAvailable()
        query.stop()
    finally:
        server.remove()
