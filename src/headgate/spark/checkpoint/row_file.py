"""Writes the stored rows of a join to one Parquet file."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headgate.kernel.layout import Fate
from headgate.spark.carried_columns import number
from headgate.spark.checkpoint.stored_rows import FATE, SEQUENCE, SHARD, SIZE, TIME

SIDES = ("left", "right")


def write_rows(
    frames: Sequence[DataFrame | None],
    schemas: Sequence[pa.Schema | None],
    numbers: Mapping[int, int],
    settles: bool,
    file: Path,
) -> None:
    """Write the rows of both sides, each side's columns in a struct of its own.

    ``settles`` says whether the join knows which rows have met a partner. The file is
    complete or not there.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{file.name}-", dir=file.parent))
    try:
        for side, frame in enumerate(frames):
            if frame is not None:
                shown = frame.select(*_own(side, numbers, settles), *_payload(side, schemas))
                shown.write.parquet(str(folder / SIDES[side]))
        _gather(folder, file)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _own(side: int, numbers: Mapping[int, int], settles: bool) -> list[Column]:
    """What the join knows of a row."""
    pairs = [F.lit(value) for pair in numbers.items() for value in pair]
    known = F.when(F.lit(settles), F.col(FATE))
    return [
        F.lit(SIDES[side]).alias("side"),
        F.element_at(F.create_map(*pairs), F.col(SHARD)).alias("shard"),
        F.col(SEQUENCE),
        F.timestamp_micros(TIME).alias("time"),
        F.col(SIZE).alias("bytes"),
        (known.bitwiseAND(int(Fate.MATCHED)) != 0).alias("matched"),
        (known.bitwiseAND(int(Fate.DOUBTFUL)) != 0).alias("doubtful"),
    ]


def _payload(side: int, schemas: Sequence[pa.Schema | None]) -> list[Column]:
    """The columns of the row as the struct of its side."""
    schema = schemas[side]
    columns = [] if schema is None else schema.names
    named = [F.col(number(place)).alias(name) for place, name in enumerate(columns)]
    return [F.struct(*named).alias(SIDES[side])]


def _gather(folder: Path, file: Path) -> None:
    """Copy the files that Spark wrote into one, a batch at a time."""
    parts = [
        ds.dataset(folder / side, format="parquet") for side in SIDES if (folder / side).is_dir()
    ]
    if not parts:
        pq.write_table(pa.table({"side": pa.array([], pa.string())}), file)
        return
    fields = pa.unify_schemas([part.schema for part in parts])
    schema = pa.schema([field.with_nullable(True) for field in fields])
    unfinished = folder / "rows"
    with pq.ParquetWriter(unfinished, schema) as writer:
        for part in parts:
            for batch in part.to_batches():
                columns = [
                    batch.column(field.name)
                    if field.name in batch.schema.names
                    else pa.nulls(batch.num_rows, field.type)
                    for field in schema
                ]
                writer.write_batch(pa.record_batch(columns, schema=schema))
    unfinished.replace(file)
