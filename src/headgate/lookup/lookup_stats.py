"""What a lookup did: hits, misses, and what was asked of the table."""

from dataclasses import dataclass

import numpy as np

from headgate.engine.stats import in_turn
from headgate.kernel.layout import LEFT, Count


@dataclass(frozen=True)
class LookupStats:
    """Counts of a lookup so far; add the stats of two stretches to have those of both.

    Every stream row is a hit, a miss, one with an unknown key, or one with a null key.
    """

    rows: int = 0
    """Stream rows."""
    hits: int = 0
    """Rows whose table row was cached when they came."""
    misses: int = 0
    """Rows whose table row was not."""
    unknown: int = 0
    """Rows whose key the table does not have."""
    null_keys: int = 0
    asked: int = 0
    """Keys asked of the table, each counted once a query."""
    fetched: int = 0
    """Table rows it answered with."""
    queries: int = 0
    admitted: int = 0
    """Table rows that were stored in the cache."""
    evictions: int = 0
    """Cached rows given up for others."""
    refused: int = 0
    """Table rows not stored, since all cached rows were worth more, or they would never fit."""
    stored_rows: int = 0
    """Cached at the end."""
    stored_bytes: int = 0
    peak_rows: int = 0
    """Most rows cached at any moment."""
    peak_bytes: int = 0

    @classmethod
    def of_counts(
        cls, counts: np.ndarray, known: int, stored: tuple[int, int], **asked: int
    ) -> "LookupStats":
        """From the kernel's counts, the rows with known keys, and what was asked of the table."""
        hits = int(counts[Count.PAIRS].sum())
        return cls(
            hits=hits,
            misses=known - hits,
            admitted=int(counts[Count.ADMITTED, LEFT]),
            evictions=int(counts[Count.SHED, LEFT]),
            refused=int(counts[Count.REFUSED, LEFT]),
            stored_rows=stored[0],
            stored_bytes=stored[1],
            peak_rows=int(counts[Count.PEAK_ROWS, LEFT]),
            peak_bytes=int(counts[Count.PEAK_BYTES, LEFT]),
            **asked,
        )

    @property
    def hit_rate(self) -> float:
        """Hits as a share of hits and misses; 1 when there are neither."""
        return self.hits / (self.hits + self.misses) if self.hits + self.misses else 1.0

    def then(self, later: "LookupStats") -> "LookupStats":
        """The stats of this stretch and a later one together."""
        return in_turn(self, later)
