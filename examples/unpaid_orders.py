"""Alert on orders that are not paid within 30 minutes.

This is an anti join of orders and payments. A paid order leaves memory at once, so little memory is
needed. If it does not suffice, some unpaid orders are evicted and stay undecided: no alert is ever
false, and undecided orders are counted. With `unmatched="all"` they are returned too, as warnings.

Run it:  python examples/unpaid_orders.py
"""

import argparse

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import headgate as hg

START_US = 1_767_225_600_000_000
MINUTE_US = 60_000_000
WAIT = "30 minutes"


def streams(orders: int, seed: int = 0) -> tuple[pa.Table, pa.Table]:
    """Orders of a day; most are paid within minutes, some late, one in twenty never."""
    rng = np.random.default_rng(seed)
    ordered = START_US + np.sort(rng.integers(0, 24 * 60 * MINUTE_US, orders))
    minutes = rng.exponential(6.0, orders)
    minutes[rng.random(orders) < 0.03] += 60
    paid = rng.random(orders) >= 0.05
    placed = pa.table(
        {
            "order": pa.array(np.arange(orders)),
            "ordered_at": pa.array(ordered).cast(pa.timestamp("us", "UTC")),
            "amount": pa.array(np.round(rng.gamma(2.0, 30.0, orders), 2)),
        }
    )
    payments = pa.table(
        {
            "order": pa.array(np.flatnonzero(paid)),
            "paid_at": pa.array((ordered + minutes * MINUTE_US).astype(np.int64)[paid]).cast(
                pa.timestamp("us", "UTC")
            ),
        }
    )
    return placed, payments


def alerts(
    rows: int, unmatched: str = "certain", policy: str = "fifo", orders: int = 50_000
) -> hg.Outcome:
    """The orders without a payment within half an hour, from a memory of so many rows."""
    join = hg.WindowJoin(
        how="anti",
        on="order",
        left=hg.Side(time="ordered_at", window=WAIT),
        right=hg.Side(time="paid_at", window="0 seconds"),
        budget=hg.Budget(rows=rows),
        policy=policy,
        unmatched=unmatched,
    )
    return join.run(*streams(orders))


def main() -> None:
    """Print alerts and undecided orders for several memories."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--orders", type=int, default=50_000)
    given = parser.parse_args()
    print("memory   policy         alerts  of all  undecided  paid in time, let go")
    for rows in (2_000, 500, 300, 200):
        for policy in ("until-expiry", "fifo"):
            outcome = alerts(rows, policy=policy, orders=given.orders)
            print(
                f"{rows:>6,}   {policy:<12} {outcome.stats.unmatched:>8,} {outcome.recall:>7.1%} "
                f"{outcome.stats.undecided:>10,} {outcome.stats.satisfied:>21,}"
            )
    every = alerts(300, unmatched="all", policy="until-expiry", orders=given.orders)
    print('\nWith unmatched="all" and 300 rows of memory, these come out as well:')
    undecided = every.pairs.filter(pc.invert(every.pairs.column("certain")))
    print(undecided.slice(0, 3).to_pandas().to_string(index=False))


if __name__ == "__main__":
    main()
