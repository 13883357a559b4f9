"""UNTIL-EXPIRY: stored rows stay until their window has passed."""

from dataclasses import dataclass
from typing import ClassVar

from headgate.policies.kinds.age_score import AgeScore, Piece
from headgate.spec import Window


@dataclass(frozen=True)
class UntilExpiry(AgeScore):
    """Refuse arrivals while memory is full; never evict a stored row.

    Examples
    --------
    >>> UntilExpiry().label
    'UNTIL-EXPIRY'

    References
    ----------
    Srivastava and Widom, VLDB 2004, section 6.2.
    """

    name: ClassVar[str] = "until-expiry"

    def pieces(self, side: int, window: Window) -> tuple[Piece, ...]:
        """The score rises with age, so an arrival always scores lowest."""
        return (Piece(age=0.0, start=0.0, slope=1.0),)
