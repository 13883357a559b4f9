"""Checkpoints of queries that are stopped: looked into, resharded, taken over and given back."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headgate.spec.quantity import parse_bytes

if TYPE_CHECKING:
    from headgate.spark.checkpoint.checkpoint_state import CheckpointState
    from headgate.spark.checkpoint.resharding import Moved


def state(
    checkpoint: "str | os.PathLike[str]",
    spark: Any,
    *,
    top_keys: int = 10,
    values: bool = False,
    rows: "str | os.PathLike[str] | None" = None,
) -> "CheckpointState":
    """Tell what is in the checkpoint of a join: the join, its rows, ages, keys, learned models.

    Everything is as of the last batch that is done. A query that runs on the checkpoint meanwhile
    is not disturbed: nothing is written.

    Parameters
    ----------
    checkpoint
        A local folder: what the query has as ``checkpointLocation``.
    spark
        A session, which reads the state.
    top_keys
        How many of the most frequent keys to name.
    values
        Whether to show values of columns: those of frequent and split keys, definitions of
        importance, and the sources' offsets. A hash stands for a key otherwise.
    rows
        A Parquet file to which the stored rows are written, with all their columns.

    Examples
    --------
    >>> def look(spark):
    ...     print(hg.state("checkpoints/shop", spark))
    ...     return hg.state("checkpoints/shop", spark, rows="rows.parquet").to_json()
    """
    from headgate.spark.checkpoint.checkpoint_files import CheckpointFiles
    from headgate.spark.checkpoint.checkpoint_state import read_checkpoint
    from headgate.spark.checkpoint.work_session import work_session

    files = CheckpointFiles.of(checkpoint)
    return read_checkpoint(
        work_session(spark), files, top_keys, values, None if rows is None else Path(rows)
    )


def reshard(
    checkpoint: "str | os.PathLike[str]",
    to: "str | os.PathLike[str]",
    spark: Any,
    *,
    shards: int,
    partitions: int | None = None,
    memory: "str | int" = "256 MB",
) -> "Moved":
    """Write the checkpoint of a stopped join anew, for another number of shards.

    The query restarted on it, with that many shards, goes on where it stopped: with ample budget
    it makes what a query makes that always had them. Rows that no longer fit, since keys fall
    otherwise on shards, are given up at the first arrival. What was learned starts anew. The old
    checkpoint stays as it is. Interrupted, the same call goes on with the stages that are left.

    Parameters
    ----------
    checkpoint
        A local folder: what the query has as ``checkpointLocation``.
    to
        Where the new checkpoint will be: a folder that does not exist.
    spark
        A session, which reads and writes the state; its settings should be those of the query.
    shards
        How many shards there will be.
    partitions
        How many shuffle partitions; as many as shards, unless the query has other stateful
        operators, which keep theirs.
    memory
        What each worker may hold of rows at a time.

    Examples
    --------
    >>> def grow(spark):
    ...     print(hg.reshard("checkpoints/shop", "checkpoints/shop-32", spark, shards=32))
    """
    from headgate.spark.checkpoint.checkpoint_files import CheckpointFiles, local_path
    from headgate.spark.checkpoint.resharding import reshard_checkpoint
    from headgate.spark.checkpoint.work_session import work_session

    files = CheckpointFiles.of(checkpoint)
    return reshard_checkpoint(
        work_session(spark),
        files,
        local_path(to),
        shards,
        partitions,
        parse_bytes(memory, "memory"),
    )
