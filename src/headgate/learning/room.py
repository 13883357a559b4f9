"""The monitor's share of a budget, and what fits into it."""

from collections.abc import Iterator
from dataclasses import dataclass

from headgate.learning.key_counts import COUNT_BYTES, KeyRoom

MOST_WATCHED, MOST_KEYS = 4096, 3 << 15
"""More of them would tell little more, and all of them are written with every batch."""
MOST_ENTRIES = 1 << 30
MOST_TRIED = 1 << 14
WATCHED_A_ROW, KEYS_A_ROW, TRIED_A_ROW = 2, 6, 3
"""Watched rows, tracked keys, and rows that other policies are tried on, that count as a stored
row where only rows are limited; they have no payload, and less bookkeeping."""
WATCHED_BYTES, TRIED_BYTES = 56, 40
"""What a watched row, and a row that policies are tried on, takes beside the key."""


@dataclass(frozen=True)
class BudgetPart:
    """A part of a budget, in rows or bytes or both."""

    rows: int | None = None
    bytes: int | None = None

    def holds(self, a_row: int, entry_bytes: int) -> int:
        """How many entries fit, so many of which count as a row."""
        by_rows = MOST_ENTRIES if self.rows is None else self.rows * a_row
        by_bytes = MOST_ENTRIES if self.bytes is None else self.bytes // entry_bytes
        return min(by_rows, by_bytes)

    def shrunk(self, share: float) -> "BudgetPart":
        """So much of it."""
        rows, size = self
        return BudgetPart(
            None if rows is None else int(rows * share), None if size is None else int(size * share)
        )

    def __iter__(self) -> Iterator[int | None]:
        return iter((self.rows, self.bytes))


@dataclass(frozen=True)
class Room:
    """The monitor's share of a budget, and the seed for its random choices.

    Examples
    --------
    >>> Room(watched=BudgetPart(rows=50), keys=BudgetPart(bytes=1000)).most_keys
    62
    """

    watched: BudgetPart
    keys: BudgetPart
    seed: int = 0
    tried: BudgetPart = BudgetPart(rows=0)

    @property
    def rows(self) -> int:
        """Rows of a budget that it takes."""
        return sum(part.rows or 0 for part in (self.watched, self.keys, self.tried))

    @property
    def bytes(self) -> int:
        """Bytes of a budget that it takes."""
        return sum(part.bytes or 0 for part in (self.watched, self.keys, self.tried))

    def needed(self, by_key: bool) -> "Room":
        """What is needed of it once a policy has been settled on; by key, counts must be good."""
        keys = self.keys if by_key else self.keys.shrunk(0.2)
        return Room(self.watched.shrunk(0.5), keys, self.seed, self.tried.shrunk(0.5))

    def most_watched(self, key_bytes: int) -> int:
        """How many rows with keys of so many bytes may be watched at once."""
        return min(self.watched.holds(WATCHED_A_ROW, key_bytes + WATCHED_BYTES), MOST_WATCHED)

    @property
    def most_keys(self) -> int:
        """How many keys may be counted."""
        return min(self.keys.holds(KEYS_A_ROW, COUNT_BYTES), MOST_KEYS)

    @property
    def key_room(self) -> KeyRoom:
        """How many keys may be counted, and in what way."""
        return KeyRoom.of(self.most_keys)

    def most_tried(self, key_bytes: int) -> int:
        """How many rows with keys of so many bytes other policies may be tried on at once."""
        return min(self.tried.holds(TRIED_A_ROW, key_bytes + TRIED_BYTES), MOST_TRIED)
