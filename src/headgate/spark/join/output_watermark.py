"""The watermark of the results: behind that of the inputs by the longer window.

A result may hold a stored row as old as its window, and Spark hands the watermark on through the
join's operator as it is: operators after it would drop such results as late. Of Spark's operators
only a stream-stream join holds the watermark back, by what its condition says of the two times. So
results pass through one, as the outer side of a join with nothing, under the longer window. No
result can meet its condition, so each leaves at once as unmatched, and no state is kept.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headgate.spark.requirements import WATERMARK
from headgate.spark.shards import shard_labels
from headgate.spec import TimeWindow, Window

STORES = 4
"""State stores that this takes in every partition."""

_MARK = {WATERMARK: 0}
_HINT = "headgate: update and complete mode need stream(watermark=False)"
"""Names what is joined, so that it stands where Spark refuses a query in another mode."""


def held_back(
    blobs: DataFrame, packed: DataFrame, windows: tuple[Window, Window], partitions: int
) -> DataFrame:
    """Blobs of results as they are, with the watermark they would have behind Spark's own join.

    Parameters
    ----------
    blobs
        A column ``blob``.
    packed
        Any stream with whole numbers ``shard`` and ``ordinal``; none of its rows is read.
    partitions
        How many a shuffle makes.
    """
    longest = max((window.us for window in windows if isinstance(window, TimeWindow)), default=None)
    if longest is None:
        return blobs
    # Nothing in the condition may be constant: the optimiser would simplify it, and Spark could no
    # longer tell what it says of the two times.
    never = F.length("blob") < 0
    no_time = F.timestamp_seconds(F.when(never, F.length("blob")))
    passing = blobs.select(
        "blob", _place(partitions).alias("place"), no_time.alias("at", metadata=_MARK)
    )
    nothing = packed.where(F.lit(False)).select(
        F.col("shard").alias("other_place"),
        F.timestamp_seconds("ordinal").alias("other_at", metadata=_MARK),
    )
    span = F.expr(f"INTERVAL '{longest // 1_000_000}.{longest % 1_000_000:06d}' SECOND")
    condition = (
        never
        & (F.col("place") == F.col("other_place"))
        & (F.col("other_at") >= F.col("at") - span)
        & (F.col("other_at") <= F.col("at") + span)
    )
    # The optimiser takes out an outer join of which only the outer side is used.
    held = passing.alias(_HINT).join(nothing, condition, "left_outer")
    return held.select("blob", "other_place")


def _place(partitions: int) -> Column:
    """A number that a shuffle by it leaves in the partition where it is."""
    labels = F.array(*(F.lit(label) for label in shard_labels(partitions, partitions)))
    return F.element_at(labels, F.pmod(F.spark_partition_id(), F.lit(partitions)) + 1)
