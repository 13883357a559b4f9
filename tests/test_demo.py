"""The demo: its made-up auctions, its data source on Spark, its figures, its command line."""

import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console
from typer.testing import CliRunner

from headgate import __version__
from headgate.cli.main import app
from headgate.demo.auction_join import auction_join
from headgate.demo.auctions import OPEN_US, auction_stream, bid_ages_us
from headgate.demo.batch_tally import METRICS, RANKINGS, BatchTally
from headgate.demo.comparison import (
    ExactJoin,
    compare,
    contenders,
    run_exact,
    run_with,
    shop_join,
)
from headgate.demo.comparison_table import comparison_table, save_terminal
from headgate.demo.demo_command import DemoSettings, join_stream
from headgate.demo.demo_picture import save_picture
from headgate.demo.demo_view import DemoView
from headgate.demo.made_stream import START_US
from headgate.demo.shop import shop_stream
from headgate.policies import ALL_POLICIES, Random
from headgate.spark import session
from tests.thoroughness import usually

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = 8000
POLICIES = ("auto", "fifo", "random")


def _microseconds(column: pa.ChunkedArray) -> np.ndarray:
    return column.cast(pa.int64()).to_numpy()


class TestAuctions:
    def test_the_same_seed_gives_the_same_stream(self) -> None:
        first = auction_stream(ROWS, seed=3)
        auction_stream.cache_clear()
        again, other = auction_stream(ROWS, seed=3), auction_stream(ROWS, seed=4)
        assert again is not first
        assert again.auctions.equals(first.auctions)
        assert again.bids.equals(first.bids)
        assert not other.bids.equals(first.bids)

    def test_both_sides_come_in_event_order_and_never_at_time_zero(self) -> None:
        stream = auction_stream(ROWS)
        for table, time in ((stream.auctions, "opened_at"), (stream.bids, "bid_at")):
            times = _microseconds(table.column(time))
            assert np.all(np.diff(times) >= 0)
            assert times[0] > START_US

    def test_arrivals_number_all_rows_in_the_order_of_time(self) -> None:
        stream = auction_stream(ROWS)
        assert stream.rows == ROWS
        times = np.empty(ROWS, np.int64)
        times[stream.arrivals["auctions"]] = _microseconds(stream.auctions.column("opened_at"))
        times[stream.arrivals["bids"]] = _microseconds(stream.bids.column("bid_at"))
        assert np.all(np.diff(times) >= 0)

    def test_ids_are_unique(self) -> None:
        ids = auction_stream(ROWS).auctions.column("id").to_numpy()
        assert len(np.unique(ids)) == len(ids)

    def test_bids_come_while_their_auction_is_open_and_mostly_near_its_close(self) -> None:
        ages = bid_ages_us(auction_stream(80_000))
        assert ages.min() > 0
        assert ages.max() <= OPEN_US
        assert np.mean(ages > OPEN_US * 2 / 3) > 0.5
        by_minute, _ = np.histogram(ages, bins=10, range=(0, OPEN_US))
        assert np.all(np.diff(by_minute) > 0)

    def test_stretches_put_together_are_the_whole(self) -> None:
        stream = auction_stream(ROWS)
        for side in ("auctions", "bids"):
            cuts = (0, 1, 2999, 3000, ROWS)
            parts = [stream.between(side, *ends) for ends in pairwise(cuts)]
            assert pa.concat_tables(parts).equals(getattr(stream, side))

    @pytest.mark.parametrize("arrivals", [0, 1000, 5001, ROWS])
    def test_the_exact_count_is_that_of_the_join(self, arrivals: int) -> None:
        stream = auction_stream(ROWS)
        outcome = auction_join(ExactJoin(0, ROWS).budget(100)).run(
            stream.between("auctions", 0, arrivals), stream.between("bids", 0, arrivals)
        )
        assert outcome.stats.pairs == stream.exact_pairs(arrivals)


