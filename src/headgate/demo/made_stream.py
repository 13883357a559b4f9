"""Two made-up sides of a stream, with the order in which the rows of both arrive."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from headgate.spec.quantity import SECOND_US

MINUTE_US = 60 * SECOND_US
START_US = 1_767_268_800 * SECOND_US
"""The event clock starts on 2026-01-01 at 12:00 UTC."""
INSTANT = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True, eq=False)
class MadeStream:
    """The sides, each in event order, are attributes of a subclass.

    Attributes
    ----------
    arrivals
        For each side, the number of each of its rows among the arrivals of both, ascending.
    """

    arrivals: dict[str, np.ndarray]

    @property
    def rows(self) -> int:
        """Rows of both sides."""
        return sum(len(numbers) for numbers in self.arrivals.values())

    def between(self, side: str, first: int, last: int) -> pa.Table:
        """A side's rows among the arrivals from number ``first`` up to, not including, ``last``."""
        start, end = np.searchsorted(self.arrivals[side], [first, last])
        return getattr(self, side).slice(int(start), int(end - start))


def numbered(left: tuple[str, np.ndarray], right: tuple[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Number the arrivals of two sides, given each one's name and its ascending times.

    Examples
    --------
    >>> numbered(("clicks", np.array([1, 5])), ("orders", np.array([3])))
    {'clicks': array([0, 2]), 'orders': array([1])}
    """
    order = np.argsort(np.concatenate([left[1], right[1]]), kind="stable")
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    return {left[0]: number[: len(left[1])], right[0]: number[len(left[1]) :]}
