"""Importance on Spark: the same rows as in process, and redefined while the query runs."""

import json
import os
import shutil
import uuid
from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import headgate as hg
from headgate.policies import Greedy, Ijoin, Policy
from headgate.spark.spark_versions import figures_of
from tests.spark.one_shard import OneShard
from tests.spark.streams import START_US, Collected, multiset, timestamps, write_side
from tests.thoroughness import usually

pytestmark = pytest.mark.spark

ROWS, BATCH = 600, 100
DAY = hg.MaxImportance(
    left=hg.Categories("topic", {"politics": 8, "sports": 1}, default=2), right="urgency"
)
EVENING = hg.MaxImportance(
    left=hg.Categories("topic", {"politics": 1, "sports": 20}), right="urgency * 2"
)
HALF, CHANGED_AT = (START_US + 300_000_000 + at * 1_000_000 for at in (150, 250))
TOPICS = np.array(["politics", "sports", "weather"])


def side(seed: int, time: str) -> pa.Table:
    """Two rows a second a side; a topic is hot for half a minute."""
    rng = np.random.default_rng(seed)
    seconds = np.arange(ROWS) / 2 + rng.random(ROWS) / 4
    hot = (seconds // 30).astype(int) % 7
    key = np.where(rng.random(ROWS) < 0.5, hot, rng.integers(0, 20, ROWS))
    return pa.table(
        {
            "key": key,
            time: timestamps(START_US + 300_000_000 + (seconds * 1e6).astype(np.int64)),
            "topic": TOPICS[key % 3],
            "urgency": rng.integers(0, 10, ROWS).astype(float),
        }
    )


TABLES = (side(1, "left_at"), side(2, "right_at"))


def make_join(policy: Policy | str, rows: int = 16, monitor: float | None = 0) -> hg.WindowJoin:
    return hg.WindowJoin(
        on="key",
        left=hg.Side(time="left_at", window="60 seconds"),
        right=hg.Side(time="right_at", window="60 seconds"),
        budget=hg.Budget(rows=rows, monitor=monitor),
        goal=DAY,
        policy=policy,
        suffix="_2",
    )


@pytest.mark.parametrize(
    "policy", [Ijoin(recompute="successive"), Greedy()], ids=lambda policy: policy.name
)
def test_a_shard_keeps_the_same_rows_as_in_process(policy: Policy) -> None:
    join = make_join(policy)
    shard = OneShard(join, (TABLES[0].schema, TABLES[1].schema), uuid.uuid4().hex)
    cuts = [*range(0, ROWS, 57), ROWS]
    got = [
        shard.batch(*(table.slice(first, end - first) for table in TABLES))
        for first, end in pairwise(cuts)
    ]
    outcome = join.run(*TABLES)
    assert outcome.stats.lost_rows > 500
    assert multiset(pa.concat_tables([batch.pairs for batch in got])) == multiset(outcome.pairs)
    for figure in ("importance", "lifetimes", "shed", "refused", "recomputed"):
        total = sum(batch.metrics[figure] for batch in got)
        assert total == pytest.approx(getattr(outcome.stats, figure))


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """Both sides, a file every 100 rows."""
    for name, table in zip(("left", "right"), TABLES, strict=True):
        write_side(tmp_path / name, [table.slice(at, BATCH) for at in range(0, ROWS, BATCH)])
    return tmp_path


def joined(
    spark: SparkSession,
    folder: Path,
    rows: int,
    redefined: Path | DataFrame | None,
    policy: Policy | str,
) -> DataFrame:
    frames = []
    for name, time in (("left", "left_at"), ("right", "right_at")):
        schema = f"key long, {time} timestamp, topic string, urgency double"
        files = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        frames.append(files.parquet(str(folder / name)).withWatermark(time, "5 seconds"))
    join = make_join(policy, rows, monitor=None)
    return join.stream(*frames, shards=1, redefined=redefined, watermark=False)


def driven(
    policy: Policy | str, rows: int, redefined: dict[int, list[tuple[int | None, str]]]
) -> tuple[Counter, list[dict[str, Any]]]:
    """Results and figures of a shard fed in batches, some with redefinitions."""
    shard = OneShard(
        make_join(policy, rows), (TABLES[0].schema, TABLES[1].schema), uuid.uuid4().hex
    )
    got = [
        shard.batch(
            *(table.slice(at * BATCH, BATCH) for table in TABLES), redefined=redefined.get(at, ())
        )
        for at in range(ROWS // BATCH)
    ]
    pairs = pa.concat_tables([batch.pairs for batch in got])
    return multiset(pairs), [batch.metrics for batch in got]


def moment(at_us: int) -> datetime:
    return datetime.fromtimestamp(at_us / 1e6, UTC)


@pytest.mark.parametrize(
    ("policy", "rows"), [(Ijoin(recompute="successive"), 16), (Greedy(), 16), ("fifo", 10_000)]
)
def test_a_redefinition_holds_from_its_event_time_on(policy: Policy | str, rows: int) -> None:
    """Told two batches ahead; stored rows are judged anew."""
    pairs, figures = driven(policy, rows, {2: [(CHANGED_AT, EVENING.to_json())]})
    outcome = make_join(policy, rows).run(*TABLES, redefined=[(moment(CHANGED_AT), EVENING)])
    assert pairs == multiset(outcome.pairs)
    assert pairs != multiset(make_join(policy, rows).run(*TABLES).pairs)
    assert sum(batch["importance"] for batch in figures) == pytest.approx(outcome.stats.importance)
    assert [batch["redefined"] for batch in figures] == [0, 0, 0, 0, 0, 1]


def test_a_redefinition_without_a_time_holds_from_the_next_batch_on() -> None:
    later = hg.MaxImportance(left=5, right="urgency")
    pairs, figures = driven(
        "fifo", 10_000, {3: [(None, EVENING.to_json()), (None, later.to_json())]}
    )
    outcome = make_join("fifo", 10_000).run(*TABLES, redefined=[(moment(HALF), later)])
    assert pairs == multiset(outcome.pairs)
    assert [batch["redefined"] for batch in figures] == [0, 0, 0, 2, 0, 0]


def test_a_bad_redefinition_is_counted_and_changes_nothing() -> None:
    bad = [
        (None, hg.MaxImportance(left=1, right=2, combine="sum").to_json()),
        (None, hg.MaxImportance(left="no_such_column", right="urgency").to_json()),
        (None, "not a definition"),
    ]
    pairs, figures = driven("fifo", 10_000, {1: bad})
    assert [batch["misdefined"] for batch in figures] == [0, 3, 0, 0, 0, 0]
    assert pairs == multiset(make_join("fifo", 10_000).run(*TABLES).pairs)


POISON = {
    "deep": "[" * 100_000,
    "long": DAY.to_json() + " " * 600_000,
    "sum": hg.MaxImportance(left="urgency", right="urgency")
    .to_json()
    .replace("urgency", "+".join(["urgency"] * 3000)),
    "number": DAY.to_json().replace("8.0", "1" + "0" * 400),
    "escape": hg.MaxImportance(left="length(topic)", right="urgency")
    .to_json()
    .replace("length(topic)", r"topic like 'a\\\\'"),
}


def test_poisoned_redefinitions_are_counted_and_a_shard_goes_on() -> None:
    """All in one batch, before and after one that is taken up."""
    poison = [(None, text) for text in POISON.values()]
    later = hg.MaxImportance(left=5, right="urgency")
    told = {1: poison, 3: [*poison, (None, later.to_json()), *poison], 5: poison[:1]}
    pairs, figures = driven("fifo", 10_000, told)
    assert pairs == multiset(
        make_join("fifo", 10_000).run(*TABLES, redefined=[(moment(HALF), later)]).pairs
    )
    count = len(POISON)
    assert [batch["misdefined"] for batch in figures] == [0, count, 0, 2 * count, 0, 1]


def poisoned(folder: Path) -> int:
    """A folder of published definitions in which others have been; how many lines are no notices.

    Broken files, folders, links and pipes are passed over.
    """
    for name, text in POISON.items():
        file = hg.MaxImportance(left=1, right=1).publish(folder)
        file.with_name(f"{file.name[:20]}-{name}.json").write_text(
            json.dumps({"definition": text, "at": None}) + "\n"
        )
        file.unlink()
    raw = {
        "deep": b"[" * 100_000,
        "bytes": bytes(range(128, 256)),
        "number": b"7",
        "time": b'{"definition": "{}", "at": "soon"}',
        "text": b'{"definition": "\xff\xfe", "at": null}',
    }
    for name, content in raw.items():
        (folder / f"00-{name}.json").write_bytes(content + b"\n")
    (folder / "00-long.json").write_bytes(b'{"definition": "' + b"x" * 3_000_000 + b'"}\n')
    (folder / "00-empty.json").touch()
    (folder / "00-nowhere.json").symlink_to("/nowhere")
    (folder / "00-packed.json.gz").write_bytes(b"not packed")
    (folder / "day=1").mkdir()
    (folder / "day=1" / "day=2.json").mkdir()
    os.mkfifo(folder / "00-pipe.json")
    return len(POISON) + len(raw)


@pytest.mark.parametrize("given", usually((), ("a folder", "a stream")))
def test_a_query_goes_on_whatever_is_in_the_folder_it_is_told_by(
    spark: SparkSession, inputs: Path, given: str
) -> None:
    news = inputs / "news"
    count = poisoned(news)
    soon = moment(START_US + 300_000_000 + 20 * 1_000_000)
    if given == "a folder":
        EVENING.publish(news, soon)
        told = news
    else:
        for file in news.iterdir():
            if file.suffix != ".json" or file.is_dir() or not file.exists() or file.is_fifo():
                file.unlink() if not file.is_dir() else shutil.rmtree(file)
        lines = spark.readStream.text(str(news))
        told = lines.select(lines.value.alias("definition"), lines.value.alias("at"))
    frame = joined(spark, inputs, 100_000, told, "fifo")
    got = into_files(frame, inputs / "checkpoint", inputs / "out")
    changes = [(soon, EVENING)] if given == "a folder" else []
    outcome = make_join("fifo", 100_000).run(*TABLES, redefined=changes)
    assert got.rows == multiset(outcome.pairs)
    assert got.total("misdefined") >= count
    assert got.total("redefined") == len(changes)


def into_files(frame: DataFrame, checkpoint: Path, folder: Path) -> Collected:
    """As `collect`, into a sink that can be taken up again."""

    def write(rows: DataFrame, _: int) -> None:
        rows.write.mode("append").parquet(str(folder))

    query = (
        frame.writeStream.foreachBatch(write)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    metrics = [
        figures_of(progress["observedMetrics"]["headgate"])
        for progress in query.recentProgress
        if "headgate" in progress["observedMetrics"]
    ]
    return Collected(multiset(frame.sparkSession.read.parquet(str(folder))), metrics)


@pytest.mark.long
def test_a_running_query_hears_of_a_folder_and_remembers_over_a_restart(
    spark: SparkSession, inputs: Path
) -> None:
    """One definition is published before the query, for a time to come, another between runs."""
    soon = START_US + 300_000_000 + 20 * 1_000_000
    EVENING.publish(inputs / "news", moment(soon))
    part, runs = inputs / "part", []
    for files in (("0000", "0001", "0002"), ("0003", "0004", "0005")):
        for name in ("left", "right"):
            (part / name).mkdir(parents=True, exist_ok=True)
            for file in files:
                shutil.copy2(inputs / name / f"{file}.parquet", part / name)
        frame = joined(spark, part, 100_000, inputs / "news", "auto")
        runs.append(into_files(frame, inputs / "checkpoint", inputs / f"out_{len(runs)}"))
        DAY.publish(inputs / "news")
    first, second = runs
    outcome = make_join("fifo", 100_000).run(
        *TABLES, redefined=[(moment(soon), EVENING), (moment(HALF), DAY)]
    )
    assert first.rows + second.rows == multiset(outcome.pairs)
    assert (first.total("redefined"), second.total("redefined")) == (1, 1)
    assert second.metrics[0]["redefined"] == 1
    assert first.total("importance") + second.total("importance") == pytest.approx(
        outcome.stats.importance
    )
    assert all(0 < batch["fairness"] <= 1 for batch in first.metrics + second.metrics)


def test_bounded_inputs_give_the_same(spark: SparkSession, inputs: Path) -> None:
    at = moment(CHANGED_AT)
    frames = [spark.read.parquet(str(inputs / name)) for name in ("left", "right")]
    join = make_join(Ijoin(recompute="successive"))
    rows = join.batch(*frames, shards=1, redefined=[(at, EVENING)])
    assert multiset(rows) == multiset(join.run(*TABLES, redefined=[(at, EVENING)]).pairs)


def test_what_cannot_be_redefined_is_refused_at_the_call(spark: SparkSession, inputs: Path) -> None:
    with pytest.raises(hg.SpecError, match="a bounded DataFrame of definition"):
        joined(spark, inputs, 100, spark.createDataFrame([("x",)], "definition string"), "fifo")
    plain = hg.WindowJoin(
        on="key",
        left=hg.Side(time="left_at", window="60 seconds"),
        right=hg.Side(time="right_at", window="60 seconds"),
        budget=hg.Budget(rows=10),
        suffix="_2",
    )
    with pytest.raises(hg.SpecError, match="nothing to redefine"):
        plain.run(*TABLES, redefined=[(None, EVENING)])
    with pytest.raises(hg.SpecError, match="combine was 'min' and is 'sum'"):
        make_join("fifo").run(*TABLES, redefined=[(None, hg.MaxImportance(1, 1, combine="sum"))])
