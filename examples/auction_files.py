"""Write auctions and bids as Parquet files, for examples/job.toml.

Each folder has a file for every twelve minutes of its stream. Spark reads files by modification
time, so the program sets that too.

Run it:  python examples/auction_files.py
Then:    headgate run examples/job.toml
"""

import argparse
import os
from pathlib import Path

import pyarrow.parquet as pq

from headgate.demo.auctions import SideName, auction_stream

SIDES: tuple[SideName, SideName] = ("auctions", "bids")
FILES = 10
FIRST_CHANGE = 1_767_268_800


def write(folder: Path, rows: int, seed: int = 0) -> None:
    """Both sides below the folder, so many rows in all."""
    stream = auction_stream(rows, seed)
    for side in SIDES:
        (folder / side).mkdir(parents=True, exist_ok=True)
        for number in range(FILES):
            first, last = (rows * place // FILES for place in (number, number + 1))
            file = folder / side / f"{number:03d}.parquet"
            pq.write_table(stream.between(side, first, last), file)
            os.utime(file, (FIRST_CHANGE + number, FIRST_CHANGE + number))


def main() -> None:
    """Write the files, and say where."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=400_000, help="rows of both sides")
    parser.add_argument("--out", type=Path, default=Path("out/job"), help="folder to write below")
    given = parser.parse_args()
    write(given.out, given.rows)
    print(f"{given.rows:,} rows in {given.out / 'auctions'} and {given.out / 'bids'}")


if __name__ == "__main__":
    main()
