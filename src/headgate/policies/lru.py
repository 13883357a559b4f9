"""LRU: keep the rows that matched most recently."""

from dataclasses import dataclass
from typing import Any, ClassVar

from headgate.policies.kinds.history_score import HistoryScore, history_score
from headgate.policies.policy import RanksBy


@history_score
def last_use(matches: int, touched: int, time: int, parameter: float) -> float:
    """Time of the last match, or of arrival."""
    return float(touched)


@dataclass(frozen=True)
class Lru(HistoryScore):
    """Evict the row whose last match, or arrival if it never matched, is longest ago.

    Examples
    --------
    >>> Lru().label
    'LRU'
    """

    name: ClassVar[str] = "lru"
    keeps_matched: ClassVar[bool] = True
    ranks_by: ClassVar[RanksBy] = RanksBy.RECENCY
    caches: ClassVar[bool] = True
    rescore: ClassVar[Any] = last_use
