"""TTL: evict rows past a time to live shorter than their window, like a state TTL."""

from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar

from headgate.policies.kinds.age_score import AgeScore, Piece
from headgate.spec import SpecError, TimeWindow, Window
from headgate.spec.quantity import parse_duration_us


@dataclass(frozen=True)
class Ttl(AgeScore):
    """Evict rows past their time to live; keep younger rows.

    A row younger than ``after`` is never evicted; while all rows are younger, arrivals are refused.

    Parameters
    ----------
    after
        The time to live ("10 minutes"); half the side's window when not given.

    Examples
    --------
    >>> Ttl("10 minutes").label
    'TTL'
    """

    after: str | timedelta | None = None

    name: ClassVar[str] = "ttl"

    def __post_init__(self) -> None:
        if self.after is not None:
            parse_duration_us(self.after, "time to live")

    def check(self, windows: tuple[Window, Window]) -> None:
        """Require ``after`` for a row window, which has no duration to halve."""
        if self.after is None and not all(isinstance(w, TimeWindow) for w in windows):
            raise SpecError('policy "ttl" on a row window needs a time: give Ttl("10 minutes")')

    def pieces(self, side: int, window: Window) -> tuple[Piece, ...]:
        """Young rows score higher the older they are; rows past the time to live score lowest."""
        after = window.span / 2 if self.after is None else parse_duration_us(self.after, "ttl")
        if after == 0:
            return (Piece(age=0.0, start=-1.0, slope=-1.0),)
        return (Piece(age=0.0, start=0.0, slope=1.0), Piece(age=after, start=-after, slope=-1.0))
