"""Join on keys that move with time: two sensor networks.

Readings arrive late and out of order. Each carries the number of the second it was taken in, and
the join matches readings of the same second. Frequent values move on with the clock, so policies
based on past frequencies keep the wrong rows. HEEB knows how the numbers move, HIST only that there
is a trend.

Run it:  python examples/moving_values.py
"""

import numpy as np
import pyarrow as pa

import headgate as hg
from headgate.models import LinearTrend, Noise
from headgate.policies import Heeb, Hist

SECONDS = 20_000
FAST = LinearTrend(slope=1, intercept=0, noise=Noise.normal(3.3, bound=10))
SLOW = LinearTrend(slope=1, intercept=-1, noise=Noise.normal(5, bound=15))


def readings(process: LinearTrend, seed: int, time: str, delay_ms: int) -> pa.Table:
    """One reading a second."""
    at = 1_000 * np.arange(SECONDS) + delay_ms
    taken = process.simulate(SECONDS, seed)
    return pa.table({"second": taken, time: at.astype("datetime64[ms]").astype("datetime64[us]")})


def recalls() -> dict[str, float]:
    """The share of the exact result that each policy makes."""
    fast, slow = readings(FAST, 1, "fast_at", 0), readings(SLOW, 2, "slow_at", 500)
    question = {
        "on": "second",
        "left": hg.Side(time="fast_at", window="30 seconds"),
        "right": hg.Side(time="slow_at", window="30 seconds"),
        "budget": hg.Budget(rows=10),
    }
    joins = [
        hg.WindowJoin(**question, policy=policy)
        for policy in ("random", "fifo", "lru", Hist("trend"), Heeb(FAST, SLOW))
    ]
    return {join.policy.label: join.run(fast, slow).recall for join in joins}


if __name__ == "__main__":
    for name, recall in recalls().items():
        print(f"{name:8} recall {recall:.3f}")
