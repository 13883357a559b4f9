"""``headgate demo``: starts Spark, joins a live stream within a budget, compares the policies."""

import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from headgate.demo.batch_tally import METRICS, BatchTally
from headgate.demo.comparison import (
    PERCENTS,
    ExactJoin,
    Result,
    compare,
    contenders,
    run_exact,
    run_with,
    shop_join,
)
from headgate.demo.comparison_table import comparison_table, save_terminal
from headgate.demo.demo_picture import save_picture
from headgate.demo.demo_view import DemoView
from headgate.demo.made_stream import MINUTE_US
from headgate.demo.shop import WINDOW_US, ShopStream, shop_stream
from headgate.policies import Policy, make_policy
from headgate.spark.session import check_ready, start_session
from headgate.spark.spark_versions import check_python_sources
from headgate.spec import Budget

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = 600_000
QUICK_ROWS = 120_000
PARTITIONS = {"clicks": 2, "orders": 1}
YARDSTICKS = ("fifo", "random")
"""Policies that know nothing of the streams, run beside for comparison."""
LATENESS = "1 second"
SHORT_SESSION = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}
"""Settings for a session of a minute, too short for the optimising compiler to pay off."""


@dataclass(frozen=True)
class DemoSettings:
    """The demo's settings."""

    rows: int = ROWS
    percent: float = 20.0
    policy: str = "auto"
    out: Path = Path("out/demo")
    seed: int = 0
    batches: int = 20

    @property
    def batch(self) -> int:
        """Rows per micro-batch, both sides together."""
        return -(-self.rows // self.batches)

    @property
    def log(self) -> Path:
        """The file that Spark's output goes to."""
        return self.out / "spark.log"


def run(settings: DemoSettings, console: Console) -> None:
    """Run the whole demo."""
    check_ready()
    check_python_sources("headgate demo")
    started = time.monotonic()
    stream = shop_stream(settings.rows, settings.seed)
    policy = make_policy(settings.policy)
    console.print(introduction := _introduction(stream), highlight=False)
    with ThreadPoolExecutor(1) as other, console.status("starting Spark…") as status:
        exact_run = other.submit(run_exact, stream)
        spark = start_session("headgate demo", settings.log, settings=SHORT_SESSION)
        status.update("joining without a budget, to compare with…")
        exact = exact_run.result()
    budget = exact.budget(settings.percent)
    tally = BatchTally(stream, budget.rows or 0, exact.peak_rows)
    view = DemoView(
        tally, f"{settings.percent:g} % memory · policy {policy.label}", str(settings.log)
    )
    try:
        with Live(view, console=console, refresh_per_second=5):
            join_stream(spark, settings, policy, tally)
    finally:
        spark.stop()
    beside = {label: run_with(stream, budget, label).recall for label in YARDSTICKS}
    results = _compare(stream, exact, console)
    console.print(table := comparison_table(exact, results))
    pictures = save_picture(stream, results, settings.out)
    save_terminal(settings.out / "terminal.svg", introduction, view, table)
    seconds = time.monotonic() - started
    console.print(_conclusion(policy, tally, beside), highlight=False)
    console.print(_next_steps(pictures, seconds), highlight=False)


def join_stream(
    spark: "SparkSession", settings: DemoSettings, policy: Policy, tally: BatchTally
) -> None:
    """Join the stream on Spark to its end, keeping the tally up to date."""
    joined = shop_join(Budget(rows=tally.budget_rows), policy).stream(
        _read(spark, settings, "clicks", "clicked_at"),
        _read(spark, settings, "orders", "ordered_at"),
        name=METRICS,
        watermark=False,
    )
    with _query(joined) as query:
        running = True
        while running:
            running = not query.awaitTermination(0.3)
            tally.read(query.recentProgress)


def _read(spark: "SparkSession", settings: DemoSettings, side: str, time: str) -> "DataFrame":
    from headgate.demo.made_source import ShopSource

    spark.dataSource.register(ShopSource)
    options: dict[str, str | int] = {
        "side": side,
        "rows": settings.rows,
        "seed": settings.seed,
        "batch": settings.batch,
        "partitions": PARTITIONS[side],
    }
    rows = spark.readStream.format(ShopSource.name()).options(**options).load()
    return rows.withWatermark(time, LATENESS)


@contextmanager
def _query(joined: "DataFrame") -> Iterator[Any]:
    """Run the join with its output discarded; leaving the context stops the query."""
    with tempfile.TemporaryDirectory(prefix="headgate-demo-") as checkpoint:
        query = (
            joined.writeStream.format("noop")
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        try:
            yield query
        finally:
            query.stop()


def _introduction(stream: ShopStream) -> str:
    return (
        f"[bold]Headgate[/]: {stream.clicks.num_rows:,} clicks on products of a shop, joined with "
        f"{stream.orders.num_rows:,} orders of the same product within "
        f"{WINDOW_US // MINUTE_US} minutes. A few products are popular, so a few clicks make most "
        f"of the results.\n"
    )


def _compare(stream: ShopStream, exact: ExactJoin, console: Console) -> list[Result]:
    results = []
    doing = "every policy on the same data, in process: {}"
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        runs = len(contenders()) * len(PERCENTS)
        task = progress.add_task(doing.format("…"), total=runs)
        for result in compare(stream, exact):
            results.append(result)
            progress.update(task, advance=1, description=doing.format(result.label))
    return results


def _estimated(tally: BatchTally) -> str:
    if tally.estimate is None:
        return ""
    found = tally.estimate
    value, low, high = (_percent(share) for share in (found.value, found.low, found.high))
    return f" (its own estimate: {value}, from {low} to {high})"


def _conclusion(policy: Policy, tally: BatchTally, beside: dict[str, float]) -> str:
    others = " and ".join(
        f"{_percent(recall)} under {name.upper()}" for name, recall in beside.items()
    )
    used = _percent(tally.most_stored / tally.exact_rows)
    return (
        f"\nOn Spark, {policy.label} stored at most {tally.most_stored:,} rows "
        f"({used} of the {tally.exact_rows:,} that the exact join stores) and found "
        f"[bold green]{_percent(tally.recall)}[/] of its results"
        f"{_estimated(tally)}, at {tally.mean_rate:,.0f} rows/s. The same memory makes {others}."
    )


def _next_steps(pictures: tuple[Path, Path], seconds: float) -> str:
    return (
        f"The picture: {pictures[0]} and {pictures[1]}. All in {seconds:.0f} seconds.\n"
        f"Next, for example: [bold cyan]{sys.argv[0]} demo --policy lru --memory 10[/]"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
