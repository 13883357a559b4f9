"""Writes the pictures of the live page in docs/images, from a real query on the demo's streams."""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import headgate as hg
from headgate.demo.shop import shop_stream
from tests.browser.reader import reader
from tests.spark.streams import read_side, write_side

IMAGES = Path(__file__).parent.parent / "docs" / "images"
ROWS, FILES, SHARDS = 900_000, 20, 3
PICTURES = (("watch", 1280, 720, "light"), ("watch-dark", 1280, 720, "dark"))
PHONE = ("watch-phone", 390, 844, "light")


def start(session: Any, folder: Path) -> Any:
    """The shop's clicks and orders, joined within an eighth of what the exact join stores."""
    shop = shop_stream(ROWS)
    frames = []
    for name, table, time in (
        ("clicks", shop.clicks, "clicked_at"),
        ("orders", shop.orders, "ordered_at"),
    ):
        each = -(-table.num_rows // FILES)
        write_side(folder / name, [table.slice(n * each, each) for n in range(FILES)])
        schema = session.read.parquet(str(folder / name)).schema
        frames.append(read_side(session, folder / name, schema, time))
    join = hg.WindowJoin(
        on="product",
        left=hg.Side(time="clicked_at", window="10 minutes"),
        right=hg.Side(time="ordered_at", window="0 seconds"),
        budget=hg.Budget(memory="1.5 MB"),
    )
    frame = join.stream(*frames, shards=SHARDS, watermark=False)
    kept = folder / "checkpoint"
    query = frame.writeStream.format("noop").queryName("shop").option("checkpointLocation", kept)
    return query.start()


def main() -> None:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = hg.session("headgate pictures", master="local[2]")
    with TemporaryDirectory() as place, reader() as browser:
        folder = Path(place)
        with hg.watch(session, folder=folder / "watch") as watch:
            browser.size(1280, 720)
            browser.open(watch.link)
            query = start(session, folder)
            query.processAllAvailable()
            browser.until("results", lambda: browser.text("h1").startswith("Recall 0."))

            for name, width, height, scheme in (*PICTURES, PHONE):
                browser.scheme(scheme)
                browser.size(width, height)
                browser.run("return new Promise((done) => setTimeout(done, 1500))")
                browser.picture(IMAGES / f"{name}.png", whole=name == "watch")
            print(browser.text("h1"))
            query.stop()
    session.stop()


if __name__ == "__main__":
    main()
