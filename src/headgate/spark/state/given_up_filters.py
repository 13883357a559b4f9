"""The durable form of what outer, semi and anti joins know beside their rows.

Which rows have met a partner, and which are doubtful, is in the head (`settled_fates`); the filters
of given-up keys are tables of their own, written when they change.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from headgate.spark.state.local_copy import new_name
from headgate.spark.state.segments import Segment
from headgate.spark.state.stored_tables import StoredTables, TablePlace

LATEST = "latest"


def with_fates(segments: Sequence[Segment], live: np.ndarray) -> list[Segment]:
    """The segments of a side with the fates of their live rows, given in order."""
    ends = np.cumsum([np.count_nonzero(segment.alive) for segment in segments])
    updated = []
    for segment, own in zip(segments, np.split(live, ends[:-1]) if len(ends) else [], strict=True):
        fate = np.zeros(len(segment.alive), np.uint8)
        fate[segment.alive] = own
        updated.append(replace(segment, fate=fate))
    return updated


class GivenUpFilters:
    """Where the filters of both sides are stored."""

    def __init__(
        self, tables: StoredTables, kept: Sequence[TablePlace | None] = (None, None)
    ) -> None:
        self._tables = tables
        self.stored = list(kept)
        self._known = [b"", b""]

    @property
    def names(self) -> list[str]:
        """Names of the tables in use."""
        return [each.name for each in self.stored if each is not None]

    def read(self) -> tuple[bytes, bytes]:
        """The filters as the last batch left them; empty where there is none."""
        self._known = [
            b"" if each is None else self._tables.get(each).column(LATEST).to_numpy().tobytes()
            for each in self.stored
        ]
        return self._known[0], self._known[1]

    def write(self, filters: tuple[bytes, bytes], batch: int) -> None:
        """Store the filters that have changed."""
        for side, now in enumerate(filters):
            if now == self._known[side]:
                continue
            before = self.stored[side]
            if before is not None:
                self._tables.remove(before)
            table = pa.table({LATEST: np.frombuffer(now, np.int64)})
            self.stored[side] = self._tables.put(new_name(batch), table) if now else None
            self._known[side] = now
