"""Real queries that are stopped or killed, changed, and started again from their checkpoint."""

import json
import os
import shutil
import signal
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate as hg
from headgate.spark.spark_versions import figures_of
from tests.golden.checkpoint_cases import (
    FILES,
    FOLDER,
    READ_BEFORE,
    joined,
    run,
    unpack,
    write_files,
)
from tests.golden.test_checkpoints import put_out_since
from tests.spark import killed_query
from tests.spark.own_processes import PATIENCE_SECONDS
from tests.spark.restart_cases import (
    BATCHES,
    TIMES,
    WIDER,
    Case,
    Lived,
    Version,
    made_rows,
    table_of,
)
from tests.spark.restart_draws import TIGHT, WATCHED
from tests.spark.streams import START_US, multiset, schema_of, timestamps, write_side
from tests.spark.test_restart import begun, running, wait_for
from tests.spark.test_restart_changes import check_rows

pytestmark = pytest.mark.spark

AT = 4
CASES = {
    "columns, types, policy and a longer window": (
        Version(policy="auto", budget=WATCHED),
        Version(
            policy="lru",
            budget=WATCHED,
            windows=(40, 45),
            added=(True, True),
            wider=frozenset(WIDER),
            dropped=frozenset("s"),
        ),
    ),
    "inner to full, undecided rows shown": (
        Version(),
        Version(how="full", unmatched="all", windows=(5, 4)),
    ),
    "a smaller budget, importance and another seed": (
        Version(policy="auto", budget=WATCHED),
        Version(
            policy="auto", budget=TIGHT, goal=hg.MaxImportance(left="a"), seed=3, index="btree"
        ),
    ),
    "full with a longer window and watermark delay": (
        Version(how="full"),
        Version(how="full", windows=(40, 45), delay=15, added=(True, False)),
    ),
}
USUAL = "columns, types, policy and a longer window"


def stream_of(spark: SparkSession, folder: Path, version: Version) -> DataFrame:
    frames = []
    for side, name in enumerate(("left", "right")):
        schema = schema_of(spark, table_of([], side, version), folder / f"schema-{name}")
        frames.append(
            spark.readStream.schema(schema)
            .option("maxFilesPerTrigger", 1)
            .parquet(str(folder / name))
            .withWatermark(TIMES[side], f"{version.delay} seconds")
        )
    return version.join().stream(*frames, shards=2, watermark=False)


def put_out(folder: Path, batch: int) -> list[str]:
    """The files that a batch has put out, by the log of the sink."""
    log = folder / "_spark_metadata" / str(batch)
    return [json.loads(line)["path"] for line in log.read_text().splitlines()[1:]]


@pytest.mark.parametrize(
    "name",
    [name if name == USUAL else pytest.param(name, marks=pytest.mark.long) for name in CASES],
)
def test_a_query_goes_on_as_another(spark: SparkSession, tmp_path: Path, name: str) -> None:
    case = Case(*CASES[name], at=AT, killed=False, seed=81)
    lived = Lived(case, made_rows(case.seed))
    for first, end, version in ((0, AT, case.before), (AT, BATCHES, case.now)):
        for side, folder in enumerate(("left", "right")):
            batches = [
                table_of([row for row in lived.rows[side] if row["batch"] == each], side, version)
                for each in range(first, end)
            ]
            write_side(tmp_path / folder, batches, first)
        out = tmp_path / f"out-{first}"
        query = (
            stream_of(spark, tmp_path, version)
            .writeStream.format("parquet")
            .option("path", str(out))
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        for batch in range(first, end):
            paths = put_out(out, batch)
            rows = spark.read.parquet(*paths).toArrow().to_pylist() if paths else []
            lived.out.append(rows)
    # Spark's watermark is that of the side behind, so no more rows have left than this.
    lived.watermark = max(row["second"] for row in lived.rows[0] if row["batch"] < AT)
    check_rows(lived)
    figures = [figures_of(each["observedMetrics"]["headgate"]) for each in query.recentProgress]
    assert figures[0]["shards_unsettled"] == 2
    assert figures[0]["recall"] is None
    assert (figures[0]["gone_rows"] > 0) == (case.now.windows[0] > case.before.windows[0])


@pytest.mark.slow
def test_a_killed_query_goes_on_as_another(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "query"
    folder.mkdir()
    _killed_inputs(folder)
    with running("local[2]", folder, "lru") as process:
        wait_for(lambda: begun(folder, 2), process)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE_SECONDS)
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    try:
        run(killed_query.joined(spark, folder, "auto"), folder)
        exact = run_exact(spark, folder)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "1")
    got = multiset(spark.read.parquet(str(folder / "out")))
    assert got.total() > 500
    assert not got - exact, "rows that the exact join does not make"


