"""Delays the watermark of the results behind that of the inputs by the longer window.

A result may hold a stored row as old as its window, but Spark passes the watermark through the
join's operator unchanged: operators after it would drop such results as late. Only Spark's own
stream-stream join delays the watermark, according to the time bounds in its condition. So results
pass through one, as the outer side of a join with an empty stream, under the longer window. No
result can satisfy its condition, so each leaves at once as unmatched, and no state is kept.
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
    """Pass result blobs on unchanged, with the watermark they would have after Spark's own join.

    Parameters
    ----------
    blobs
        A column ``blob``.
    packed
        Any stream with integer columns ``shard`` and ``ordinal``; none of its rows is read.
    partitions
        The number of shuffle partitions.
    """
    longest = max((window.us for window in windows if isinstance(window, TimeWindow)), default=None)
    if longest is None:
        return blobs
    # Nothing in the condition may be constant: the optimiser would simplify it, and Spark could no
    # longer derive time bounds from it.
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
    # The optimiser removes an outer join if only its outer side is used.
    held = passing.alias(_HINT).join(nothing, condition, "left_outer")
    return held.select("blob", "other_place")


def _place(partitions: int) -> Column:
    """A number that hashes to the partition the row is already in."""
    labels = F.array(*(F.lit(label) for label in shard_labels(partitions, partitions)))
    return F.element_at(labels, F.pmod(F.spark_partition_id(), F.lit(partitions)) + 1)
