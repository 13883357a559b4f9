"""Retries lost connections with exponential backoff and a limit."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from headgate.lookup.table_errors import ConnectionLost, TableUnreachable
from headgate.spec import SpecError

Answer = TypeVar("Answer")
_retried = Counter[int]()
"""By thread: a step counts the retries of its own queries."""


def retries_so_far() -> int:
    """How often this thread has tried again so far."""
    return _retried[threading.get_ident()]


@dataclass(frozen=True)
class Retry:
    """How often, and after what delays, to retry a lost connection.

    Each wait is twice the one before. The defaults wait 12.7 seconds in all, long enough for a
    database server to restart.

    Parameters
    ----------
    attempts
        Attempts in all; 1 to never retry.
    first_seconds
        The wait after the first attempt, in seconds.
    most_seconds
        The longest wait, in seconds.

    Examples
    --------
    >>> Retry(attempts=5, first_seconds=1, most_seconds=3).waits
    (1, 2, 3, 3)
    """

    attempts: int = 8
    first_seconds: float = 0.1
    most_seconds: float = 10.0

    def __post_init__(self) -> None:
        if (
            not isinstance(self.attempts, int)
            or isinstance(self.attempts, bool)
            or self.attempts < 1
        ):
            raise SpecError(
                f"attempts={self.attempts!r}: give a whole number of tries, one or more"
            )
        for name in ("first_seconds", "most_seconds"):
            given = getattr(self, name)
            is_number = isinstance(given, int | float) and not isinstance(given, bool)
            if not is_number or not 0 <= given < float("inf"):
                raise SpecError(f"{name}={given!r}: give a number of seconds, zero or more")

    @property
    def waits(self) -> tuple[float, ...]:
        """Seconds between the attempts."""
        return tuple(
            min(self.first_seconds * 2**number, self.most_seconds)
            for number in range(self.attempts - 1)
        )

    def call(
        self,
        attempt: Callable[[], Answer],
        table: str,
        sleep: Callable[[float], None] = time.sleep,
    ) -> Answer:
        """Return the result of the first attempt that does not raise `ConnectionLost`."""
        for wait in self.waits:
            try:
                return attempt()
            except ConnectionLost:
                _retried[threading.get_ident()] += 1
                sleep(wait)
        try:
            return attempt()
        except ConnectionLost as lost:
            tries = "once" if self.attempts == 1 else f"{self.attempts} times"
            raise TableUnreachable(
                f"{table} could not be reached, tried {tries}: {lost}. No result was lost or made "
                f"twice: start again when it is back, or give it longer with "
                f"retry=hg.Retry(attempts=...)"
            ) from None
