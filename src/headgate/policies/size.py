"""SIZE: keep the rows that have made the most pairs."""

from dataclasses import dataclass
from typing import Any, ClassVar

from headgate.policies.kinds.history_score import HistoryScore, history_score


@history_score
def pairs_made(matches: int, touched: int, time: int, parameter: float) -> float:
    """Pairs made so far, on arrival or since."""
    return float(matches)


@dataclass(frozen=True)
class Size(HistoryScore):
    """Evict the row that has made the fewest pairs so far, the oldest of equals.

    A semantic approximation of the largest output: rows that matched often will match again. It
    ignores importance. Unlike under `Lfu`, an arrival that made fewer pairs than any stored row is
    refused.

    Examples
    --------
    >>> Size().label
    'SIZE'

    References
    ----------
    Kulkarni and Ravishankar, iJoin, section 5; after Das, Gehrke, Riedewald, SIGMOD 2003.
    """

    name: ClassVar[str] = "size"
    keeps_matched: ClassVar[bool] = True
    rescore: ClassVar[Any] = pairs_made
