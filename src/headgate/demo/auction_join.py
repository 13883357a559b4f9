"""The join of the made-up auctions with their bids, and the model that explains it."""

import numpy as np

from headgate.api.window_join import WindowJoin
from headgate.demo.auctions import WINDOW_US, AuctionStream, bid_ages_us
from headgate.models import AgeCurves
from headgate.policies import Policy
from headgate.spec import Budget, Side

AGE_BUCKETS = 40


def auction_join(budget: Budget, policy: str | Policy = "auto") -> WindowJoin:
    """Bids with the auction they bid in; an auction waits ten minutes."""
    return WindowJoin(
        left_on="id",
        right_on="auction",
        left=Side(time="opened_at", window="10 minutes"),
        right=Side(time="bid_at", window="0 seconds"),
        budget=budget,
        policy=policy,
    )


def count_ages(stream: AuctionStream) -> AgeCurves:
    """Count bids by the age of their auction; bids are not stored."""
    bids, _ = np.histogram(bid_ages_us(stream), bins=AGE_BUCKETS, range=(0, WINDOW_US))
    return AgeCurves.of_buckets((WINDOW_US, 0), (bids / stream.auctions.num_rows, (0,)))
