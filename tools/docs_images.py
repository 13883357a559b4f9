"""Writes the pictures in docs/images, from the streams of the demo and of the README."""

from pathlib import Path

import headgate as hg
from headgate.demo.comparison import compare, run_exact
from headgate.demo.demo_command import ROWS
from headgate.demo.demo_picture import save_picture as save_demo
from headgate.demo.flights import new_york_flights
from headgate.demo.shop import shop_stream
from headgate.sizing.whatif_picture import save_picture as save_whatif

IMAGES = Path(__file__).parent.parent / "docs" / "images"


def demo() -> None:
    """Recall against memory in the demo, without Spark."""
    stream = shop_stream(ROWS)
    results = list(compare(stream, run_exact(stream)))
    save_demo(stream, results, IMAGES, "demo")
    for result in results:
        if result.percent == 20:
            print(f"{result.label} {100 * result.recall:.1f} %", end=", ")


def whatif() -> None:
    """The what-if of the README's flights."""
    flights = new_york_flights()
    found = hg.whatif(
        flights.landings,
        flights.departures,
        on="plane",
        left=hg.Side(time="landed_at", window="7 days"),
        right=hg.Side(time="departed_at", window="0 seconds"),
        goal=hg.MaxImportance(left="minutes_late"),
    )
    for written in save_whatif(found, IMAGES, "whatif"):
        if written.suffix == ".svg":
            written.unlink()  # the README shows the PNG
    print(f"\n{str(found).splitlines()[0]}")


if __name__ == "__main__":
    demo()
    whatif()
