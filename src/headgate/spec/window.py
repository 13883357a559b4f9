"""How long a stored row waits for partners: a stretch of event time, or a number of rows."""

import re
from dataclasses import dataclass
from datetime import timedelta

from headgate.spec.errors import SpecError
from headgate.spec.quantity import format_duration, parse_duration_us

_ROWS = re.compile(r"\s*(-?[0-9][0-9_,]*)\s*rows?\s*")


@dataclass(frozen=True)
class TimeWindow:
    """A row waits `us` microseconds of event time, both ends included.

    Examples
    --------
    >>> str(TimeWindow(us=90_000_000))
    '90 seconds'
    """

    us: int

    @property
    def span(self) -> int:
        """The window's length in its own unit (microseconds)."""
        return self.us

    def __str__(self) -> str:
        return format_duration(self.us)


@dataclass(frozen=True)
class RowWindow:
    """A row waits while it is among the last `rows` rows of its side.

    Examples
    --------
    >>> str(RowWindow(1000))
    '1,000 rows'
    """

    rows: int

    def __post_init__(self) -> None:
        if self.rows < 0:
            raise SpecError(f"window of {self.rows} rows is negative: give zero or more rows")

    @property
    def span(self) -> int:
        """The window's length in its own unit (rows)."""
        return self.rows

    def __str__(self) -> str:
        return f"{self.rows:,} rows"


Window = TimeWindow | RowWindow


def parse_window(given: "str | timedelta | Window") -> Window:
    """A window from a text ("10 minutes", "1000 rows") or a `datetime.timedelta`.

    Examples
    --------
    >>> parse_window("10 minutes")
    TimeWindow(us=600000000)
    >>> parse_window("1000 rows")
    RowWindow(rows=1000)
    """
    if isinstance(given, TimeWindow | RowWindow):
        return given
    if isinstance(given, str) and (match := _ROWS.fullmatch(given)):
        return RowWindow(int(match.group(1).replace(",", "").replace("_", "")))
    return TimeWindow(parse_duration_us(given, "window"))
