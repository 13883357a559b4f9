"""Checkpoints of earlier formats, kept to be taken up by the present code.

`make golden-checkpoints` writes those of the present format into `tests/golden/checkpoints`: each
is what a query leaves that has read its first files, as Spark has it on disk, in a zip file. Those
of earlier formats are never written again. Paths in Spark's own files stand for a folder that is
known only where the zip is unpacked.
"""

import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import headgate as hg
from tests.spark.streams import START_US, timestamps, write_side

FOLDER = Path(__file__).with_name("checkpoints")
HERE = b"@FOLDER@"
"""What stands for the folder of a query in the files of a checkpoint."""
FILES, READ_BEFORE = 5, 3
"""Files of each side, and how many of them a checkpoint's query has read."""
ROWS = 120
SCHEMAS = (
    "key string, opened_at timestamp, left_id bigint, price decimal(10,2), tags array<string>",
    "key string, bid_at timestamp, right_id int, rating float, note string",
)
TIMES = ("opened_at", "bid_at")
FULL = {"how": "full", "unmatched": "all"}
COUNTED = hg.Budget(rows=60, monitor=0.05)
"""All of what is learned counts as rows, as it did when the oldest checkpoints were written."""
KINDS: dict[str, dict[str, Any]] = {
    "ample": {"policy": "lru", "budget": hg.Budget(rows=10_000), "how": "left"},
    "auto": {"policy": "auto", "budget": COUNTED},
    "full": {"policy": "random", **FULL},
    "importance": {"goal": hg.MaxImportance(left="coalesce(price, 0)"), "budget": COUNTED},
    "lru": {"policy": "lru"},
    "sample": {"goal": hg.Sample()},
    "semi": {"policy": "random", "how": "semi"},
}
"""Joins by name: rows that learn, have a history, thresholds, fates and filters."""


def joined(spark: SparkSession, folder: Path, kind: str) -> DataFrame:
    """The join of a kind, over the files of a folder."""
    left, right = (
        spark.readStream.schema(SCHEMAS[side])
        .option("maxFilesPerTrigger", 1)
        .parquet(str(folder / name))
        .withWatermark(TIMES[side], "20 seconds")
        for side, name in enumerate(("left", "right"))
    )
    return join_of(kind).stream(left, right, shards=2, watermark=False)


def join_of(kind: str) -> hg.WindowJoin:
    """The join of a kind."""
    return hg.WindowJoin(
        on="key",
        left=hg.Side(time="opened_at", window="2 minutes"),
        right=hg.Side(time="bid_at", window="1 minute"),
        **{"budget": hg.Budget(rows=60), **KINDS[kind]},
    )


def tables(side: int) -> list[pa.Table]:
    """The files of a side, a minute each; some rows out of order, some late, some without a key."""
    return [_table(side, number) for number in range(FILES)]


def _table(side: int, number: int) -> pa.Table:
    place = np.arange(ROWS) + ROWS * number
    seconds = number * 60 + _draw(place, 8 * side + 1) % 60
    seconds -= np.where(_draw(place, 8 * side + 2) % 10 == 0, _draw(place, 8 * side + 3) % 240, 0)
    key = np.minimum(_draw(place, 8 * side + 4) % 24, _draw(place, 8 * side + 5) % 24)
    texts = np.array([None if each == 23 else f"key {each}" for each in key], object)
    columns: list[Any] = [
        pa.array(texts, pa.string()),
        timestamps(START_US + 300_000_000 + seconds.astype(np.int64) * 1_000_000),
    ]
    if side == 0:
        price = pa.array((_draw(place, 6) % 10_000).astype(np.int64), pa.int64())
        tags = [None if at % 7 == 0 else [f"tag {at % 3}"] * (at % 4) for at in place.tolist()]
        columns += [pa.array(place), price.cast(pa.decimal128(21, 2)).cast(pa.decimal128(10, 2))]
        columns.append(pa.array(tags, pa.list_(pa.string())))
        names = ["key", "opened_at", "left_id", "price", "tags"]
    else:
        notes = [None if at % 5 == 0 else "n" * (at % 17) for at in place.tolist()]
        rating = (_draw(place, 7) % 50).astype(np.float32) / np.float32(8)
        columns += [pa.array(place.astype(np.int32)), pa.array(rating), pa.array(notes)]
        names = ["key", "bid_at", "right_id", "rating", "note"]
    return pa.table(columns, names=names)


def _draw(place: np.ndarray, salt: int) -> np.ndarray:
    """Numbers that look random, from nothing but arithmetic: the same for ever."""
    with np.errstate(over="ignore"):
        z = (place.astype(np.uint64) + np.uint64(1 + (salt << 32))) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    drawn: np.ndarray = (z ^ (z >> np.uint64(33))) >> np.uint64(1)
    return drawn.astype(np.int64)


def write_files(folder: Path, first: int, end: int) -> None:
    """Give a query some of its files."""
    for side, name in enumerate(("left", "right")):
        write_side(folder / name, tables(side)[first:end], first)


def run(frame: DataFrame, folder: Path) -> Any:
    """Run a query over all there is; returns it, ended."""
    query = (
        frame.writeStream.format("parquet")
        .option("path", str(folder / "out"))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return query


def pack(folder: Path, to: Path) -> None:
    """Pack the checkpoint that a query has left."""
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            name = path.relative_to(folder)
            if name.parts[0] != "checkpoint" or path.suffix == ".crc":
                continue
            content = path.read_bytes()
            if name.parts[1] == "sources" or "_metadata" in name.parts:
                content = content.replace(str(folder).encode(), HERE)
            # A date of its own would make every zip another.
            entry = zipfile.ZipInfo(str(name), (2026, 1, 1, 0, 0, 0))
            packed.writestr(entry, content, zipfile.ZIP_DEFLATED)


def unpack(packed: Path, folder: Path) -> None:
    """Put a packed checkpoint into a query's folder, as if it had run there."""
    with zipfile.ZipFile(packed) as files:
        for name in files.namelist():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files.read(name).replace(HERE, str(folder).encode()))


def make(spark: SparkSession, to: Path, kinds: Sequence[str] = tuple(KINDS)) -> None:
    """Write the checkpoints of the present format."""
    to.mkdir(parents=True, exist_ok=True)
    for kind in kinds:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary).resolve() / "query"
            write_files(folder, 0, READ_BEFORE)
            run(joined(spark, folder, kind), folder)
            pack(folder, to / f"{kind}.zip")
            sys.stdout.write(f"{to / kind}.zip: {(to / f'{kind}.zip').stat().st_size:,} bytes\n")


def main(kinds: Sequence[str]) -> None:
    """Make those of the present format, or some of them."""
    from headgate.spark.state.blobs import FORMAT
    from tests.golden.shard_states import make_states
    from tests.spark.quick_settings import QUICK_TO_START

    if not kinds:
        make_states(FOLDER / f"format-{FORMAT}" / "states.zip")
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    settings = {**QUICK_TO_START, "spark.sql.shuffle.partitions": "2"}
    settings["spark.sql.session.timeZone"] = "UTC"
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    hg.configure(spark)
    make(spark, FOLDER / f"format-{FORMAT}", kinds or tuple(KINDS))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
