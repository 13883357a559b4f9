"""The monitor's share of a budget, and what fits into it."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from headgate.learning.key_counts import COUNT_BYTES, KeyRoom
from headgate.models.density_classes import SHAPE

MOST_WATCHED, MOST_KEYS = 4096, 3 << 15
"""More of them would tell little more, and all of them are written with every batch."""
MOST_ENTRIES = 1 << 30
MOST_TRIED = 1 << 14
WATCHED_A_ROW, KEYS_A_ROW, TRIED_A_ROW = 2, 6, 3
"""Watched rows, tracked keys, and rows that other policies are tried on, that count as a stored
row where only rows are limited; they have no payload, and less bookkeeping."""
CLASS_BYTES = 24 * math.prod(SHAPE[1:])
"""What match density is learned in, for each side that waits: sums in single precision of the
epochs before, and whole numbers of the open one."""
WATCHED_BYTES, TRIED_BYTES, IMPORTANT_BYTES = 56, 40, 20
"""What a watched row, and a row that policies are tried on, takes beside the key; and how much more
where rows differ in importance."""


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

    def shrunk(self, share: float, least_rows: int = 0) -> "BudgetPart":
        """So much of it; of rows, no fewer than ``least_rows`` unless there are."""
        rows, size = self
        return BudgetPart(
            None if rows is None else max(int(rows * share), min(rows, least_rows)),
            None if size is None else int(size * share),
        )

    def without(self, rows: int, size: int) -> "BudgetPart":
        """What is left of it when some is taken for something else."""
        return BudgetPart(
            None if self.rows is None else self.rows - rows,
            None if self.bytes is None else self.bytes - size,
        )

    def counted(self, free: int) -> int:
        """Rows of it that count, where so many do not."""
        return max((self.rows or 0) - free, 0)

    def __iter__(self) -> Iterator[int | None]:
        return iter((self.rows, self.bytes))


class FreeRows(NamedTuple):
    """Rows of a monitor's parts that do not count where a budget is in rows."""

    watched: int = 0
    keys: int = 0
    tried: int = 0


NONE_FREE = FreeRows()
ALWAYS = FreeRows(watched=116, keys=128, tried=256)
"""232 watched rows, 768 counted keys and 768 rows of trials, at most 64 kB a shard: little beside a
process, and enough to learn from whatever the budget."""
WITH_COLUMNS = 384
"""Likewise of watched rows where columns tell: 768, half of them examples whose window has passed.
They take another 64 kB."""


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
    free: FreeRows = NONE_FREE
    tried_bytes: int = TRIED_BYTES
    """What a row that policies are tried on takes beside the key."""
    class_bytes: int = 0
    """For what rows meet by class, where match density is learned."""
    class_rows: int = 0
    """What that counts for where rows are limited."""
    tail_cells: int = 0
    """Cells of the sketch of keys that are not counted by themselves; see `KeyTail`."""
    tail_bytes: int = 0
    """For them, where bytes are limited."""
    tail_rows: int = 0
    """What they count for where rows are limited."""

    @property
    def rows(self) -> int:
        """Rows of a budget that it takes."""
        parts = (self.watched, self.keys, self.tried)
        counted = sum(part.counted(free) for part, free in zip(parts, self.free, strict=True))
        return counted + self.class_rows + self.tail_rows

    @property
    def bytes(self) -> int:
        """Bytes of a budget that it takes."""
        if self.watched.bytes is None:
            return 0
        parts = (self.watched, self.keys, self.tried)
        return sum(part.bytes or 0 for part in parts) + self.class_bytes + self.tail_bytes

    def needed(self, by_key: bool) -> "Room":
        """What is needed of it once a policy has been settled on; by key, counts must be good, and
        watched rows tell what rare keys are worth."""
        free, tells_rare = self.free, by_key and self.tail_cells > 0
        return replace(
            self,
            watched=self.watched if tells_rare else self.watched.shrunk(0.5, free.watched),
            keys=self.keys if by_key else self.keys.shrunk(0.2, free.keys),
            tried=self.tried.shrunk(0.5, free.tried),
        )

    @property
    def without_tail(self) -> "Room":
        """What is needed of it where rare keys cannot be told apart."""
        return replace(self, tail_cells=0, tail_bytes=0, tail_rows=0)

    @property
    def key_rows(self) -> float:
        """What counts of keys take, in rows of the budget."""
        if self.keys.rows is not None:
            return self.keys.counted(self.free.keys)
        return self.most_keys / KEYS_A_ROW

    def holds(self, facts: dict[str, Any]) -> bool:
        """Whether all that a room takes fits in it, which is given as `asdict` told it."""
        own = asdict(self)
        return own["seed"] == facts["seed"] and all(
            own[part][unit] is None
            or (facts[part][unit] is not None and facts[part][unit] <= own[part][unit])
            for part in ("watched", "keys", "tried")
            for unit in ("rows", "bytes")
        )

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
        return min(self.tried.holds(TRIED_A_ROW, key_bytes + self.tried_bytes), MOST_TRIED)
