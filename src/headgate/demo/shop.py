"""Made-up clicks and orders of a shop, in which a few products are popular.

A click is on a product, and an order is of a product; nine rows in ten are clicks. Both choose
products by the same popularity, a Zipf law with a flat top: the product of rank r is chosen with a
probability in proportion to 1 / (r + flat). There are as many products as rows, and ``flat`` is 3
in 100,000 of that: one product in a hundred gets 56 % of the clicks, and an order meets some twenty
clicks, however many rows are made. The number of rows and the seed determine everything.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import pyarrow as pa

from headgate.demo.made_stream import INSTANT, MINUTE_US, START_US, MadeStream, numbered

WINDOW_US = 10 * MINUTE_US
"""How long a click waits for orders."""
LASTS_US = 120 * MINUTE_US
"""How long the stream lasts."""
CLICKS_SHARE = 0.9
FLAT_SHARE = 3e-5


@dataclass(frozen=True, eq=False)
class ShopStream(MadeStream):
    """Both sides of the stream, each in event order.

    Attributes
    ----------
    clicks
        Columns product, visitor, clicked_at.
    orders
        Columns product, amount, ordered_at.
    """

    clicks: pa.Table
    orders: pa.Table

    def exact_pairs(self, arrivals: int) -> int:
        """Number of result rows of the exact join after this many arrivals."""
        orders = int(np.searchsorted(self.arrivals["orders"], arrivals))
        return int(self._pairs_of_orders[:orders].sum())

    @cached_property
    def _pairs_of_orders(self) -> np.ndarray:
        """For each order the clicks on its product in the ten minutes before it."""
        clicks = np.sort(_placed(self.clicks, "clicked_at"))
        orders = _placed(self.orders, "ordered_at")
        found: np.ndarray = np.searchsorted(clicks, orders, "right") - np.searchsorted(
            clicks, orders - WINDOW_US, "left"
        )
        return found


@lru_cache(maxsize=4)
def shop_stream(rows: int = 100_000, seed: int = 0) -> ShopStream:
    """Clicks and orders, ``rows`` in all (a thousand or more); the same for the same arguments.

    Examples
    --------
    >>> stream = shop_stream(rows=10_000, seed=7)
    >>> stream.clicks.num_rows, stream.orders.num_rows
    (9000, 1000)
    >>> stream.clicks.column_names, stream.orders.column_names
    (['product', 'visitor', 'clicked_at'], ['product', 'amount', 'ordered_at'])
    """
    random = np.random.default_rng(seed)
    clicks, orders = round(rows * CLICKS_SHARE), rows - round(rows * CLICKS_SHARE)
    clicked_us, ordered_us = (
        START_US + np.sort(random.integers(1, LASTS_US, count)) for count in (clicks, orders)
    )
    return ShopStream(
        arrivals=numbered(("clicks", clicked_us), ("orders", ordered_us)),
        clicks=pa.table(
            {
                "product": popular(random, clicks, rows),
                "visitor": random.integers(1, clicks // 4 + 2, clicks),
                "clicked_at": pa.array(clicked_us, INSTANT),
            }
        ),
        orders=pa.table(
            {
                "product": popular(random, orders, rows),
                "amount": np.exp(random.normal(3.0, 1.0, orders)).round(2),
                "ordered_at": pa.array(ordered_us, INSTANT),
            }
        ),
    )


def popular(random: np.random.Generator, count: int, products: int) -> np.ndarray:
    """Draw products by their popularity; number 1 is the most popular."""
    flat = max(products * FLAT_SHARE, 1.0)
    # The law's distribution function, inverted: ranks are spread evenly over log(rank + flat).
    drawn = flat * (1 + products / flat) ** random.random(count) - flat
    return np.floor(drawn).astype(np.int64) + 1


def _placed(table: pa.Table, time: str) -> np.ndarray:
    """Product and time as one number, apart by more than a window for different products."""
    since = table.column(time).cast(pa.int64()).to_numpy() - START_US
    placed: np.ndarray = table.column("product").to_numpy() * (LASTS_US + 2 * WINDOW_US) + since
    return placed
