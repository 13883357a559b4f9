"""One input of a join: its event-time column and its window."""

from dataclasses import dataclass
from datetime import timedelta

from headgate.spec.errors import SpecError
from headgate.spec.window import Window, parse_window


@dataclass(frozen=True, init=False)
class Side:
    """One side of a window join.

    Parameters
    ----------
    time
        Name of the event-time column (a timestamp).
    window
        How long a row of this side waits for rows of the other: a duration ("5 days"), a
        `datetime.timedelta`, or a number of rows ("1000 rows": as long as it is among the last
        1000 rows of its own side). Zero means that rows do not wait and are never stored.

    Examples
    --------
    >>> Side(time="opened_at", window="5 days")
    Side(time="opened_at", window="5 days")
    """

    time: str
    window: Window

    def __init__(self, time: str, window: str | timedelta | Window) -> None:
        if not isinstance(time, str) or not time:
            raise SpecError(f"time {time!r} is not a column name: give the event-time column")
        object.__setattr__(self, "time", time)
        object.__setattr__(self, "window", parse_window(window))

    def __repr__(self) -> str:
        return f'Side(time="{self.time}", window="{self.window}")'
