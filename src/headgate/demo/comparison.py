"""Compares every policy at several memory sizes with the exact join, in process, on one input."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headgate.api.window_join import WindowJoin
from headgate.demo.auctions import WINDOW_US, AuctionStream, bid_ages_us
from headgate.engine.outcome import Outcome
from headgate.models import AgeCurves
from headgate.policies import ALL_POLICIES, Age, Learned, Policy, make_policy
from headgate.spec import Budget, Side
from headgate.spec.budget import AMPLE

AGE_BUCKETS = 40
AUTO = Learned("auto")
PERCENTS = (5, 10, 20, 50)
"""Memory sizes compared, in percent of the rows the exact join stores."""


@dataclass(frozen=True)
class Result:
    """Recall and memory of one policy at one memory size."""

    label: str
    percent: int
    recall: float
    peak_rows: int


@dataclass(frozen=True)
class Exact:
    """Memory and result of the exact join."""

    pairs: int
    peak_rows: int

    def budget(self, percent: float) -> Budget:
        """A budget of that share of the exact join's stored rows, at least one row."""
        return Budget(rows=max(1, round(self.peak_rows * percent / 100)))


def auction_join(budget: Budget, policy: str | Policy = "auto") -> WindowJoin:
    """The join of the demo: bids with the auction they bid in, open for ten minutes."""
    return WindowJoin(
        left_on="id",
        right_on="auction",
        left=Side(time="opened_at", window="10 minutes"),
        right=Side(time="bid_at", window="0 seconds"),
        budget=budget,
        policy=policy,
    )


def contenders(stream: AuctionStream) -> dict[str, Policy]:
    """The policies to compare, by the name the table prints.

    Policies that need a model learn it as they run; AGE is also given the true one, to see what
    learning costs.
    """
    named: dict[str, Policy] = {f"{AUTO.label} *": AUTO}
    for policy in ALL_POLICIES:
        made = make_policy(policy.name)
        named[f"{made.label} *" if policy.model else made.label] = made
        if policy is Age:
            named["AGE, told"] = Age(count_ages(stream))
    return named


def count_ages(stream: AuctionStream) -> AgeCurves:
    """Count bids by the age of their auction; bids are not stored."""
    bids, _ = np.histogram(bid_ages_us(stream), bins=AGE_BUCKETS, range=(0, WINDOW_US))
    return AgeCurves.of_buckets((WINDOW_US, 0), (bids / stream.auctions.num_rows, (0,)))


def run_exact(stream: AuctionStream) -> Exact:
    """Run the join with unlimited memory."""
    stats = _run(stream, AMPLE, "fifo").stats
    return Exact(stats.pairs, stats.peak_rows)


def compare(
    stream: AuctionStream, exact: Exact, percents: tuple[int, ...] = PERCENTS
) -> Iterator[Result]:
    """Run every policy at every memory size."""
    for label, policy in contenders(stream).items():
        for percent in percents:
            outcome = _run(stream, exact.budget(percent), policy)
            yield Result(label, percent, outcome.recall, outcome.stats.peak_rows)


def _run(stream: AuctionStream, budget: Budget, policy: str | Policy) -> Outcome:
    # A budget in rows ignores the other columns, and results are built faster without them.
    return auction_join(budget, policy).run(
        stream.auctions.select(["id", "opened_at"]), stream.bids.select(["auction", "bid_at"])
    )
