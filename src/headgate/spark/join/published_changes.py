"""Control messages to a running join: new definitions of importance, and new budget limits.

A message is a row like any other. It is added to the rows of the two sides before the shuffle, with
a copy for every shard, so it belongs to a batch, and is checkpointed and replayed with it.
"""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from headgate.spark.packing import PACKED, packed
from headgate.spark.state.blobs import from_blob, to_blob
from headgate.spec import SpecError
from headgate.spec.bounded_json import shortened
from headgate.spec.importance.max_importance import LONGEST_TEXT
from headgate.spec.importance.publishing import write_definition

CHANGES, LIMITS = 2, 3
"""Used in place of a side's number: new definitions of importance, and new limits."""
PUBLISHED = "definition string, at timestamp"
LONGEST_LIMIT = 15
"""Digits of a limit: a thousand terabytes."""
LONGEST_SHARD = 5
"""Digits of a shard's number."""
_LIMIT = re.compile(f"(?:([0-9]{{1,{LONGEST_SHARD}}}):)?([0-9]{{1,{LONGEST_LIMIT}}})")
FORGIVING = {
    "mode": "PERMISSIVE",
    "pathGlobFilter": "*.json",
    "recursiveFileLookup": "true",
    "ignoreMissingFiles": "true",
    "ignoreCorruptFiles": "true",
    "mapreduce.input.linerecordreader.line.maxlength": str(4 * LONGEST_TEXT),
}
"""Options for reading a folder that others write to: missing or broken files are skipped, invalid
lines become nulls, and subfolder names are not read as columns."""
Redefined = str | os.PathLike[str] | DataFrame


def packed_changes(session: SparkSession, given: Redefined, labels: tuple[int, ...]) -> DataFrame:
    """New definitions of importance as blobs for every shard, to add to those of the sides."""
    frame = given if isinstance(given, DataFrame) else _published(session, given)
    if not frame.isStreaming or "definition" not in frame.columns:
        kind = "streaming" if frame.isStreaming else "bounded"
        raise SpecError(
            f"redefined= is a {kind} DataFrame of {', '.join(frame.columns)}: give a streaming one "
            f'with a column "definition" (the text of MaxImportance.to_json()) and perhaps "at" '
            f"(a timestamp), or the folder that MaxImportance.publish writes to"
        )
    # An unreadable definition becomes null, which is invalid: nothing here may fail the query.
    at = F.lit(None)
    if "at" in frame.columns:
        at = F.unix_micros(F.col("at").try_cast("timestamp"))
    # Of two in one batch, the one published last applies; file names sort in that order.
    name = F.lit("") if isinstance(given, DataFrame) else F.col("_metadata.file_name")
    told = frame.select(
        _bounded(F.col("definition"), LONGEST_TEXT),
        at.cast("long").alias("at"),
        name.alias("name"),
    )
    return told.mapInArrow(PackChanges(labels), PACKED)


def packed_limits(
    session: SparkSession, folder: str | os.PathLike[str], labels: tuple[int, ...]
) -> DataFrame:
    """Limits published in a folder as blobs for every shard, to add to those of the sides."""
    told = _published(session, folder).select(
        _bounded(F.col("definition"), LONGEST_SHARD + 1 + LONGEST_LIMIT),
        F.lit(None).cast("long").alias("at"),
        F.col("_metadata.file_name").alias("name"),
    )
    return told.mapInArrow(PackChanges(labels, LIMITS), PACKED)


def publish_limit(folder: str | os.PathLike[str], limit: int, shard: int | None = None) -> None:
    """Publish the rows or bytes that a running join, or one of its shards, may now store."""
    write_definition(folder, str(limit) if shard is None else f"{shard}:{limit}", at=None)


def _bounded(text: Column, longest: int) -> Column:
    """The text, or null if it is not text or too long to ship to every shard."""
    given = F.try_validate_utf8(text.cast("string"))
    return F.when(F.length(given) <= longest, given).alias("definition")


def _published(session: SparkSession, folder: str | os.PathLike[str]) -> DataFrame:
    path = os.fspath(folder)
    if "://" not in path:
        # The JVM may have another working directory.
        path = str(Path(path).absolute())
        Path(path).mkdir(parents=True, exist_ok=True)
    reader = session.readStream.schema(PUBLISHED)
    for option, value in FORGIVING.items():
        reader = reader.option(option, value)
    return reader.json(path)


@dataclass(frozen=True)
class PackChanges:
    """Turns messages into a blob for every shard; run by ``mapInArrow``."""

    labels: tuple[int, ...]
    kind: int = CHANGES

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        part = context.partitionId() if context is not None else 0
        for ordinal, batch in enumerate(batches):
            if batch.num_rows:
                blob = to_blob(pa.Table.from_batches([batch]))
                yield packed(self.labels, self.kind, part, ordinal, [blob] * len(self.labels))


def read_changes(rows: pd.DataFrame) -> list[tuple[int | None, str]]:
    """Event times and texts of the messages, in the order of publication."""
    if rows.empty:
        return []
    mine = rows.sort_values(["part", "ordinal"])
    told = [change for blob in mine["blob"] for change in from_blob(blob).to_pylist()]
    told.sort(key=lambda change: change["name"])
    return [(change["at"], change["definition"] or "") for change in told]


def read_limit(text: str, most: int | None) -> tuple[int | None, int]:
    """Parse a published limit: the number of its shard, if it is for one alone; rows or bytes.

    ``most`` is the whole budget, which no limit may pass.

    Examples
    --------
    >>> read_limit("5000", most=10_000), read_limit("3:2500", most=10_000)
    ((None, 5000), (3, 2500))
    """
    found = _LIMIT.fullmatch(text)
    if found is None:
        raise SpecError(
            f"{shortened(text)} is not a limit: give a whole number of at most {LONGEST_LIMIT} "
            f"digits, behind the number of a shard and a colon if it is for one shard"
        )
    shard, limit = found.groups()
    if most is not None and int(limit) > most:
        raise SpecError(f"limit {limit} is more than the whole budget: give at most {most:,}")
    return (None if shard is None else int(shard)), int(limit)
