"""The recipes of docs/guides/sources-and-sinks.md, run as they are written there."""

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.spark.needed_spark import needs_classic
from tests.spark.streams import START_US, multiset, timestamps, write_side

pytestmark = [pytest.mark.spark, needs_classic("foreachBatch runs on the server")]

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "sources-and-sinks.md"
SECONDS = (1, 2, 3, 40)
KAFKA = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, "
    "timestampType int, headers array<struct<key:string,value:binary>>"
)
"""The columns of a message, as the connector's documentation has them."""


def section(title: str) -> list[str]:
    """The code of a section, block by block."""
    text = PAGE.read_text().split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


@pytest.fixture
def named(spark: SparkSession, tmp_path: Path) -> dict[str, Any]:
    """The names that recipes share."""
    names: dict[str, Any] = {"spark": spark, "folder": str(tmp_path)}
    first = PAGE.read_text().split("\n## ", 1)[0]
    for code in re.findall(r"```python\n(.*?)```", first, re.DOTALL):
        exec(code, names)
    return names


@pytest.fixture
def auctions(tmp_path: Path) -> pa.Table:
    table = pa.table(
        {"id": [1, 2, 3, 4], "opened_at": timestamps([START_US + s * 10**6 for s in SECONDS])}
    )
    write_side(tmp_path / "auctions", [table])
    return table


def test_files_are_joined(named: dict[str, Any], auctions: pa.Table, tmp_path: Path) -> None:
    at = timestamps([START_US + (s + 60) * 10**6 for s in SECONDS])
    bids = pa.table({"auction": [1, 2, 2, 9], "price": [1.0, 2.0, 3.0, 4.0], "bid_at": at})
    write_side(tmp_path / "bids", [bids])
    (code,) = section("Files")
    exec(code, named)
    joined = named["spark"].read.parquet(str(tmp_path / "joined"))
    assert sorted(row["price"] for row in joined.collect()) == [1.0, 2.0, 3.0]


def test_kafka_messages_are_read_joined_and_written(
    named: dict[str, Any], auctions: pa.Table, tmp_path: Path
) -> None:
    (code,) = section("Kafka")
    exec(code, named)
    spark: SparkSession = named["spark"]
    values = [
        {"auction": 1, "price": 5.0, "bid_at": "2026-01-01T00:01:00.000Z"},
        {"auction": 3, "price": 6.0, "bid_at": "2026-01-01T00:01:01.000Z"},
    ]
    texts = [*map(json.dumps, values), "not json"]
    sent = [
        (str(place).encode(), text.encode(), "bids", 0, place) for place, text in enumerate(texts)
    ]
    rows = spark.createDataFrame(
        sent, "key binary, value binary, topic string, partition int, offset bigint"
    )
    header = F.array(F.struct(F.lit("by").alias("key"), F.lit("me").cast("binary").alias("value")))
    whole = rows.withColumns(
        {"timestamp": F.current_timestamp(), "timestampType": F.lit(0), "headers": header}
    )
    whole.coalesce(1).write.parquet(str(tmp_path / "messages"))
    messages = spark.readStream.schema(KAFKA).parquet(str(tmp_path / "messages"))
    bids = named["decoded"](messages, named["BID"], "bid_at").withWatermark("bid_at", "10 seconds")
    left = (
        spark.readStream.schema("id long, opened_at timestamp")
        .parquet(str(tmp_path / "auctions"))
        .withWatermark("opened_at", "10 seconds")
    )
    written = named["encoded"](named["join"].stream(left, bids).drop("headers"), "id")
    query = (
        written.writeStream.format("parquet")
        .option("path", str(tmp_path / "out"))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    found = {row["key"]: row for row in spark.read.parquet(str(tmp_path / "out")).collect()}
    assert {bytes(key) for key in found} == {b"1", b"3"}
    prices = {
        json.loads(row["value"])["id"]: json.loads(row["value"])["price"] for row in found.values()
    }
    assert prices == {1: 5.0, 3: 6.0}
    assert all(row["headers"][0]["key"] == "writer" for row in found.values())


def test_a_repeated_batch_is_written_once(named: dict[str, Any], tmp_path: Path) -> None:
    """By each recipe for foreachBatch, as Spark calls it after a crash."""
    for title in ("foreachBatch, exactly once", "Iceberg"):
        for code in section(title):
            exec(code, named)
    exec(section("Delta")[0], named)
    batches = [
        named["spark"].range(start, start + 3).withColumn("x", F.lit("é")) for start in (0, 3)
    ]
    path = str(tmp_path / "joined.duckdb")

    def write(name: str, *more: Any) -> None:
        for batch_id in (0, 1, 1):
            named[name](batches[batch_id], batch_id, *more)

    wanted = multiset([(number, "é") for number in range(6)])
    write("write_once", path)
    with named["duckdb"].connect(path) as database:
        assert multiset(database.sql("SELECT * FROM joined").to_arrow_table()) == wanted

    pytest.importorskip("deltalake")
    exec(section("Delta")[1], named)
    write("write_delta_here", str(tmp_path / "delta"))
    delta = named["DeltaTable"](str(tmp_path / "delta"))
    assert multiset(pa.table(delta.to_pyarrow_table())) == wanted

    sql = pytest.importorskip("pyiceberg.catalog.sql")
    place = {"uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": f"file://{tmp_path}/iceberg"}
    catalog = sql.SqlCatalog("tested", **place)
    catalog.create_namespace("db")
    write("write_iceberg", catalog, "db.joined")
    assert multiset(catalog.load_table("db.joined").scan().to_arrow()) == wanted
