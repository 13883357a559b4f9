"""LFU: keep the rows that matched most often."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from headgate.policies.kinds.history_score import HistoryScore, history_score


@history_score
def uses(matches: int, touched: int, time: int, parameter: float) -> float:
    """Matches so far."""
    return float(matches)


@dataclass(frozen=True)
class Lfu(HistoryScore):
    """Evict the row with the fewest matches while stored; among equals, the oldest.

    Every arrival is stored, as in a cache: it has no matches yet, so by its own score it would
    never be admitted once every stored row has matched.

    Examples
    --------
    >>> Lfu().label
    'LFU'

    References
    ----------
    In-cache LFU, which forgets a row's matches when it evicts the row; "perfect" LFU in Xie, Yang,
    Chen, SIGMOD 2005, section 8, remembers them.
    """

    share: float = field(default=1.0, repr=False)
    """Of the rows that it is tried on in miniature: an arrival finds that part of its partners."""

    name: ClassVar[str] = "lfu"
    keeps_matched: ClassVar[bool] = True
    rescore: ClassVar[Any] = uses
    takes_newcomers: ClassVar[bool] = True
    caches: ClassVar[bool] = True

    def in_miniature(self, stay_us: float, importance: float, share: float) -> "Lfu":
        """With partners found on arrival counted as in the whole join."""
        return replace(self, share=share)

    @property
    def arrival_counts(self) -> float:
        """As many partners as one that is found stands for."""
        return 1.0 / self.share
