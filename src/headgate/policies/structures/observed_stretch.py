"""What a policy that observes its stored rows is told of a step, and when it learns from it.

It learns at the end of an *epoch*, which depends on the stream and the limits alone. What it is
told before is added up so that it comes out the same however arrivals are cut into steps.
"""

from typing import Any, NamedTuple

import numpy as np

from headgate.policies.policy import OBSERVED_ROWS, Arrivals
from headgate.spec.budget import UNLIMITED


class Departures(NamedTuple):
    """Rows that left after being stored, or whose window passed, in that order."""

    side: np.ndarray  # uint8
    offset: np.ndarray  # int64: offset of their value from the other stream on arrival
    matches: np.ndarray  # int32: pairs they made
    stayed_us: np.ndarray  # int64: how long they were stored within their window

    @classmethod
    def none(cls) -> "Departures":
        """No row left."""
        none = np.empty(0, np.int64)
        return cls(none.astype(np.uint8), none, none.astype(np.int32), none)


class Limits(NamedTuple):
    """What may be stored of both sides together."""

    rows: int
    bytes: int


class ObservedStretch(NamedTuple):
    """What a step brought."""

    arrivals: Arrivals
    """In event order."""
    departures: Departures
    bytes: int
    """Of the arrivals."""
    seen: int
    """Rows of both sides so far."""
    limits: Limits

    def next_end(self, memory: dict[str, Any], total_bytes: int) -> int | None:
        """If an epoch ends with this stretch, the rows so far at which the next will; else None.

        Parameters
        ----------
        memory
            What the policy remembers of the steps before.
        total_bytes
            Of all arrivals so far.

        Examples
        --------
        >>> nothing = Arrivals(*5 * [np.empty(0)]), Departures.none()
        >>> limits = Limits(500, UNLIMITED)
        >>> ObservedStretch(*nothing, bytes=0, seen=200, limits=limits).next_end({}, 0)
        >>> ObservedStretch(*nothing, bytes=0, seen=256, limits=limits).next_end({}, 0)
        768
        """
        if self.seen < memory.get("until", OBSERVED_ROWS):
            return None
        capacity = self.limits.rows
        if self.limits.bytes < UNLIMITED and total_bytes:
            capacity = min(capacity, self.limits.bytes * self.seen // total_bytes)
        return self.seen + max(OBSERVED_ROWS, 2 * min(self.seen, capacity))
