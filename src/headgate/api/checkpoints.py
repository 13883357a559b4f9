"""Checkpoints of queries that are stopped: looked into, resharded, taken over and given back."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headgate.spec.quantity import parse_bytes

if TYPE_CHECKING:
    from headgate.api.window_join import WindowJoin
    from headgate.spark import DataFrame
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
    """Show what is in the checkpoint of a join: the join, its rows, ages, keys, learned models.

    Everything is as of the last batch that is done. A query that runs on the checkpoint meanwhile
    is not disturbed: nothing is written.

    Parameters
    ----------
    checkpoint
        A local folder: the query's ``checkpointLocation``.
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
    """Rewrite the checkpoint of a stopped join for another number of shards.

    Restart the query on it with that many shards, and it continues where it stopped. With an ample
    budget it returns what a query with so many shards would have returned all along. Rows that no
    longer fit, because keys move to other shards, are evicted at the first arrival. Learning starts
    again. The old checkpoint stays as it is. After an interruption, the same call continues with
    the remaining stages.

    Parameters
    ----------
    checkpoint
        A local folder: the query's ``checkpointLocation``.
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
        Bytes of rows that each worker may hold at a time.

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


def adopt(
    checkpoint: "str | os.PathLike[str]",
    to: "str | os.PathLike[str]",
    join: "WindowJoin",
    left: "DataFrame",
    right: "DataFrame",
    *,
    shards: int | None = None,
    memory: "str | int" = "256 MB",
) -> "Moved":
    """Take over a stopped query that ran on Spark's own stream-stream join.

    The rows in its buffers become the first state of a Headgate join, and its sources, batch number
    and watermark carry over. Start the query on the new checkpoint with
    ``join.stream(left, right)`` in place of its join, and it continues where it stopped. With an
    ample budget no result row is lost or doubled. The old checkpoint stays as it is.

    Parameters
    ----------
    checkpoint
        A local folder: the query's ``checkpointLocation``. The join is its only stateful
        operator, and it reads two sources, the left side first.
    to
        Where the new checkpoint will be: a folder that does not exist.
    join
        The same join; its windows are the time bounds in the condition of the old one.
    left, right
        The streams that were joined, with their watermarks, and with columns that the old query
        needed: others are not in its buffers.
    shards
        As of `WindowJoin.stream`, which must be given the same.
    memory
        Bytes of rows that each worker may hold at a time.

    Examples
    --------
    >>> def take_over(join, clicks, orders):
    ...     print(hg.adopt("checkpoints/shop", "checkpoints/shop-headgate", join, clicks, orders))
    """
    from headgate.spark.checkpoint.adoption import AdoptingJoin, adopt_checkpoint
    from headgate.spark.checkpoint.checkpoint_files import CheckpointFiles, local_path
    from headgate.spark.checkpoint.work_session import work_session
    from headgate.spark.requirements import check_inputs

    files = CheckpointFiles.of(checkpoint)
    session = check_inputs(left, right, streaming=True)
    return adopt_checkpoint(
        work_session(session),
        files,
        local_path(to),
        AdoptingJoin(join, (left, right), shards),
        parse_bytes(memory, "memory"),
    )


def release(
    checkpoint: "str | os.PathLike[str]",
    to: "str | os.PathLike[str]",
    join: "WindowJoin",
    left: "DataFrame",
    right: "DataFrame",
    *,
    query: "Callable[[DataFrame, DataFrame], DataFrame] | None" = None,
) -> "Moved":
    """Give a stopped query back to Spark's own stream-stream join.

    The stored rows become that join's buffers, and sources, batch number and watermark carry over.
    Start the query on the new checkpoint with Spark's join in place of Headgate's, and it continues
    where it stopped, with every stored row. The state store and the number of shuffle partitions
    are those of the session. The old checkpoint stays as it is.

    Parameters
    ----------
    checkpoint
        A local folder: the query's ``checkpointLocation``. The join is its only stateful
        operator, of any kind but anti. An outer join must not have evicted rows for two windows.
    to
        Where the new checkpoint will be: a folder that does not exist.
    join, left, right
        The join that wrote the checkpoint, and the streams that were joined, with their watermarks.
    query
        What the query will be, as a function of both streams, up to its sink; `built_in` of the
        join unless given.

    Examples
    --------
    >>> def give_back(join, clicks, orders):
    ...     print(hg.release("checkpoints/shop", "checkpoints/shop-spark", join, clicks, orders))
    ...     return hg.built_in(join, clicks, orders)  # to be started on checkpoints/shop-spark
    """
    from headgate.spark.checkpoint.built_in_join import built_in_join
    from headgate.spark.checkpoint.checkpoint_files import CheckpointFiles, local_path
    from headgate.spark.checkpoint.release import release_checkpoint
    from headgate.spark.checkpoint.work_session import work_session
    from headgate.spark.requirements import check_inputs

    files = CheckpointFiles.of(checkpoint)
    session = check_inputs(left, right, streaming=True)
    return release_checkpoint(
        work_session(session),
        files,
        local_path(to),
        join,
        query or partial(built_in_join, join),
        (left, right),
    )


def built_in(join: "WindowJoin", left: "DataFrame", right: "DataFrame") -> "DataFrame":
    """Spark's own stream-stream join with the result of a Headgate join with ample budget.

    Use it for comparison, and for queries after `release`.

    Examples
    --------
    >>> def compared(join, clicks, orders):
    ...     return hg.built_in(join, clicks, orders), join.stream(clicks, orders)
    """
    from headgate.spark.checkpoint.built_in_join import built_in_join

    return built_in_join(join, left, right)