def _killed_inputs(folder: Path) -> None:
    rng = np.random.default_rng(33)
    for side, name in enumerate(("left", "right")):
        files = [
            pa.table(
                {
                    "key": rng.zipf(1.5, 300) % 30,
                    ("opened_at", "bid_at")[side]: timestamps(
                        START_US
                        + 300_000_000
                        + (number * 60 + rng.integers(0, 60, 300)) * 1_000_000
                    ),
                    f"{name}_id": np.arange(300) + 300 * number,
                }
            )
            for number in range(5)
        ]
        write_side(folder / name, files)


def run_exact(spark: SparkSession, folder: Path) -> Counter:
    """What Spark's own join makes of the same files."""
    left, right = (spark.read.parquet(str(folder / name)) for name in ("left", "right"))
    apart = F.unix_micros("bid_at") - F.unix_micros("opened_at")
    on = (left["key"] == right["key"]) & apart.between(-60_000_000, 120_000_000)
    return multiset(left.join(right, on).drop(right["key"]))


DAMAGES = {
    "missing": lambda path: path.unlink(),
    "cut": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "altered": lambda path: path.write_bytes(
        _altered(path.read_bytes(), len(path.read_bytes()) // 2)
    ),
    "altered at its end": lambda path: path.write_bytes(
        _altered(path.read_bytes(), int(0.9 * len(path.read_bytes())))
    ),
    "emptied": lambda path: path.write_bytes(b""),
}


def _altered(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :]


@pytest.mark.slow
@pytest.mark.parametrize("kind_of_damage", DAMAGES)
def test_a_damaged_file_of_a_checkpoint_never_makes_a_wrong_row(
    spark: SparkSession, tmp_path: Path, kind_of_damage: str
) -> None:
    """Every file of a checkpoint, one by one; Spark's own text files are told apart."""
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    packed = FOLDER / "format-7" / "auto.zip"
    sound = tmp_path / "sound"
    try:
        wanted = _taken_up(spark, packed, sound, None, None)
        found: Counter[str] = Counter()
        shutil.rmtree(sound)
        unpack(packed, sound)
        files = sorted(
            path.relative_to(sound) for path in sound.glob("checkpoint/**/*") if path.is_file()
        )
        for number, name in enumerate(files):
            got = _taken_up(spark, packed, tmp_path / f"case-{number}", name, kind_of_damage)
            is_log = name.parts[1] in ("offsets", "commits", "sources")
            kind = "Spark's logs" if is_log else "state"
            if isinstance(got, str):
                found[f"{kind}: error"] += 1
            elif got == wanted:
                found[f"{kind}: as before"] += 1
            else:
                found[f"{kind}: other rows"] += 1
                assert is_log, f"{name} {kind_of_damage}: other rows came out"
            shutil.rmtree(tmp_path / f"case-{number}")
        print(kind_of_damage, dict(found))  # noqa: T201 - the result of the campaign
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "1")


def _taken_up(
    spark: SparkSession, packed: Path, folder: Path, name: Path | None, how: str | None
) -> Counter | str:
    """The rows of the last batches, or the error."""
    write_files(folder, 0, FILES)
    unpack(packed, folder)
    if name is not None and how is not None:
        DAMAGES[how](folder / name)
    try:
        run(joined(spark, folder, "auto"), folder)
        return multiset(put_out_since(spark, folder, READ_BEFORE))
    # Spark refuses what is wrong with its own files when the query is started, or while it runs;
    # where the sink's log lacks a batch, reading it fails.
    except (PySparkException, Py4JJavaError, OSError) as error:
        return str(error)


@pytest.mark.slow
def test_of_two_queries_on_one_checkpoint_one_ends(tmp_path: Path) -> None:
    """Two programs, started on the same checkpoint: whatever they do, rows come out once."""
    folder = tmp_path / "query"
    folder.mkdir()
    _killed_inputs(folder)
    with running("local[1]", folder, "lru") as one, running("local[1]", folder, "lru") as other:
        ended = {one.wait(PATIENCE_SECONDS), other.wait(PATIENCE_SECONDS)}
    assert ended != {0} or len(list((folder / "checkpoint" / "commits").glob("[0-9]*"))) == 5
    assert 0 in ended
