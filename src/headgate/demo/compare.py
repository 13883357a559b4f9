"""Every policy at several memory sizes next to the exact join, in process, on the same data."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headgate.demo.auctions import WINDOW_US, AuctionStream, bid_ages_us
from headgate.join import Outcome, WindowJoin
from headgate.models import AgeCurves, Frequencies
from headgate.policies import ALL_POLICIES, Policy, make_policy
from headgate.spec import Budget, Side

AGE_BUCKETS = 40
PERCENTS = (5, 10, 20, 50)
"""Memory sizes compared, in percent of the rows the exact join stores."""
AMPLE = Budget(rows=1 << 40)


@dataclass(frozen=True)
class Result:
    """What one policy reached with one memory size."""

    policy: Policy
    percent: int
    recall: float
    peak_rows: int


@dataclass(frozen=True)
class Exact:
    """What the exact join takes and gives."""

    pairs: int
    peak_rows: int

    def budget(self, percent: float) -> Budget:
        """That share of the exact join's store, and at least a row."""
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


def named_policy(name: str, stream: AuctionStream) -> Policy:
    """A policy from its name; those that need a model count it on the stream."""
    needs = {policy.name: policy.model for policy in ALL_POLICIES}.get(name)
    if needs == "frequencies":
        return make_policy(name, frequencies=count_first_tenth(stream))
    return make_policy(name, ages=count_ages(stream) if needs == "ages" else None)


def count_ages(stream: AuctionStream) -> AgeCurves:
    """How auctions gather bids as they grow older; bids wait for nobody."""
    bids, _ = np.histogram(bid_ages_us(stream), bins=AGE_BUCKETS, range=(0, WINDOW_US))
    return AgeCurves.of_buckets((WINDOW_US, 0), (bids / stream.auctions.num_rows, (0,)))


def count_first_tenth(stream: AuctionStream) -> Frequencies:
    """Key frequencies among the first tenth of the arrivals."""
    end = stream.rows // 10
    return Frequencies.of_tables(
        stream.between("auctions", 0, end), stream.between("bids", 0, end), ["id"], ["auction"]
    )


def run_exact(stream: AuctionStream) -> Exact:
    """Join with memory to spare."""
    stats = _run(stream, AMPLE, "fifo").stats
    return Exact(stats.pairs, stats.peak_rows)


def compare(
    stream: AuctionStream, exact: Exact, percents: tuple[int, ...] = PERCENTS
) -> Iterator[Result]:
    """Run every policy at every size, policy after policy."""
    for kind in ALL_POLICIES:
        policy = named_policy(kind.name, stream)
        for percent in percents:
            outcome = _run(stream, exact.budget(percent), policy)
            yield Result(policy, percent, outcome.recall, outcome.stats.peak_rows)


def _run(stream: AuctionStream, budget: Budget, policy: str | Policy) -> Outcome:
    # A budget in rows does not look at the other columns; without them results are quick to make.
    return auction_join(budget, policy).run(
        stream.auctions.select(["id", "opened_at"]), stream.bids.select(["auction", "bid_at"])
    )
