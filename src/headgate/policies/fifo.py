"""FIFO: keep the most recent rows (the papers' RECENT)."""

from dataclasses import dataclass
from typing import ClassVar

from headgate.policies.kinds.age_score import AgeScore, Piece
from headgate.policies.policy import RanksBy
from headgate.spec import Window


@dataclass(frozen=True)
class Fifo(AgeScore):
    """Evict the oldest row: good where partners arrive soon, poor where they arrive late.

    Examples
    --------
    >>> Fifo().label
    'FIFO'

    References
    ----------
    RECENT in Srivastava and Widom, VLDB 2004, section 6.
    """

    name: ClassVar[str] = "fifo"
    ranks_by: ClassVar[RanksBy] = RanksBy.RECENCY
    caches: ClassVar[bool] = True

    def pieces(self, side: int, window: Window) -> tuple[Piece, ...]:
        """The score falls with age."""
        return (Piece(age=0.0, start=0.0, slope=-1.0),)