class TestShop:
    def test_the_exact_count_is_that_of_the_join(self) -> None:
        stream = shop_stream(ROWS, seed=3)
        for arrivals in (0, 1000, 5001, ROWS):
            outcome = shop_join(ExactJoin(0, ROWS).budget(100)).run(
                stream.between("clicks", 0, arrivals), stream.between("orders", 0, arrivals)
            )
            assert outcome.stats.pairs == stream.exact_pairs(arrivals)

    def test_a_few_products_get_most_of_the_clicks(self) -> None:
        for rows in (20_000, 80_000):
            clicks = np.bincount(shop_stream(rows).clicks["product"].to_numpy())
            best = np.sort(clicks)[::-1][: rows // 100]
            assert 0.5 < best.sum() / clicks.sum() < 0.65
            assert 5 < shop_stream(rows).exact_pairs(rows) / (rows / 10) < 50

    def test_auto_makes_far_more_of_a_fifth_of_the_memory_than_fifo_and_random(self) -> None:
        stream = shop_stream(60_000)
        budget = run_exact(stream).budget(20)
        recalls = {name: run_with(stream, budget, name).recall for name in POLICIES}
        assert recalls["auto"] > 3 * max(recalls["fifo"], recalls["random"])


class TestCompare:
    def test_every_policy_is_run_at_every_size_and_none_passes_its_budget(self) -> None:
        stream = shop_stream(ROWS)
        exact = run_exact(stream)
        results = list(compare(stream, exact, percents=(10, 50)))
        assert len(results) == 2 * (len(ALL_POLICIES) + 1)
        for result in results:
            assert result.peak_rows <= (exact.budget(result.percent).rows or 0)
            assert 0.0 <= result.recall <= 1.0

    def test_the_table_names_every_policy_and_says_where_the_model_is_from(self) -> None:
        stream = shop_stream(ROWS)
        exact = run_exact(stream)
        console = Console(width=100)
        with console.capture() as shown:
            console.print(comparison_table(exact, list(compare(stream, exact, percents=(20,)))))
        text = shown.get()
        for label in contenders():
            assert label in text
        assert "learns its model as it runs" in text
        assert f"{exact.peak_rows:,}" in text

    def test_pictures_are_saved_as_png_and_svg(self, tmp_path: Path) -> None:
        stream = shop_stream(ROWS)
        png, svg = save_picture(
            stream, list(compare(stream, run_exact(stream), percents=(10, 50))), tmp_path / "new"
        )
        assert png.read_bytes().startswith(b"\x89PNG")
        assert "</svg>" in svg.read_text()


class TestView:
    @staticmethod
    def _report(batch: int, **figures: int) -> dict[str, Any]:
        names = ("left_rows", "right_rows", "pairs", "shed", "refused", "stored_rows")
        kinds = (*RANKINGS, "watched_rows", "tracked_keys")
        every = {
            **dict.fromkeys((*names, *kinds, "peak_rows", "held_bytes"), 0),
            **dict.fromkeys(("total_recall", "total_recall_low", "total_recall_high")),
            **figures,
        }
        return {
            "batchId": batch,
            "observedMetrics": {METRICS: every},
            "durationMs": {"triggerExecution": 500},
        }

    def test_a_report_counts_once_and_empty_batches_not_at_all(self) -> None:
        stream = shop_stream(ROWS)
        tally = BatchTally(stream, budget_rows=100, exact_rows=1000)
        first = self._report(0, left_rows=500, right_rows=1500, pairs=300, stored_rows=100)
        tally.read([first])
        tally.read([first, self._report(1)])
        assert (tally.batches, tally.rows, tally.stored_rows) == (1, 2000, 100)
        assert tally.last_rate == 4000
        assert tally.recall == 300 / stream.exact_pairs(2000)

    def test_the_view_shows_budget_recall_and_where_the_log_is(self) -> None:
        tally = BatchTally(shop_stream(ROWS), budget_rows=100, exact_rows=1000)
        tally.read([self._report(0, left_rows=10, right_rows=90, stored_rows=77, shed=12)])
        console = Console(width=100)
        with console.capture() as shown:
            console.print(DemoView(tally, "a title", "the.log"))
        for part in ("a title", "the.log", "77 rows stored", "12 stored rows", "recall, true"):
            assert part in shown.get()

    def test_the_terminal_is_saved_as_svg(self, tmp_path: Path) -> None:
        tally = BatchTally(shop_stream(ROWS), budget_rows=100, exact_rows=1000)
        save_terminal(tmp_path / "terminal.svg", DemoView(tally, "a title", "the.log"))
        assert "</svg>" in (tmp_path / "terminal.svg").read_text()


@pytest.mark.spark
class TestOnSpark:
    @staticmethod
    def _load(spark: "SparkSession", side: str) -> "DataFrame":
        from headgate.demo.made_source import AuctionSource

        spark.dataSource.register(AuctionSource)
        reader = spark.read.format("headgate_auctions").option("rows", ROWS).option("seed", 5)
        return reader.option("side", side).load()

    @pytest.mark.parametrize(("side", "key"), [("auctions", "id"), ("bids", "price")])
    def test_a_batch_read_gives_the_stream_row_for_row(
        self, spark: "SparkSession", side: str, key: str
    ) -> None:
        wanted = getattr(auction_stream(ROWS, 5), side)
        read = self._load(spark, side).toArrow()
        order = [(name, "ascending") for name in wanted.column_names]
        assert read.column_names == wanted.column_names
        assert read.sort_by(order).cast(wanted.schema).equals(wanted.sort_by(order))

    def test_a_wrong_option_is_named(self, spark: "SparkSession") -> None:
        with pytest.raises(Exception, match=r"option side='sellers'.*auctions.*bids"):
            self._load(spark, "sellers")

    @pytest.mark.parametrize("percent", usually((), (25, 300)))
    def test_the_live_join_sees_every_row_and_stays_within_its_budget(
        self, spark: "SparkSession", percent: int
    ) -> None:
        settings = DemoSettings(rows=ROWS, percent=percent, seed=5, batches=3)
        stream = shop_stream(ROWS, 5)
        exact = run_exact(stream)
        tally = BatchTally(stream, exact.budget(percent).rows or 0, exact.peak_rows)
        join_stream(spark, settings, Random(), tally)
        assert (tally.rows, tally.batches) == (ROWS, 3)
        assert 0 < tally.most_stored <= tally.budget_rows
        if percent > 100:
            assert tally.pairs == tally.exact_pairs
        else:
            assert 0.0 < tally.recall < 1.0
        # A budget of so few rows has none to spare for watching.
        assert tally.estimate is None


class TestCommandLine:
    @pytest.mark.parametrize("command", [[], ["demo"], ["profile"], ["bench"], ["version"]])
    def test_help_is_there(self, command: list[str]) -> None:
        shown = CliRunner().invoke(app, [*command, "--help"])
        assert shown.exit_code == 0
        assert "Usage" in shown.output

    def test_the_version_is_printed(self) -> None:
        assert CliRunner().invoke(app, ["version"]).output == f"headgate {__version__}\n"

    def test_an_unknown_policy_is_one_line_and_exit_code_2(self) -> None:
        shown = CliRunner().invoke(app, ["demo", "--policy", "best"])
        assert shown.exit_code == 2
        assert "policy 'best' is unknown" in shown.output
        assert "Traceback" not in shown.output

    def test_a_budget_of_nothing_is_refused(self) -> None:
        assert CliRunner().invoke(app, ["demo", "--memory", "-1"]).exit_code == 2

    @pytest.mark.parametrize(
        ("name", "value", "said"),
        [
            ("java_version", lambda: 0, "no Java was found"),
            ("java_version", lambda: 11, "only Java 11 was found"),
        ],
    )
    def test_what_is_missing_is_said_with_what_to_install(
        self, monkeypatch: pytest.MonkeyPatch, name: str, value: Callable[..., Any], said: str
    ) -> None:
        monkeypatch.setattr(session, name, value)
        shown = CliRunner().invoke(app, ["demo"])
        assert shown.exit_code == 1
        assert said in shown.output
        assert "install" in shown.output
        assert "Traceback" not in shown.output

    def test_a_package_that_is_too_old_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("google.protobuf.__version__", "5.27.0")
        shown = CliRunner().invoke(app, ["demo"])
        assert shown.exit_code
        assert "protobuf 5.27.0 is installed" in shown.output
        assert 'pip install "protobuf>=' in shown.output
        assert "Traceback" not in shown.output

    def test_a_missing_package_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "google.protobuf", None)
        shown = CliRunner().invoke(app, ["demo"])
        assert shown.exit_code
        assert 'pip install "headgate[spark]"' in shown.output
        assert "Traceback" not in shown.output
