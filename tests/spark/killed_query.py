"""A streaming join under pressure, as a program of its own, for tests that kill it.

Usage: killed_query.py MASTER FOLDER POLICY. Reads FOLDER/left and FOLDER/right, writes FOLDER/out,
and carries on from FOLDER/checkpoint when started again. The policy "sample" is a sample that
learns, "hist" a policy that learns from the rows it kept, "left" and so on another kind of join.
"""

import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

import headgate as hg
from tests.spark.quick_session import quick_session

SCHEMAS = (
    "key bigint, opened_at timestamp, left_id bigint",
    "key bigint, bid_at timestamp, right_id bigint",
)
TIMES = ("opened_at", "bid_at")
OTHERS = {
    "sample": {"goal": hg.Sample()},
    "hist": {"policy": hg.policies.Hist("walk")},
    "semi": {"policy": "random", "how": "semi"},
    **{
        how: {"policy": "random", "how": how, "unmatched": "all"}
        for how in ("left", "right", "full", "anti")
    },
}


def joined(spark: SparkSession, folder: Path, policy: str) -> DataFrame:
    """The join whose result must not depend on what happens to the machine."""
    left, right = (
        spark.readStream.schema(SCHEMAS[side])
        .option("maxFilesPerTrigger", 1)
        .parquet(str(folder / name))
        .withWatermark(TIMES[side], "20 seconds")
        for side, name in enumerate(("left", "right"))
    )
    if policy in ("semi", "anti"):
        # With few keys nearly every left row leaves with its first partner: no pressure, no alerts.
        left = left.withColumn("key", F.expr("key + 30 * (left_id % 30)"))
        right = right.withColumn("key", F.expr("key + 30 * (right_id % 30)"))
    join = hg.WindowJoin(
        on="key",
        left=hg.Side(time="opened_at", window="2 minutes"),
        right=hg.Side(time="bid_at", window="1 minute"),
        budget=hg.Budget(rows=150),
        **OTHERS.get(policy, {"policy": policy}),
    )
    return join.stream(left, right, shards=2, watermark=False)


def written(frame: DataFrame, folder: Path) -> StreamingQuery:
    """The query over all there is, into files."""
    return (
        frame.writeStream.format("parquet")
        .option("path", str(folder / "out"))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )


def main(master: str, folder: Path, policy: str) -> None:
    """Run the query over all there is."""
    session = quick_session(
        master,
        {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.executor.memory": "768m",
            "spark.sql.shuffle.partitions": "2",
        },
    )
    written(joined(session, folder, policy), folder).awaitTermination()
    session.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
