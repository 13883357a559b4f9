"""Share one budget between two joins: memory moves to the harder one.

Clicks are matched to ads, and deliveries to orders, each within twenty minutes, in one process and
within one budget of half the rows that the exact joins would store. At first, matches of both come
soon. Then deliveries become late, so orders must be kept longer, and the even split starves one of
the joins. `hg.JoinGroup` notices and moves memory while both queries run.

Run it:  python examples/shared_budget.py
"""

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from queue import Queue
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.listener import StreamingQueryListener

import headgate as hg
from headgate.spark.session import start_session

OPENS = datetime(2026, 1, 5, 8, tzinfo=UTC)
WINDOW_S, BATCH_S = 1200, 600
MATCHES = 4
"""Of every row, in its window."""
BATCHES, DRIFTS_AT = 26, 7
BAR = 24
"""Characters of a full bar."""


def sides(spark: SparkSession, name: str, rows: int, drifts: bool) -> tuple[DataFrame, DataFrame]:
    """What waits, and what it waits for: so many rows and four times as many a micro-batch."""
    stored_every, matched_every = (BATCH_S * 1_000_000 // count for count in (rows, MATCHES * rows))
    stored = _numbers(spark, rows).select(
        F.col("value").alias("id"), _moment(stored_every).alias("stored_at")
    )
    number = F.col("value")
    draw = F.pmod(F.xxhash64(F.lit(name), number), F.lit(1 << 20)) / (1 << 20)
    late = F.pow(draw, F.lit(0.25))
    comes_late = (number >= DRIFTS_AT * MATCHES * rows) & F.lit(drifts)
    age_us = F.when(comes_late, late).otherwise(1 - late) * WINDOW_S * 1_000_000
    of_row = F.floor((number * matched_every - age_us) / stored_every)
    matched = _numbers(spark, MATCHES * rows).select(
        F.greatest(of_row, F.lit(0)).alias("id"), _moment(matched_every).alias("matched_at")
    )
    return (
        stored.withWatermark("stored_at", "1 second"),
        matched.withWatermark("matched_at", "1 second"),
    )


def _numbers(spark: SparkSession, rows: int) -> DataFrame:
    """So many numbers a micro-batch."""
    stream = spark.readStream.format("rate-micro-batch")
    return stream.options(rowsPerBatch=rows, numPartitions=1).load()


def _moment(every_us: int) -> Column:
    opens = round(OPENS.timestamp() * 1_000_000)
    return F.timestamp_micros(F.lit(opens) + F.col("value") * every_us)


def make_join() -> hg.WindowJoin:
    """Both are alike; the group gives each its budget."""
    return hg.WindowJoin(
        on="id",
        left=hg.Side(time="stored_at", window=f"{WINDOW_S} seconds"),
        right=hg.Side(time="matched_at", window="0 seconds"),
        budget=hg.Budget(rows=1, monitor=0.1),
        policy="age",
    )


@dataclass(frozen=True)
class Heard:
    """What a query said of a micro-batch."""

    join: str
    batch: int
    run: str
    figures: dict[str, Any]

    @property
    def recall(self) -> float:
        """Of this micro-batch."""
        return self.figures["recall"] if self.figures["recall"] is not None else 1.0


class _Ear(StreamingQueryListener):
    """Puts what queries say where it can be waited for."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.heard: Queue[Heard] = Queue()
        self._names = names

    def onQueryStarted(self, event: Any) -> None:
        pass

    def onQueryProgress(self, event: Any) -> None:
        progress = event.progress
        for name in self._names:
            if name in progress.observedMetrics:
                figures = hg.progress(progress, name).figures
                if figures["limit"]:
                    self.heard.put(Heard(name, progress.batchId, str(progress.runId), figures))

    def onQueryIdle(self, event: Any) -> None:
        pass

    def onQueryTerminated(self, event: Any) -> None:
        pass


def rounds(spark: SparkSession, rows: int, memory: int, last: int) -> Iterator[tuple[Heard, Heard]]:
    """The n-th micro-batch of both queries, as they are made."""
    names = ("ads", "orders")
    group = hg.JoinGroup(budget=hg.Budget(rows=memory), joins={name: make_join() for name in names})
    streams = {name: sides(spark, name, rows, drifts=name == "orders") for name in names}
    ear = _Ear(names)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        shared = group.stream(streams, folder=place / "limits", shards=1)
        spark.streams.addListener(ear)
        queries = [
            shared[name]
            .writeStream.format("noop")
            .option("checkpointLocation", str(place / name))
            .start()
            for name in names
        ]
        try:
            waiting: dict[str, list[Heard]] = {name: [] for name in names}
            for _ in range(last):
                while not all(waiting.values()):
                    heard = ear.heard.get(timeout=120)
                    waiting[heard.join].append(heard)
                yield waiting[names[0]].pop(0), waiting[names[1]].pop(0)
        finally:
            for query in queries:
                query.stop()
            shared.stop()
            spark.streams.removeListener(ear)


def line(number: int, ads: Heard, orders: Heard, memory: int) -> str:
    """A round in a line."""
    parts = [f"{heard.figures['limit']:>7,}" for heard in (ads, orders)]
    mine = round(BAR * ads.figures["limit"] / memory)
    bar = "█" * mine + "░" * (BAR - mine)
    stored = sum(heard.figures["stored_rows"] for heard in (ads, orders))
    recalls = [f"{heard.recall:6.0%}" for heard in (ads, orders)]
    return (
        f"{number:5}  {parts[0]}  {bar}  {parts[1]}  {stored:>8,}  {recalls[0]}  {recalls[1]}  "
        f"{min(ads.recall, orders.recall):6.0%}"
    )


def main() -> None:
    """Print a line a round, and what it was like before and after."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5_000, help="shown or ordered, a micro-batch")
    rows = parser.parse_args().rows
    memory = 2 * rows
    print(
        f"Ads and orders, {rows:,} of each in ten minutes, wait twenty minutes for {MATCHES} "
        f"matches each:\n{4 * rows:,} rows to hold, room for {memory:,}.\n\n"
        f"batch     ads  memory{'':18}   orders    stored     ads  orders  lowest recall"
    )
    log = Path(tempfile.gettempdir()) / "headgate-example-spark.log"
    spark = start_session("shared budget", log)
    seen = []
    try:
        for number, (ads, orders) in enumerate(rounds(spark, rows, memory, BATCHES)):
            if number == DRIFTS_AT:
                print("-- from here on, deliveries come late --")
            print(line(number, ads, orders, memory), flush=True)
            seen.append((ads, orders))
    finally:
        spark.stop()
    for name, place in (("ads", 0), ("orders", 1)):
        (run,) = {pair[place].run for pair in seen}
        first, last = (pair[place].figures["limit"] for pair in (seen[0], seen[-1]))
        print(f"{name}: {first:,} rows at first, {last:,} at last; run {run[:8]}, never restarted")
    settled = min(sum(pair[place].recall for pair in seen[-4:]) / 4 for place in (0, 1))
    print(
        f"Lowest recall of late {settled:.0%}. With half of the memory for good, orders could not "
        f"have passed 50 %:\ntheir matches come at the end, and half of them would not have been "
        f"kept so long."
    )


if __name__ == "__main__":
    main()
