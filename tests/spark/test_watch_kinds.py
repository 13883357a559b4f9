"""Every kind of panel, filled by real queries, in a real browser; and what can be saved of it."""

import csv
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate as hg
from tests.browser.reader import Reader, reader
from tests.postgres import NO_SERVER, can_run
from tests.spark.test_watch_query import choose, has_all, is_drawn
from tests.spark.watched_queries import join_of, moving, run_alone, run_group, run_lookup, zipf

pytestmark = [pytest.mark.spark, pytest.mark.long]

SHOWN = {
    "moving": {"recall", "memory", "losses", "curve", "shards", "rivals", "lag", "events"},
    "orders": {"recall", "limits"},
    "lookup": {"hits", "looked-up", "queries", "memory", "shards"},
    "sample": {"sample", "weights", "memory", "losses"},
    "cpu": {"recall", "cpu"},
}
"""Panels of each query."""
PACE_S = 0.2
"""Chromium drops files of a page that saves more than ten within a second or so."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Reader]:
    with reader() as opened:
        yield opened


def run_all(spark: SparkSession, folder: Path) -> None:
    """A query of every kind."""
    run_alone(spark, folder, "moving", moving, join_of(hg.Budget(rows=2500)))
    run_alone(spark, folder, "sample", zipf, join_of(hg.Budget(rows=600), goal=hg.Sample()))
    run_alone(spark, folder, "cpu", zipf, join_of(hg.Budget(cpu=0.2)))
    run_group(spark, folder)
    run_lookup(spark, folder)


@pytest.mark.skipif(not can_run(), reason=NO_SERVER)
def test_every_kind_of_query_fills_its_panels(
    spark: SparkSession, tmp_path: Path, browser: Reader
) -> None:
    with hg.watch(spark, folder=tmp_path / "watch", port=0) as watch:
        browser.size(1280, 720)
        browser.open(watch.link)
        browser.save_to(tmp_path / "saved")
        run_all(spark, tmp_path)
        for name, panels in SHOWN.items():
            choose(browser, name)
            browser.until(f"panels of {name}", partial(has_all, browser, panels))
            browser.until("panels are drawn", lambda: is_drawn(browser))
            assert not browser.barriers()
            check_saving(browser, tmp_path / "saved")
        assert not browser.complaints()


def check_saving(browser: Reader, folder: Path) -> None:
    """Every button of every panel gives a file that can be read."""
    asked = "return [...document.querySelectorAll('.saves button')].map((b) => b.ariaLabel)"
    buttons = browser.run(asked)
    assert sum(label.endswith("CSV") for label in buttons) >= 7
    for label in buttons:
        for old in folder.glob("*"):
            old.unlink()
        time.sleep(PACE_S)
        browser.click(f'.saves button[aria-label="{label}"]')
        browser.until(f"{label}: a file", partial(_has_file, folder))
        (file,) = folder.iterdir()
        if file.suffix == ".csv":
            heads, *rows = csv.reader(file.open(newline=""))
            assert len(heads) >= 2, label
            assert rows or "on trial" in label, label
            assert all(len(row) == len(heads) for row in rows), label
        else:
            assert file.read_bytes().startswith(b"\x89PNG"), label


def _has_file(folder: Path) -> bool:
    files = list(folder.glob("*"))
    return len(files) == 1 and files[0].suffix in (".csv", ".png") and files[0].stat().st_size > 0
