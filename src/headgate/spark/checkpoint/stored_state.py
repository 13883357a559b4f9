"""What the shards of a join have in a checkpoint: read by Spark's own reader of state.

Everything is read as of the last batch that is done, so a query that goes on is not in the way, and
nothing is written.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headgate.spark.checkpoint.checkpoint_files import CheckpointFiles, Operator
from headgate.spark.checkpoint.described_join import DescribedJoin
from headgate.spark.shards import CONTROL
from headgate.spark.state.control_text import read_control
from headgate.spark.state.shard_head import SegmentEntry, ShardHead
from headgate.spec import SpecError


@dataclass(frozen=True)
class StoredShard:
    """A shard as the checkpoint has it.

    Parameters
    ----------
    label
        The number by which Spark knows the shard.
    head
        Its progress, and the list of its segments.
    watermark_us
        The watermark of the last batch.
    learned
        What was learned, as `Monitor.facts` writes it; None if nothing.
    learned_bytes
        Bytes that this takes in the state store.
    """

    label: int
    head: ShardHead
    watermark_us: int | None
    learned: dict[str, Any] | None
    learned_bytes: int = 0

    def segments(self, side: int) -> list[SegmentEntry]:
        """The list's entries of one side."""
        return [entry for entry in self.head.segments if entry.side == side]


@dataclass(frozen=True)
class StoredState:
    """The state of a join in a checkpoint, as of its last batch that is done."""

    session: SparkSession
    files: CheckpointFiles
    operator: Operator
    batch: int
    join: DescribedJoin
    shards: tuple[StoredShard, ...]

    @classmethod
    def read(cls, session: SparkSession, files: CheckpointFiles) -> "StoredState":
        """Read the heads of all shards."""
        operator, batch = files.join(), files.last_batch
        told = _rows(session, files, operator, batch, "control")
        if not told:
            raise SpecError(f"{files.path} has no join in it yet: let the query run for a batch")
        join = DescribedJoin.read(read_control(told[CONTROL][0]))
        marks = _rows(session, files, operator, batch, "watermark")
        learned = _rows(session, files, operator, batch, "lessons")
        shards = []
        for label, (blob,) in sorted(_rows(session, files, operator, batch, "head").items()):
            known = learned.get(label)
            shards.append(
                StoredShard(
                    label,
                    ShardHead.read(bytes(blob), f"the head of shard {label}"),
                    int(marks[label][0]) if label in marks else None,
                    None if known is None else json.loads(known[0]),
                    0 if known is None else sum(len(part) for part in known if part is not None),
                )
            )
        if not shards:
            raise SpecError(f"{files.path} has no shard in it yet: let the query run for a batch")
        return cls(
            session=session,
            files=files,
            operator=operator,
            batch=batch,
            join=join,
            shards=tuple(shards),
        )

    def parts(self, variable: str) -> DataFrame:
        """The parts of the tables of a map, those of each table together and in order."""
        with reading(self.files):
            frame = variable_of(self.session, self.files, self.operator, self.batch, variable)
        parts = frame.select(
            F.col("key.shard").alias("shard"),
            F.col("user_map_key.name").alias("name"),
            F.col("user_map_key.part").alias("part"),
            F.col("user_map_value.blob").alias("blob"),
        )
        return parts.repartition("shard", "name").sortWithinPartitions("shard", "name", "part")

    @property
    def watermark_us(self) -> int | None:
        """The watermark of the last batch, which all shards have."""
        return max(
            (shard.watermark_us for shard in self.shards if shard.watermark_us is not None),
            default=None,
        )

    @property
    def clock(self) -> int:
        """The latest event of any shard; see `Progress`."""
        return max(shard.head.progress.clock for shard in self.shards)

    def check_unchanged(self) -> None:
        """Raise if the query has gone on since."""
        if self.files.last_batch != self.batch:
            raise SpecError(
                f"{self.files.path} has changed while it was read: batch {self.files.last_batch} "
                f"is done, and {self.batch} was the last at the start. Stop the query first"
            )


def variable_of(
    session: SparkSession, files: CheckpointFiles, operator: Operator, batch: int, name: str
) -> DataFrame:
    """A state variable of a processor, as of the end of a batch."""
    reader = session.read.format("statestore").option("operatorId", operator.number)
    return reader.option("batchId", batch).option("stateVarName", name).load(str(files.path))


@contextmanager
def reading(files: CheckpointFiles) -> Iterator[None]:
    """Say which checkpoint it is that Spark cannot read."""
    try:
        yield
    except PySparkException as error:
        raise SpecError(
            f"{files.path} cannot be read as the checkpoint of a join: {reason_of(str(error))}"
        ) from error


def reason_of(message: str) -> str:
    """What Spark says first; of an error in a Python worker, what was raised there.

    Examples
    --------
    >>> reason_of("[PATH_NOT_FOUND] No such path.\\nJVM stacktrace:\\n...")
    '[PATH_NOT_FOUND] No such path.'
    >>> trace = "Traceback (most recent call last):\\n  File a, line 1\\nSpecError: it is damaged"
    >>> reason_of(f"An exception was thrown from the Python worker:\\n\\n{trace}\\n")
    'SpecError: it is damaged'
    """
    first, _, rest = message.strip().partition("\n")
    trace = rest.rpartition("Traceback (most recent call last):")[2]
    raised = [line for line in trace.splitlines() if line and not line.startswith(" ")]
    return raised[0] if "Traceback" in rest and raised else first


def _rows(
    session: SparkSession, files: CheckpointFiles, operator: Operator, batch: int, name: str
) -> dict[int, Any]:
    """The values of a variable by shard."""
    with reading(files):
        found = variable_of(session, files, operator, batch, name).select("key.shard", "value")
        return {int(row[0]): row[1] for row in found.collect()}
