"""The join of `tests/spark/killed_query.py`, or a lookup, into a sink, as a program of its own.

Usage: sunk_query.py MASTER FOLDER QUERY SINK, where QUERY is a policy of that join, or "lookup DSN"
for a lookup of the left side in PostgreSQL, and SINK is "parquet" or "sqlite". In SQLite each batch
is one transaction that also notes the batch's number, so that one made again is left out.
"""

import sqlite3
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import headgate as hg
from tests.spark import killed_query


def into_sqlite(frame: DataFrame, folder: Path) -> Any:
    """The query over all there is, into a database."""
    file = str(folder / "out.db")

    def write(batch: DataFrame, number: int) -> None:
        rows = [(number, repr(tuple(row))) for row in batch.collect()]
        with sqlite3.connect(file) as database:
            database.execute("CREATE TABLE IF NOT EXISTS batches (number INTEGER PRIMARY KEY)")
            database.execute("CREATE TABLE IF NOT EXISTS result (number INTEGER, line TEXT)")
            known = database.execute("SELECT 1 FROM batches WHERE number = ?", (number,)).fetchone()
            if known is None:
                database.execute("INSERT INTO batches VALUES (?)", (number,))
                database.executemany("INSERT INTO result VALUES (?, ?)", rows)

    return (
        frame.writeStream.foreachBatch(write)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )


def looked_up(spark: SparkSession, folder: Path, query: str) -> DataFrame:
    """The left side with what a PostgreSQL table says of its keys."""
    left = (
        spark.readStream.schema(killed_query.SCHEMAS[0])
        .option("maxFilesPerTrigger", 1)
        .parquet(str(folder / "left"))
    )
    table = hg.PostgresTable(query.removeprefix("lookup "), "levels")
    lookup = hg.CachedLookup(table=table, on="key", budget=hg.Budget(rows=10), policy="lru")
    return lookup.stream(left, shards=2)


if __name__ == "__main__":
    if sys.argv[3].startswith("lookup"):
        killed_query.joined = looked_up
    if sys.argv[4] == "sqlite":
        killed_query.written = into_sqlite
    killed_query.main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
