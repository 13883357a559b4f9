"""What notebooks show can be read on light and on dark, in a real browser."""

from pathlib import Path

import pytest

import headgate as hg
from headgate.demo.flights import new_york_flights
from tests.browser.reader import reader

THEMES = {"light": ("#ffffff", "#000000"), "dark": ("#131416", "#cfd0d0")}
PAGE = """<!doctype html><html lang="en"><head><title>cards</title></head>
<body style="background:{0};color:{1}"><main>{2}</main></body></html>"""


@pytest.fixture(scope="module")
def cards() -> dict[str, str]:
    """The HTML of objects that a notebook displays."""
    flights = new_york_flights()
    sides = {
        "left": hg.Side(time="landed_at", window="7 days"),
        "right": hg.Side(time="departed_at", window="0 seconds"),
    }
    found = hg.whatif(
        flights.landings,
        flights.departures,
        on="plane",
        **sides,
        policies=["fifo"],
        memory=["20 %"],
        optimum=False,
        progress=False,
    )
    join = hg.WindowJoin(on="plane", **sides, budget=hg.Budget(rows=1_300), policy="fifo")
    figures = {"total_recall": 0.91, "total_recall_low": 0.89, "total_recall_high": 0.93}
    shown = {
        "what-if": found,
        "outcome": join.run(flights.landings, flights.departures),
        "progress": hg.Progress.of(7, {**figures, "stored_rows": 1200, "room_rows": 1300}),
    }
    return {name: one._repr_html_() for name, one in shown.items()}


@pytest.mark.long
def test_cards_are_readable_on_light_and_dark(cards: dict[str, str], tmp_path: Path) -> None:
    with reader() as browser:
        browser.size(390, 844)
        for theme, (ground, ink) in THEMES.items():
            browser.scheme(theme)
            for name, card in cards.items():
                page = tmp_path / f"{name}.html"
                page.write_text(PAGE.format(ground, ink, card))
                browser.open(page.as_uri())
                assert not [each for each in browser.barriers() if "contrast" in each], name
                assert browser.complaints() == []
