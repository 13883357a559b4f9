"""JOIN-TO-LIVE: evict rows that have matched often enough."""

from dataclasses import dataclass
from typing import Any, ClassVar

from headgate.policies.kinds.history_score import HistoryScore, history_score
from headgate.spec import SpecError


@history_score
def unmatched_first(matches: int, touched: int, time: int, parameter: float) -> float:
    """The row's time; rows with enough matches rank below all others, oldest lowest."""
    if matches >= parameter:
        return float(time) - 2.0**60
    return float(time)


@dataclass(frozen=True)
class JoinToLive(HistoryScore):
    """Evict rows that have matched ``matches`` times first, then the oldest.

    Parameters
    ----------
    matches
        Number of matches after which a row may be evicted before others.

    Examples
    --------
    >>> JoinToLive(matches=2).label
    'JOIN-TO-LIVE'
    """

    matches: int = 1

    name: ClassVar[str] = "join-to-live"
    rescore: ClassVar[Any] = unmatched_first

    def __post_init__(self) -> None:
        if not isinstance(self.matches, int) or self.matches < 1:
            raise SpecError(f"matches {self.matches!r}: give a whole number, one or more")

    @property
    def parameter(self) -> float:
        """Number of matches after which a row goes first."""
        return float(self.matches)
