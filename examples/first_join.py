"""Clicks and orders of a shop, joined within a fifth of the memory, under three policies.

Run it:  python examples/first_join.py
"""

import headgate as hg
from headgate.demo.shop import shop_stream


def recalls(rows: int = 100_000) -> dict[str, float]:
    """By policy the share of the exact result that a fifth of the memory makes."""
    shop = shop_stream(rows)  # made-up clicks and orders; a few products are popular
    made = {}
    for policy in ("auto", "random", "fifo"):
        join = hg.WindowJoin(
            on="product",
            left=hg.Side(time="clicked_at", window="10 minutes"),  # a click waits for orders
            right=hg.Side(time="ordered_at", window="0 seconds"),  # an order waits for nobody
            budget=hg.Budget(rows=rows * 16 // 1000),  # the exact join stores five times as many
            policy=policy,
        )
        outcome = join.run(shop.clicks, shop.orders)
        made[policy] = outcome.recall
    return made


if __name__ == "__main__":
    for name, recall in recalls().items():
        print(f"{name:<8} {recall:.3f}")
