"""Keys that are followed, in joins where rows of both sides wait and some come out unmatched.

A share of the keys is drawn (`KeyDraw`). Of a drawn key it is noted when its rows last came
(`KeysSeen`), and some or all of its rows are watched. So whether these have a partner is known,
whatever was given up.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headgate.kernel.key_draw import KeyDraw
from headgate.learning.cluster_sums import ClusterSums
from headgate.learning.keys_seen import Following, KeysSeen

BLOCK_WINDOWS = 2
"""Windows after which keys are drawn anew: seldom enough that few keys are followed for two blocks
at once, often enough that an interval narrows as time goes by."""


@dataclass
class FollowedKeys:
    """Which keys are followed, when they last came, and what their rows say of recall.

    Parameters
    ----------
    spans
        The windows' lengths, in microseconds.
    """

    spans: tuple[int, int]
    seed: int = 0
    share: float = 1.0
    """The chance with which keys are followed now."""
    counted: float = 1.0
    """The chance with which those were drawn that have been followed for a whole window: less,
    after more keys are followed than before."""
    within: float = 1.0
    """The chance with which a row of such a key is watched."""
    raised_us: int | None = None
    """The event time at which more keys were drawn than before; None when all are counted."""
    seen: KeysSeen = field(default_factory=KeysSeen.none)
    sums: tuple[ClusterSums, ClusterSums] = (ClusterSums(), ClusterSums())
    """What the watched rows of each side said, once none could meet them any more."""

    @property
    def block_us(self) -> int:
        """How long a draw of keys holds."""
        return max(BLOCK_WINDOWS * max(self.spans), 1)

    def rows(self, sides: tuple[bool, bool], hashes: np.ndarray) -> KeyDraw:
        """The draw of the rows that are watched by their key."""
        return KeyDraw(self.seed, self.counted, self.within, self.block_us, sides, hashes)

    def entered(self, sides: tuple[bool, bool]) -> Following:
        """The draw of the keys that are followed."""
        none = np.empty(0, np.uint64)
        return Following(
            KeyDraw(self.seed, self.share, 1.0, self.block_us, sides, none), self.spans
        )

    def follow(self, share: float) -> None:
        """Draw so many keys from now on, where that is fewer than before."""
        self.share, self.counted = share, min(self.counted, share)

    def follow_more(self, share: float, now_us: int) -> None:
        """Draw so many keys from now on; new ones count once a window has passed."""
        self.share, self.raised_us = share, now_us

    def count_new(self, now_us: int) -> None:
        """Count the keys drawn last, once they have been followed for a window."""
        if self.raised_us is None:
            # What an earlier version left has followed no keys.
            self.raised_us = None if self.counted == self.share else now_us
        elif now_us - self.raised_us > max(self.spans):
            self.counted, self.raised_us = self.share, None

    def facts(self) -> dict[str, Any]:
        """As plain numbers and text."""
        return {
            "share": self.share,
            "counted": self.counted,
            "within": self.within,
            "raised": self.raised_us,
            "seen": self.seen.facts(),
            "sums": [side.facts() for side in self.sums],
        }

    def recall_facts(self, given: dict[str, Any]) -> None:
        """Restore what `facts` gave."""
        self.share, self.counted = given["share"], given["counted"]
        self.within, self.raised_us = given["within"], given["raised"]
        self.seen = KeysSeen.of(given["seen"])
        left, right = (ClusterSums.of(side) for side in given["sums"])
        self.sums = (left, right)
