"""Sides to profile."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

import headgate as hg

START_US = 1_767_225_600_000_000
AUCTIONS: dict[str, Any] = {
    "left_on": "id",
    "right_on": "auction",
    "left": hg.Side(time="opened_at", window="10 minutes"),
    "right": hg.Side(time="bid_at", window="0 seconds"),
}


def side_of(rows: int, seed: int, keys: int = 500, zipf: float = 1.0, lasts: int = 600) -> pa.Table:
    """Rows spread evenly over so many seconds, their keys drawn from a Zipf distribution."""
    random = np.random.default_rng(seed)
    share = np.arange(1, keys + 1) ** -zipf
    time = START_US + np.sort(random.integers(0, lasts * 1_000_000, rows))
    return pa.table(
        {
            "key": random.choice(keys, rows, p=share / share.sum()),
            "at": pa.array(time, pa.timestamp("us", "UTC")),
        }
    )


def profile_of(left: Any, right: Any, windows: tuple[str, str], **more: Any) -> hg.Profile:
    sides = [hg.Side(time="at", window=window) for window in windows]
    return hg.profile(left, right, on="key", left=sides[0], right=sides[1], **more)


def pairs_of(left: pa.Table, right: pa.Table, windows: tuple[str, str]) -> hg.Outcome:
    return hg.WindowJoin(
        on="key",
        left=hg.Side(time="at", window=windows[0]),
        right=hg.Side(time="at", window=windows[1]),
        budget=hg.Budget(rows=10**9),
        policy="fifo",
    ).run(left, right)
