"""What people read: joins, outcomes, stats and profiles as text and HTML, and signs of life."""

import io
import time

import duckdb
import polars as pl
import pytest
from typer.testing import CliRunner

import headgate as hg
from headgate.cli.main import app
from headgate.demo.shop import shop_stream
from headgate.report import long_work
from headgate.report.long_work import LongWork

SHOP = shop_stream(4000)
JOIN = hg.WindowJoin(
    on="product",
    left=hg.Side(time="clicked_at", window="10 minutes"),
    right=hg.Side(time="ordered_at", window="0 seconds"),
    budget=hg.Budget(rows=50, split=(3, 1)),
    policy="fifo",
)
NAMES = {name: getattr(hg, name) for name in ("WindowJoin", "Side", "Budget", "Band", "Compare")}


@pytest.mark.parametrize(
    "join",
    [
        JOIN,
        hg.WindowJoin(
            left_on=["a", "b"],
            right_on=["c", "d"],
            where=hg.Band("price", lower=-1, upper=5),
            left=hg.Side(time="t", window="1000 rows"),
            right=hg.Side(time="t", window="90 minutes"),
            budget=hg.Budget(memory=1_234_567, cpu=0.5),
            seed=7,
            suffix="_other",
        ),
        hg.WindowJoin(
            how="left",
            unmatched="all",
            on="a",
            left=hg.Side(time="t", window="1 minute"),
            right=hg.Side(time="t", window="1 minute"),
            budget=hg.Budget(rows=10),
        ),
    ],
)
def test_a_join_prints_as_one_would_write_it(join: hg.WindowJoin) -> None:
    for text in (str(join), repr(join)):
        again = eval(text, dict(NAMES))
        assert again == join


def test_outcomes_stats_and_profiles_are_tables_also_in_notebooks() -> None:
    outcome = JOIN.run(SHOP.clicks, SHOP.orders)
    for shown in (outcome, outcome.stats):
        assert f"{outcome.stats.shed:,}" in str(shown)
        assert "evicted within their window" in str(shown)
        assert f"{outcome.stats.shed:,}</td>" in shown._repr_html_()
    assert f"recall {outcome.recall:.3f}" in str(outcome)
    profile = hg.profile(
        SHOP.clicks, SHOP.orders, on="product", left=JOIN.left, right=JOIN.right, progress=False
    )
    assert "10 minutes" in str(profile)
    assert "<td" in profile._repr_html_()


def test_polars_and_duckdb_go_wherever_tables_go() -> None:
    clicks, orders = pl.from_arrow(SHOP.clicks), duckdb.from_arrow(SHOP.orders)
    made = JOIN.run(clicks, orders)
    assert made.stats == JOIN.run(SHOP.clicks, SHOP.orders).stats
    asked = {"on": "product", "left": JOIN.left, "right": JOIN.right}
    assert hg.profile(clicks, orders, **asked).pairs == hg.profile(*_tables(), **asked).pairs
    few = {"join": JOIN, "policies": "fifo", "memory": ["20 %"], "optimum": False}
    assert hg.whatif(clicks, orders, **few).points == hg.whatif(*_tables(), **few).points


def _tables() -> tuple[object, object]:
    return SHOP.clicks, SHOP.orders


class Terminal(io.StringIO):
    """Text that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def _worked(out: io.StringIO, asked: long_work.Asked = None) -> str:
    with LongWork("Trying policies", asked, out) as work:
        work.report(3, 8)
        while asked is not False and type(out) is Terminal and "of 8" not in out.getvalue():
            time.sleep(0.001)
    return out.getvalue()


def test_long_work_shows_itself_in_a_terminal_and_clears_the_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(long_work, "QUICK_S", 0.0)
    shown = _worked(Terminal())
    assert "Trying policies: 3 of 8" in shown
    assert shown.endswith("\r")
    assert shown.rsplit("\r", 2)[-2].strip() == ""


def test_long_work_is_silent_where_nobody_looks_or_wants_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(long_work, "QUICK_S", 0.0)
    assert _worked(io.StringIO()) == ""
    assert _worked(Terminal(), asked=False) == ""


def test_quick_work_is_silent() -> None:
    out = Terminal()
    with LongWork("Trying policies", None, out) as work:
        work.report(1, 1)
    assert out.getvalue() == ""


@pytest.mark.parametrize(
    "command", [each.name or each.callback.__name__ for each in app.registered_commands]
)
def test_every_help_has_examples_and_exit_codes(command: str) -> None:
    shown = CliRunner().invoke(app, [command, "--help"]).output
    assert f"headgate {command}" in shown.partition("Examples:")[2]
    assert "Exit codes: 0" in shown
    assert "<bool>" not in shown
