"""Benchmark of promises: what a what-if says of memory and recall, and what a stream then makes.

Generated streams always run; real ones where their files are given.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from rich.table import Table

from headgate.api.whatif import whatif
from headgate.api.window_join import WindowJoin
from headgate.spark.requirements import CHANGELOG, PROVIDER, ROCKSDB
from headgate.spark.spark_versions import figures_of
from headgate.spec import Budget, Side, SpecError
from headgate.spec.quantity import SECOND_US, format_bytes

PROMISED = 0.8
NEAR = 0.02
"""How far the recall of a stream may be from what was promised."""
MANY = 8
ROWS, KEYS, SEED = 40_000, 5_000, 101
DAY_S = 86_400
FLIGHTS = 40_000
"""Departures that are joined, those of some six weeks."""
FIRST_FILE_S = 1_700_000_000
START_US = 1_767_225_600_000_000


@dataclass(frozen=True)
class Asked:
    """A stream, its windows in seconds, and the policy that suits it."""

    name: str
    left: pa.Table
    right: pa.Table
    window_s: int
    policy: str

    @property
    def join(self) -> WindowJoin:
        """The join, within ample memory."""
        window = f"{self.window_s} seconds"
        return WindowJoin(
            on="key",
            left=Side(time="l_time", window=window),
            right=Side(time="r_time", window=window),
            budget=Budget(rows=10_000_000),
        )


@dataclass(frozen=True)
class Kept:
    """A promise, and what became of it on Spark."""

    stream: str
    policy: str
    promised_bytes: int
    batches: int
    recall: float
    most_bytes: int
    """Held by rows and monitor at most."""

    @property
    def is_kept(self) -> bool:
        """Whether recall is as promised, and memory within what was promised."""
        return abs(self.recall - PROMISED) <= NEAR and self.most_bytes <= self.promised_bytes


def measure_promised(
    session: SparkSession, folder: Path, data: tuple[Path, ...], seed: int = SEED
) -> Iterator[Kept]:
    """Ask for memory, run the join on Spark within it, in one batch and in many.

    ``seed`` is that of the generated streams.
    """
    session.conf.set(PROVIDER, ROCKSDB)
    session.conf.set(CHANGELOG, "true")
    session.conf.set("spark.sql.shuffle.partitions", "1")
    for stream in (*generated(seed), *(read(path) for path in data)):
        policies = (stream.policy, "auto")
        found = whatif(
            stream.left, stream.right, join=stream.join, policies=policies, optimum=False
        )
        for policy in policies:
            needed = found.memory_for(PROMISED, policy)
            if needed is None:
                raise SpecError(f"{stream.name}: {policy} was not tried with enough memory")
            join = found.join(PROMISED, policy).within(Budget(memory=needed.bytes))
            for batches in (1, MANY):
                place = folder / f"{stream.name.replace(' ', '-')}-{policy}-{batches}"
                made, held = _streamed(session, join, stream, batches, place)
                recall = made / found.pairs
                yield Kept(
                    stream.name,
                    policy,
                    promised_bytes=needed.bytes,
                    batches=batches,
                    recall=recall,
                    most_bytes=held,
                )


def _streamed(
    session: SparkSession, join: WindowJoin, stream: Asked, batches: int, place: Path
) -> tuple[int, int]:
    """Pairs made, and bytes held at most, by a query that reads so many files of each side."""
    sides = []
    for name, files in zip("lr", _cut(stream, batches), strict=True):
        own = place / name
        own.mkdir(parents=True)
        for number, table in enumerate(files):
            file = own / f"{number:03}.parquet"
            pq.write_table(table, file)
            os.utime(file, (FIRST_FILE_S + number,) * 2)  # Spark takes files in this order
        sides.append(
            session.readStream.schema(session.read.parquet(str(own)).schema)
            .option("maxFilesPerTrigger", 1)
            .parquet(str(own))
            .withWatermark(f"{name}_time", "0 seconds")
        )
    frame = join.stream(*sides, shards=1, watermark=False)
    query = (
        frame.writeStream.format("noop")
        .option("checkpointLocation", str(place / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    observed = [progress["observedMetrics"] for progress in query.recentProgress]
    figures = [figures_of(each["headgate"]) for each in observed if "headgate" in each]
    held = max(each["held_bytes"] + each["monitor_bytes"] for each in figures)
    return sum(each["pairs"] for each in figures), int(held)


def _cut(stream: Asked, batches: int) -> tuple[list[pa.Table], list[pa.Table]]:
    """Each side in parts of equal time."""
    times = [
        table.column(f"{name}_time").cast(pa.int64()).to_numpy()
        for table, name in ((stream.left, "l"), (stream.right, "r"))
    ]
    first, last = min(time[0] for time in times), max(time[-1] for time in times)
    ends = first + (last - first) * np.arange(1, batches) // batches
    left, right = (
        [table.slice(at, end - at) for at, end in pairwise([0, *cuts, table.num_rows])]
        for table, cuts in zip(
            (stream.left, stream.right),
            (np.searchsorted(time, ends) for time in times),
            strict=True,
        )
    )
    return left, right


def generated(seed: int = SEED) -> Iterator[Asked]:
    """Zipf keys; Zipf keys of which others become frequent; matches at the end of the window."""
    yield Asked("Zipf 0.8", *_keyed(0.8, parts=1, seed=seed), window_s=600, policy="prob")
    yield Asked("hot keys change", *_keyed(1.0, parts=4, seed=seed + 1), window_s=600, policy="lru")
    rng = np.random.default_rng(seed + 2)
    opened = np.sort(rng.integers(0, 7200 * SECOND_US, ROWS // 4))
    key = np.repeat(np.arange(len(opened)), 4)
    age = (0.5 + 0.5 * rng.random(len(key)) ** 0.5) * 600 * SECOND_US
    right = _side("r", opened[key] + age.astype(np.int64), key)
    yield Asked("matches come late", _side("l", opened, np.arange(ROWS // 4)), right, 600, "age")


def _keyed(zipf: float, parts: int, seed: int) -> tuple[pa.Table, pa.Table]:
    rng = np.random.default_rng(seed)
    chance = 1 / np.arange(1, KEYS + 1) ** zipf
    ranks = [rng.permutation(KEYS) for _ in range(parts)]
    sides = []
    for name in "lr":
        time = np.sort(rng.integers(0, 7200 * SECOND_US, ROWS))
        part = time * parts // (7200 * SECOND_US)
        drawn = rng.choice(KEYS, ROWS, p=chance / chance.sum())
        key = np.choose(part, [rank[drawn] for rank in ranks])
        sides.append(_side(name, time, key))
    return sides[0], sides[1]


def _side(name: str, time: np.ndarray, key: np.ndarray | pa.Array) -> pa.Table:
    at = pa.array(START_US + time, pa.timestamp("us", "UTC"))
    table = pa.table({"key": key, f"{name}_time": at, f"{name}_id": np.arange(len(at))})
    return table.sort_by(f"{name}_time")


def read(path: Path) -> Asked:
    """A real stream from a CSV file, known by its columns."""
    table = pa_csv.read_csv(path)
    for needs, make in READERS.items():
        if {*needs} <= {*table.column_names}:
            return make(table)
    known = "; ".join(", ".join(columns) for columns in READERS)
    raise SpecError(
        f"--data {path} has the columns {', '.join(table.column_names)}: give a file that has "
        f"{known}"
    )


def _temperatures(table: pa.Table) -> Asked:
    """Each day of a series beside those of the two years after it that were as warm."""
    day = pc.cast(table.column("Date"), pa.timestamp("us")).cast(pa.int64()).to_numpy()
    key = table.column("Temperature").combine_chunks()
    left, right = (_side(name, day - START_US, key) for name in "lr")
    return Asked("daily temperatures", left, right, window_s=730 * DAY_S, policy="prob")


def _flights(table: pa.Table) -> Asked:
    """Departures from one airport beside those from others to the same place, six hours apart."""
    table = table.filter(pc.is_valid(table.column("dep_time")))
    hour = pc.cast(table.column("time_hour"), pa.timestamp("s", "UTC")).cast(pa.int64())
    time = (hour.to_numpy() + 60 * table.column("minute").to_numpy()) * SECOND_US - START_US
    first = np.argsort(time, kind="stable")[:FLIGHTS]
    table, time = table.take(first), time[first]
    place, from_one = table.column("dest").combine_chunks(), pc.equal(table.column("origin"), "JFK")
    one = from_one.to_numpy()
    left = _side("l", time[one], place.filter(pa.array(one)))
    right = _side("r", time[~one], place.filter(pa.array(~one)))
    return Asked("departures", left, right, window_s=6 * 3600, policy="prob")


READERS: dict[tuple[str, ...], Callable[[pa.Table], Asked]] = {
    ("Date", "Temperature"): _temperatures,
    ("origin", "dest", "time_hour", "minute", "dep_time"): _flights,
}


def promised_table(kept: list[Kept]) -> Table:
    """One line for each stream, policy and number of batches."""
    table = Table(title=f"Promised {PROMISED:.0%} of the results: what a stream made on Spark")
    heads = ("stream", "policy", "promised memory", "batches", "recall", "held at most", "kept")
    for place, heading in enumerate(heads):
        table.add_column(heading, justify="left" if place < 2 else "right")
    for line in kept:
        cells = [line.stream, line.policy.upper(), format_bytes(line.promised_bytes)]
        cells += [str(line.batches), f"{line.recall:.3f}", format_bytes(line.most_bytes)]
        table.add_row(*cells, "yes" if line.is_kept else "no")
    return table
