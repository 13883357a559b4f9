"""Average prices by quarter of an hour, with error bars, from a sampled join.

Auctions and bids are joined within a tenth of the memory that the exact join needs, with
`hg.Sample` as the goal. Averages over the result are unbiased and have an interval. The exact
averages, from the whole input, are printed next to them.

Run it:  python examples/sampled_average.py
"""

import argparse
import tempfile
from pathlib import Path

import duckdb
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate as hg
from headgate.demo.auctions import auction_stream
from headgate.demo.made_source import AuctionSource
from headgate.spark.session import start_session

WINDOW = "15 minutes"


def read(spark: SparkSession, side: str, time: str, rows: int) -> DataFrame:
    """One side of the auction stream, with a watermark."""
    options = {"side": side, "rows": rows, "seed": 0, "batch": rows // 5, "partitions": 1}
    stream = spark.readStream.format(AuctionSource.name()).options(**options).load()
    return stream.withWatermark(time, "1 second")


def estimates(spark: SparkSession, rows: int, memory: int) -> pa.Table:
    """The averages by window, estimated from the sampled join."""
    join = hg.WindowJoin(
        left_on="id",
        right_on="auction",
        left=hg.Side(time="opened_at", window="10 minutes"),
        right=hg.Side(time="bid_at", window="0 seconds"),
        budget=hg.Budget(rows=memory),
        goal=hg.Sample("cluster", confidence=0.95),
    )
    spark.dataSource.register(AuctionSource)
    sample = join.stream(
        read(spark, "auctions", "opened_at", rows), read(spark, "bids", "bid_at", rows)
    )
    by_window = sample.withColumn("window", F.window("bid_at", WINDOW))
    averages = hg.estimate.avg(by_window, "price", by="window", goal=join.goal)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        query = (
            averages.select(F.col("window.start").alias("start"), "*")
            .drop("window")
            .writeStream.format("parquet")
            .option("path", str(place / "averages"))
            .option("checkpointLocation", str(place / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        return spark.read.parquet(str(place / "averages")).orderBy("start").toArrow()


def exact(rows: int) -> pa.Table:
    """The same averages over the whole join."""
    stream = auction_stream(rows, 0)
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("bids", stream.bids)
        return connection.sql(
            "SELECT time_bucket(INTERVAL 15 MINUTE, bid_at) AS start, avg(price) AS average,"
            " count(*) AS bids FROM bids GROUP BY start ORDER BY start"
        ).to_arrow_table()


def main() -> None:
    """Print both, a line a window."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=400_000)
    rows = parser.parse_args().rows
    log = Path(tempfile.gettempdir()) / "headgate-example-spark.log"
    spark = start_session("sampled average", log)
    try:
        # Ten of the 120 minutes' auctions are in the window; a tenth of those is stored.
        found = estimates(spark, rows, memory=max(rows // 16 // 12 // 10, 20))
    finally:
        spark.stop()
    true = {row["start"]: row for row in exact(rows).to_pylist()}
    print(f"{'from':>6}  {'exact':>8}  {'estimate':>8}  95 % interval        sampled bids")
    covered = 0
    for row in found.to_pylist():
        average = true[row["start"]]["average"]
        covered += row["low"] <= average <= row["high"]
        print(
            f"{row['start']:%H:%M}  {average:8.3f}  {row['estimate']:8.3f}  "
            f"{row['low']:7.3f} to {row['high']:7.3f}   {row['rows']:,} of "
            f"{true[row['start']]['bids']:,}"
        )
    print(f"the interval covers the exact average in {covered} of {found.num_rows} windows")


if __name__ == "__main__":
    main()
