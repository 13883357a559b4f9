"""The buffers of Spark's own stream-stream join, as its reader of state shows them."""

from pyspark.sql import DataFrame, SparkSession

from headgate.spark.checkpoint.checkpoint_files import CheckpointFiles
from headgate.spark.checkpoint.described_join import SIDES

MATCHED = "matched"
"""The column behind a row's own that says whether it has met a partner."""
_STORE = "{side}-keyWithIndexToValue"


def buffered_rows(
    session: SparkSession,
    files: CheckpointFiles,
    side: int,
    with_flag: bool,
    operator: int = 0,
    batch: int = 0,
) -> DataFrame:
    """The rows of a side's buffer at the end of a batch, with whether each has met a partner."""
    reader = session.read.format("statestore").option("operatorId", operator)
    reader = reader.option("batchId", batch)
    if with_flag:
        reader = reader.option("storeName", _STORE.format(side=SIDES[side]))
    else:
        reader = reader.option("joinSide", SIDES[side])
    return reader.load(str(files.path)).select("value.*")
