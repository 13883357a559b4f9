"""Redefine importance while a query runs: a news desk from politics to sports.

Two feeds of articles are joined on their keyword within an hour, with room for one in forty of the
articles that the exact join would store. `hg.MaxImportance` weights them by category. In the
afternoon the desk publishes another table, and the running query uses it from the next batch on.

Run it:  python examples/changing_importance.py
"""

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

import headgate as hg
from headgate.spark.session import start_session

OPENS = datetime(2026, 1, 5, 8, tzinfo=UTC)
CATEGORIES = ("politics", "sports", "business", "culture", "weather")
HOURS, CHANGED_AFTER = 12, 6
BAR = 20
"""Characters of a full bar."""


def desk(politics: float, sports: float) -> hg.MaxImportance:
    """What matters at the desk: a pair of articles is worth what the lesser of the two is."""
    table = {"politics": politics, "sports": sports, "business": 2, "culture": 2}
    by_category = hg.Categories("category", table, default=1)
    return hg.MaxImportance(left=by_category, right=by_category)


MORNING, EVENING = desk(politics=10, sports=1), desk(politics=1, sports=10)


def feed(spark: SparkSession, name: str, articles: int) -> DataFrame:
    """A stream of so many articles an hour, an hour a micro-batch.

    In every category half of the articles are about what is hot, the same in all feeds: one of a
    hundred keywords, others every quarter of an hour.
    """
    hot_keywords = max(articles // 2_000, 1)
    keywords = 100 * hot_keywords
    number = F.col("value")
    quarter = F.floor(number * 4 / articles)
    category = F.element_at(
        F.array(*map(F.lit, CATEGORIES)), 1 + _dice(len(CATEGORIES), F.lit(name), number)
    )
    hot = _dice(keywords, category, quarter, _dice(hot_keywords, F.lit(f"{name}'s hot"), number))
    other = _dice(keywords, F.lit(f"{name}'s others"), number)
    is_hot = _dice(2, F.lit(f"{name}'s coin"), number) == 0
    gap_us = 3_600_000_000 // articles
    return (
        spark.readStream.format("rate-micro-batch")
        .options(rowsPerBatch=articles, numPartitions=1)
        .load()
        .select(
            F.format_string("%s-%02d", category, F.when(is_hot, hot).otherwise(other)).alias(
                "keyword"
            ),
            category.alias("category"),
            F.timestamp_micros(F.lit(_micros(OPENS)) + number * gap_us).alias("published_at"),
            number.alias("headline"),
        )
        .withWatermark("published_at", "1 minute")
    )


def _dice(sides: int, *seed: Any) -> Any:
    """A number below ``sides``, always the same for the same seed."""
    return F.pmod(F.xxhash64(*seed), F.lit(sides)).cast("int")


def _micros(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000_000)


@dataclass(frozen=True)
class Hour:
    """What a micro-batch brought."""

    batch: int
    run: str
    """Of the query: a restart would have another."""
    figures: dict[str, Any]
    """The join's metrics."""
    results: Counter[str]
    """Result rows by category."""


def hours(
    spark: SparkSession, articles: int, memory: int, last: int, changed_after: int
) -> Iterator[Hour]:
    """Run the query over so many hours; the desk changes its mind after one of them."""
    join = hg.WindowJoin(
        on="keyword",
        left=hg.Side(time="published_at", window="1 hour"),
        right=hg.Side(time="published_at", window="1 hour"),
        budget=hg.Budget(rows=memory, monitor=0.25),  # IJOIN learns nothing: it takes a fifth of it
        goal=MORNING,
        policy="ijoin",  # what is hot changes within the window
    )
    results: dict[int, Counter[str]] = {}

    def count(rows: DataFrame, batch: int) -> None:
        found = rows.groupBy("category").count().collect()
        results[batch] = Counter({row["category"]: row["count"] for row in found})

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        pairs = join.stream(
            feed(spark, "agency", articles),
            feed(spark, "blogs", articles),
            shards=1,
            redefined=place / "desk",
        )
        query = (
            pairs.writeStream.foreachBatch(count)
            .option("checkpointLocation", str(place / "checkpoint"))
            .start()
        )
        try:
            for progress in _progress(query, last):
                batch = progress["batchId"]
                figures = hg.progress(progress).figures
                yield Hour(batch, progress["runId"], figures, results[batch])
                if batch + 1 == changed_after:
                    EVENING.publish(place / "desk")
        finally:
            query.stop()


def _progress(query: StreamingQuery, last: int) -> Iterator[Any]:
    """What the query says of its batches, as they are made."""
    told = 0
    while told < last:
        if not query.isActive:
            raise RuntimeError("the query has ended") from query.exception()
        for progress in query.recentProgress:
            if told == progress["batchId"] and told < last:
                told += 1
                yield progress
        time.sleep(0.05)


def share(results: Counter[str], category: str) -> float:
    """Of the result rows."""
    return results[category] / max(results.total(), 1)


def before_and_after(seen: Sequence[Hour]) -> tuple[Counter[str], Counter[str]]:
    """Result rows by category: before the change was taken up, and from then on."""
    at = next(place for place, hour in enumerate(seen) if hour.figures["redefined"])
    before, after = Counter[str](), Counter[str]()
    for hour in seen[:at]:
        before += hour.results
    for hour in seen[at:]:
        after += hour.results
    return before, after


def clock(batch: int) -> str:
    """When the hour of a micro-batch ends."""
    return f"{OPENS + timedelta(hours=batch + 1):%H:%M}"


def line(hour: Hour) -> str:
    """A micro-batch in a line."""
    told = hour.figures
    low, high = told["total_recall_low"], told["total_recall_high"]
    recall = f"{told['total_recall']:.0%} ({low:.0%} to {high:.0%})"
    bars = "  ".join(
        f"{share(hour.results, name):4.0%} {'█' * round(BAR * share(hour.results, name)):{BAR}}"
        for name in ("politics", "sports")
    )
    return (
        f"{clock(hour.batch)}  {told['importance']:>10,.0f}  {recall:18}  {told['fairness']:8.2f}  "
        f"{told['redefined']:9}  {bars}".rstrip()
    )


def main() -> None:
    """Print a line a micro-batch, and what changed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--articles", type=int, default=20_000, help="an hour and feed")
    articles = parser.parse_args().articles
    memory = articles // 20
    print(
        f"Two feeds of {articles:,} articles an hour, joined on keyword within an hour: about "
        f"{2 * articles:,} to hold, room for {memory:,}.\n"
        f"A fifth of the articles is politics, a fifth sports. "
        f"The desk says: politics 10, sports 1.\n\n"
        f"until  importance  share of it so far  fairness  redefined   share of the results:\n"
        f"            made    (95 % interval)                         politics{'':18}sports"
    )
    log = Path(tempfile.gettempdir()) / "headgate-example-spark.log"
    spark = start_session("changing importance", log)
    seen = []
    try:
        for hour in hours(spark, articles, memory, HOURS, CHANGED_AFTER):
            print(line(hour), flush=True)
            seen.append(hour)
            if len(seen) == CHANGED_AFTER:
                print("-- the desk publishes: politics 1, sports 10; a batch under way goes on --")
    finally:
        spark.stop()
    before, after = before_and_after(seen)
    print(f"\nshare of the results{''.join(f'{name:>10}' for name in CATEGORIES)}")
    for when, counts in (("before", before), ("after", after)):
        print(f"{when:20}" + "".join(f"{share(counts, name):10.0%}" for name in CATEGORIES))
    (run,) = {hour.run for hour in seen}
    taken = next(hour.batch for hour in seen if hour.figures["redefined"])
    print(
        f"\nOne query, never restarted (run {run[:8]}, micro-batches 0 to {seen[-1].batch}); "
        f"micro-batch {taken}, the hour to {clock(taken)}, took the new table up."
    )


if __name__ == "__main__":
    main()
