"""Counts of a lookup: hits, misses, and queries to the table."""

from dataclasses import dataclass

import numpy as np

from headgate.engine.stats import in_turn
from headgate.kernel.layout import LEFT, Count
from headgate.metrics.metric_groups import LookupCounts


@dataclass(frozen=True)
class LookupStats(LookupCounts):
    """Counts of a lookup so far; the stats of two stretches add up.

    Every stream row is a hit, a miss, one with an unknown key, or one with a null key.

    Examples
    --------
    >>> stats = LookupStats(hits=6, misses=3)
    >>> stats.then(LookupStats(hits=3)).hit_rate
    0.75
    """

    @classmethod
    def of_counts(
        cls, counts: np.ndarray, known: int, stored: tuple[int, int], **asked: int
    ) -> "LookupStats":
        """Build stats from the kernel's counts, the rows with known keys, and the table queries."""
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
