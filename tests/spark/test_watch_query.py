"""A real query watched in a real browser: the page fills, and shows which shard is hot."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import time as clock
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import headgate as hg
from headgate.watching.history import History
from headgate.watching.page_guard import PageGuard
from headgate.watching.page_server import PageServer
from tests.browser.reader import Reader, reader
from tests.spark.streams import START_US, read_side, timestamps, write_side
from tests.test_watch_history import recorded
from tests.watched_reports import ABOUT, join_report, lookup_report

pytestmark = pytest.mark.spark

ROWS, FILES, SHARDS = 4000, 3, 2
HOSTILE = '<img src=x onerror="document.title=1">'
SCHEMAS = (("left", "lt"), ("right", "rt"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Reader]:
    with reader() as opened:
        yield opened


def skewed_side(seed: int, time: str, file: int) -> pa.Table:
    """Half of all rows have one key, so one of two shards has far more to do."""
    chance = np.random.default_rng([seed, file])
    key = np.where(chance.random(ROWS) < 0.6, 7, chance.integers(100, 2000, ROWS))
    at = START_US + (file * ROWS + np.arange(ROWS)) * 20_000
    return pa.table({"key": key, time: timestamps(at), HOSTILE[:4] + time: key})


def start(spark: SparkSession, folder: Path, name: str) -> Any:
    join = hg.WindowJoin(
        on="key",
        left=hg.Side(time="lt", window="20 seconds"),
        right=hg.Side(time="rt", window="20 seconds"),
        budget=hg.Budget(rows=1500),
    )
    sides = []
    for side, time in SCHEMAS:
        schema = f"key long, {time} timestamp, `{HOSTILE[:4]}{time}` long"
        sides.append(read_side(spark, folder / side, schema, time))
    frame = join.stream(sides[0], sides[1], shards=SHARDS, name="hot & cold", watermark=False)
    return (
        frame.writeStream.format("noop")
        .queryName(name)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .start()
    )


def write_files(folder: Path, first: int, files: int) -> None:
    for seed, (side, time) in enumerate(SCHEMAS):
        tables = [skewed_side(seed, time, first + file) for file in range(files)]
        write_side(folder / side, tables, first)


def batches_on(page: Reader) -> int:
    told = page.run(
        "return [...document.querySelectorAll('#tiles div')]"
        ".find((tile) => tile.firstChild.textContent === 'Batch')?.lastChild.textContent"
    )
    return int(told) + 1 if told and told.strip().isdigit() else 0


def choose(page: Reader, name: str) -> None:
    """Show the join or lookup with this name in its title."""
    page.until(f"{name} to choose", lambda: name in page.text("#join"))
    page.run(
        "const choice = document.querySelector('#join');"
        "const mine = (option) => option.text.includes(arguments[0]);"
        "choice.value = [...choice.options].find(mine).value;"
        "choice.dispatchEvent(new Event('change'))",
        name,
    )


def has_all(page: Reader, panels: set[str]) -> bool:
    """Whether the page has these panels."""
    found = page.run("return [...document.querySelectorAll('.panel')].map((p) => p.id)")
    return {f"panel-{each}" for each in panels} <= set(found)


def is_drawn(page: Reader) -> bool:
    """Whether every canvas of the page has something on it."""
    return bool(
        page.run(
            "const blank = (c) => { const b = document.createElement('canvas');"
            "b.width = c.width; b.height = c.height; return b.toDataURL(); };"
            "return [...document.querySelectorAll('canvas')].filter((c) => c.offsetParent)"
            ".every((c) => c.toDataURL() !== blank(c))"
        )
    )


def test_a_running_query_fills_the_page(
    spark: SparkSession, tmp_path: Path, browser: Reader
) -> None:
    write_files(tmp_path, 0, FILES)
    with hg.watch(spark, folder=tmp_path / "watch", port=0) as watch:
        browser.size(1280, 720)
        browser.open(watch.link)
        assert browser.text("h1") == "Waiting for the first batch."
        query = start(spark, tmp_path, HOSTILE)
        query.processAllAvailable()
        browser.until("batches arrive", lambda: batches_on(browser) == FILES)
        query.stop()
        assert browser.text("h1").startswith("Recall 0."), browser.text("h1")
        assert "of 1,500 rows" in browser.text("h1")
        browser.until("the end is told", lambda: browser.text(".word") == "ended")
        assert HOSTILE in browser.text("#fold"), "a name is shown, and nothing more"
        assert not browser.run("return document.querySelectorAll('img[src=x]').length")
        assert 'name="hot & cold"' not in browser.text("#call")
        assert 'on="key"' in browser.text("#call")
        check_hot_shard(browser)
        for scheme, width in (("light", 1280), ("dark", 1280), ("dark", 390)):
            browser.scheme(scheme)
            browser.size(width, 720)
            check_page(browser, scheme, width)
        assert not browser.complaints()


def check_hot_shard(browser: Reader) -> None:
    """The shard of the frequent key has far more rows, and is read with the keyboard, too."""
    browser.run(
        "const choice = document.querySelector('#panel-shards select'); choice.value = 'rows';"
        "choice.dispatchEvent(new Event('change'))"
    )
    hot = browser.text("#panel-shards .read")
    assert hot.startswith("Shard"), hot
    assert "stands out: most" in hot
    number = hot.split()[1]
    browser.press("#panel-shards canvas", *["\ue015"] * int(number), "\ue012")
    assert f"shard {number}: rows a batch" in browser.text("#panel-shards .read")


def check_page(browser: Reader, scheme: str, width: int) -> None:
    back = "rgb(15, 20, 26)" if scheme == "dark" else "rgb(245, 246, 248)"
    found = "return getComputedStyle(document.body).backgroundColor"
    browser.until(f"{scheme} at {width}", lambda: browser.run(found) == back)
    browser.until("panels are drawn", lambda: is_drawn(browser))
    assert browser.run("return document.documentElement.scrollWidth") <= width
    panels = browser.run("return document.querySelectorAll('.panel').length")
    assert panels >= 9
    assert not browser.barriers()


@pytest.mark.long
def test_a_page_survives_restarts_of_the_query_and_of_itself(
    spark: SparkSession, tmp_path: Path, browser: Reader
) -> None:
    write_files(tmp_path, 0, FILES)
    folder = tmp_path / "watch"
    with hg.watch(spark, folder=folder, port=0) as watch:
        port = int(watch.address.rpartition(":")[2])
        browser.open(watch.link)
        query = start(spark, tmp_path, "restarted")
        query.processAllAvailable()
        query.stop()
        browser.until("the query has ended", lambda: browser.text(".word") == "ended")
        before = batches_on(browser)
        write_files(tmp_path, FILES, FILES)
        query = start(spark, tmp_path, "restarted")
        query.processAllAvailable()
        browser.until("the query goes on", lambda: batches_on(browser) == before + FILES)
        assert "the query goes on" in browser.text("#panel-events")
        query.stop()
    with hg.watch(spark, folder=folder, port=port):
        write_files(tmp_path, 2 * FILES, 1)
        query = start(spark, tmp_path, "restarted")
        query.processAllAvailable()
        browser.until("the page is back", lambda: batches_on(browser) == before + FILES + 1)
        query.stop()
    shown = browser.run("return document.querySelectorAll('#panel-events li').length")
    assert shown >= 5, "three starts, two ends"


def test_every_kind_of_panel_shows(tmp_path: Path, browser: Reader) -> None:
    """Of a made-up history: joins that share a budget, a lookup, a sample, a CPU budget."""
    now = clock() - 60
    kinds = {
        "clicks": {**ABOUT, "cpu": 0.5},
        "views": ABOUT,
        "sampled": {**ABOUT, "goal": "Sample"},
    }
    reports = [lookup_report(batch, now + batch) for batch in range(30)]
    for number, (name, about) in enumerate(kinds.items()):
        limit = {} if name == "sampled" else {"limit": 30_000_000 - 1_000_000 * number}
        for batch in range(30):
            shared = {**limit, "cpu_ms": 300}
            told = {"name": name, "about": about, "query": f"{number}-query", "more": shared}
            reports.append(join_report(batch, now + batch, **told))
    recorded(tmp_path, *reports)
    server = PageServer(History(tmp_path, read_only=True), PageGuard.of("127.0.0.1", None), port=0)
    server.start()
    shown = {"clicks": {"cpu", "limits", "rivals"}, "sampled": {"sample", "weights"}}
    shown["lookup"] = {"hits", "looked-up", "queries"}
    try:
        browser.size(1280, 720)
        browser.open(server.link)
        for name, panels in shown.items():
            choose(browser, name)
            browser.until(f"panels of {name}", partial(has_all, browser, panels))
            browser.until("panels are drawn", lambda: is_drawn(browser))
            assert not browser.barriers()
        assert not browser.complaints()
        server = restarted(server, tmp_path)
        recorded(tmp_path, lookup_report(30, clock()))
        browser.until("the open tab goes on", lambda: batches_on(browser) == 31)
    finally:
        server.stop()


def restarted(server: PageServer, folder: Path) -> PageServer:
    """A page that ends and starts again, at the same address."""
    server.stop()
    again = PageServer(
        History(folder, read_only=True), PageGuard.of("127.0.0.1", None), port=server.port
    )
    again.start()
    return again
