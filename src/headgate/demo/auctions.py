"""Synthetic auctions and bids: most bids come shortly before an auction closes.

The shape is that of NEXMark, the standard auction benchmark: a bid refers to one open auction, and
there are about fifteen bids per auction. The number of rows and the seed determine everything, so
any stretch of the stream can be generated again.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import pyarrow as pa

from headgate.demo.made_stream import INSTANT, MINUTE_US, START_US, MadeStream, numbered

SideName = Literal["auctions", "bids"]

OPEN_US = 6 * MINUTE_US
"""How long an auction is open."""
WINDOW_US = 10 * MINUTE_US
"""How long the join waits for bids, to be on the safe side."""
LASTS_US = 120 * MINUTE_US
"""How long the stream lasts; auctions open all the while, so it ends in full swing."""

ROWS_PER_AUCTION = 16
AGE_EXPONENT = 2.0
"""A bid's age u, as a fraction of the auction's life, has density proportional to u²."""

CATEGORIES = ("art", "books", "clocks", "coins", "garden", "music", "stamps", "tools", "toys")


@dataclass(frozen=True, eq=False)
class AuctionStream(MadeStream):
    """Both sides of the stream, each in event order.

    Attributes
    ----------
    auctions
        Columns id, seller, category, opened_at, closes_at.
    bids
        Columns auction, bidder, price, bid_at.
    """

    auctions: pa.Table
    bids: pa.Table

    def exact_pairs(self, arrivals: int) -> int:
        """Number of result rows of the exact join after this many arrivals.

        Every bid comes while its auction is open, so each makes one result row.
        """
        return int(np.searchsorted(self.arrivals["bids"], arrivals))


@lru_cache(maxsize=4)
def auction_stream(rows: int, seed: int = 0) -> AuctionStream:
    """Auctions and bids, ``rows`` in all (a thousand or more); the same for the same arguments.

    Examples
    --------
    >>> stream = auction_stream(rows=1600, seed=7)
    >>> stream.auctions.num_rows, stream.bids.num_rows
    (100, 1500)
    >>> stream.between("bids", 0, 1600).equals(stream.bids)
    True
    """
    random = np.random.default_rng(seed)
    count = max(1, rows // ROWS_PER_AUCTION)
    opened_us = START_US + np.sort(random.integers(1, LASTS_US, count))
    opening_price = np.exp(random.normal(3.0, 1.0, count))
    auctions = pa.table(
        {
            "id": np.arange(1, count + 1),
            "seller": random.integers(1, count // 4 + 2, count),
            "category": pa.array(CATEGORIES).take(
                pa.array(random.integers(0, len(CATEGORIES), count))
            ),
            "opened_at": pa.array(opened_us, INSTANT),
            "closes_at": pa.array(opened_us + OPEN_US, INSTANT),
        }
    )
    bids, bid_us = _bids(random, rows - count, opened_us, opening_price)
    numbers = numbered(("auctions", opened_us), ("bids", bid_us))
    return AuctionStream(numbers, auctions, bids)


def _bids(
    random: np.random.Generator, count: int, opened_us: np.ndarray, opening_price: np.ndarray
) -> tuple[pa.Table, np.ndarray]:
    auctions = len(opened_us)
    # About a fifth of the draws fall after the end of the stream and are dropped.
    drawn = 2 * count
    auction = random.integers(0, auctions, drawn)
    age = random.random(drawn) ** (1.0 / (AGE_EXPONENT + 1.0))
    bid_us = opened_us[auction] + np.clip(np.ceil(age * OPEN_US).astype(np.int64), 1, OPEN_US)
    chosen = np.flatnonzero(bid_us <= START_US + LASTS_US)[:count]
    chosen = chosen[np.argsort(bid_us[chosen], kind="stable")]
    auction, age, bid_us = auction[chosen], age[chosen], bid_us[chosen]
    raised = (1.0 + 2.0 * age) * random.uniform(1.0, 1.1, len(chosen))
    table = pa.table(
        {
            "auction": auction + 1,
            "bidder": random.integers(1, auctions + 2, len(chosen)),
            "price": (opening_price[auction] * raised).round(2),
            "bid_at": pa.array(bid_us, INSTANT),
        }
    )
    return table, bid_us


def bid_ages_us(stream: AuctionStream) -> np.ndarray:
    """Age of the auction at each bid, in microseconds."""
    opened = stream.auctions.column("opened_at").cast(pa.int64()).to_numpy()
    placed = stream.bids.column("bid_at").cast(pa.int64()).to_numpy()
    ages: np.ndarray = placed - opened[stream.bids.column("auction").to_numpy() - 1]
    return ages
