"""Clicks and orders of a made-up shop as two Parquet files, to try the commands on.

Run it:  python examples/shop_files.py
Then:    headgate whatif out/shop/clicks.parquet out/shop/orders.parquet --on product ...
"""

import argparse
from pathlib import Path

import pyarrow.parquet as pq

from headgate.demo.shop import shop_stream


def write(folder: Path, rows: int, seed: int = 0) -> None:
    """Both sides in the folder, so many rows in all."""
    stream = shop_stream(rows, seed)
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(stream.clicks, folder / "clicks.parquet")
    pq.write_table(stream.orders, folder / "orders.parquet")


def main() -> None:
    """Write the files, and say where."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000, help="rows of both sides")
    parser.add_argument("--out", type=Path, default=Path("out/shop"), help="folder to write to")
    given = parser.parse_args()
    write(given.out, given.rows)
    print(f"{given.rows:,} rows in {given.out}: clicks.parquet and orders.parquet")


if __name__ == "__main__":
    main()
