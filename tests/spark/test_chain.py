"""The result of a streaming join is an ordinary streaming DataFrame."""

import time
import uuid
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery, StreamingQueryListener

import headgate as hg
from tests.spark.streams import START_US, multiset, read_side, timestamps, write_side

pytestmark = pytest.mark.spark

TIMES = ("opened_at", "bid_at", "paid_at")
SCHEMAS = (
    "auction bigint, opened_at timestamp, seller bigint",
    "auction bigint, bid_at timestamp, bidder bigint",
    "bidder bigint, paid_at timestamp, amount bigint",
)
BATCHES = 3


def make_side(rng: np.random.Generator, side: int) -> list[pa.Table]:
    """A file a minute, in order of time."""
    files = []
    for number in range(BATCHES):
        seconds = 60 * number + np.sort(rng.integers(0, 60, 90))
        names = [column.split()[0] for column in SCHEMAS[side].split(", ")]
        files.append(
            pa.table(
                {
                    names[0]: rng.integers(0, 15, 90),
                    names[1]: timestamps(START_US + seconds * 1_000_000),
                    names[2]: rng.integers(0, 10, 90),
                }
            )
        )
    return files


RNG = np.random.default_rng(61)
FILES = [make_side(RNG, side) for side in range(3)]
TABLES = [pa.concat_tables(side).combine_chunks() for side in FILES]
BIDS = hg.WindowJoin(
    on="auction",
    left=hg.Side(time="opened_at", window="50 seconds"),
    right=hg.Side(time="bid_at", window="10 seconds"),
    budget=hg.Budget(rows=10_000),
)
PAYMENTS = hg.WindowJoin(
    on="bidder",
    left=hg.Side(time="bid_at", window="20 seconds"),
    right=hg.Side(time="paid_at", window="5 seconds"),
    budget=hg.Budget(rows=10_000),
)


@pytest.fixture(scope="module")
def streams(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> list[DataFrame]:
    folder = tmp_path_factory.mktemp("streams")
    return [
        read_side(spark, write_side(folder / TIMES[side], FILES[side]), SCHEMAS[side], TIMES[side])
        for side in range(3)
    ]


class Listener(StreamingQueryListener):
    """Keeps the metrics it hears of."""

    def __init__(self) -> None:
        self.heard: list[dict] = []
        self.ended = False

    def onQueryStarted(self, event: object) -> None:
        pass

    def onQueryProgress(self, event: object) -> None:
        self.heard.append(event.progress.observedMetrics)  # type: ignore[attr-defined]

    def onQueryIdle(self, event: object) -> None:
        pass

    def onQueryTerminated(self, event: object) -> None:
        self.ended = True


def run(frame: DataFrame, folder: Path, mode: str = "append") -> StreamingQuery:
    query = (
        frame.writeStream.format("memory")
        .queryName(f"chained_{uuid.uuid4().hex}")
        .outputMode(mode)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return query


@pytest.mark.long
def test_results_can_be_counted_by_minute(
    spark: SparkSession, streams: list[DataFrame], tmp_path: Path
) -> None:
    counted = (
        BIDS.stream(*streams[:2])
        .where("seller < 8")
        .groupBy(F.window("bid_at", "1 minute"))
        .count()
        .select(F.unix_micros("window.start"), "count")
    )
    got = dict(spark.table(run(counted, tmp_path).name).collect())
    pairs = BIDS.run(*TABLES[:2]).pairs.to_pandas()
    kept = pairs[pairs["seller"] < 8]
    minutes = (kept["bid_at"].astype("datetime64[us, UTC]").astype("int64") // 60_000_000).to_list()
    wanted = {60_000_000 * minute: count for minute, count in Counter(minutes).items()}
    # The last minute stays open: no watermark passes its end.
    assert len(got) == BATCHES - 1
    assert got == {minute: wanted[minute] for minute in sorted(wanted)[: BATCHES - 1]}


@pytest.mark.long
def test_a_join_feeds_another_and_both_report(
    spark: SparkSession, streams: list[DataFrame], tmp_path: Path
) -> None:
    auctions, bids, payments = streams
    listener = Listener()
    spark.streams.addListener(listener)
    try:
        first = BIDS.stream(auctions, bids, name="bids", shards=2)
        second = PAYMENTS.stream(first, payments, name="payments", shards=2, watermark=False)
        query = run(second, tmp_path)
        give_up = time.monotonic() + 60
        while not listener.ended and time.monotonic() < give_up:
            time.sleep(0.05)
    finally:
        spark.streams.removeListener(listener)
    bid_pairs = BIDS.run(*TABLES[:2])
    wanted = multiset(PAYMENTS.run(bid_pairs.pairs, TABLES[2]).pairs)
    assert multiset(spark.table(query.name)) == wanted
    progress = [batch["observedMetrics"] for batch in query.recentProgress]
    for heard in (progress, listener.heard):
        totals: Counter = Counter()
        for batch in heard:
            totals.update({name: figures["pairs"] for name, figures in batch.items()})
        assert totals == {"bids": bid_pairs.stats.pairs, "payments": wanted.total()}
    assert query.lastProgress["observedMetrics"].keys() == {"bids", "payments"}


@pytest.mark.long
def test_results_are_filtered_and_written_to_files(
    spark: SparkSession, streams: list[DataFrame], tmp_path: Path
) -> None:
    query = (
        BIDS.stream(*streams[:2])
        .where("bidder = 3")
        .select("auction", "seller")
        .writeStream.format("parquet")
        .option("path", str(tmp_path / "out"))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    pairs = BIDS.run(*TABLES[:2]).pairs.to_pandas()
    kept = pairs[pairs["bidder"] == 3][["auction", "seller"]]
    wanted = Counter(map(tuple, kept.to_numpy().tolist()))
    assert multiset(spark.read.parquet(str(tmp_path / "out"))) == wanted
