"""Shards for a band without keys: splits the range of values into cells, with copies at borders.

Rows of one side go to the shard of their cell; rows of the other side go to every shard with a cell
that may hold matches. So each pair is found in exactly one shard. Cells are assigned to shards
round-robin, so the range need not be known in advance.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from headgate.columns.row_source import RowSource, cuts
from headgate.engine.condition import Condition
from headgate.spec import SpecError, TimeWindow, Window

BANDS_A_CELL = 4
"""Cells this many times as wide as the band: about a fourth of the copied side's rows lie near a
border and go to two shards."""
FARTHEST_CELL = 1 << 52
"""Where real numbers stop telling neighbouring cells apart; values beyond share the last one."""
SLACK = 1e-15
"""More than rounding can move a sum of two real numbers, as a fraction of them."""
INT64 = np.iinfo(np.int64)
LABEL_COLUMN = "label"


@dataclass(frozen=True)
class BandCells:
    """Assigns rows to shards.

    Parameters
    ----------
    condition
        The band.
    shards
        How many shards there are.
    copied
        The side whose rows may go to several shards.
    """

    condition: Condition
    shards: int
    copied: int

    @classmethod
    def of(
        cls, condition: Condition | None, windows: tuple[Window, Window], shards: int
    ) -> "BandCells | None":
        """Build the assignment, or None for one shard; raise if a row's matches may be anywhere.

        Copies are stored like any row, so the side with the shorter window is copied.
        """
        if shards == 1:
            return None
        if condition is None or not condition.relation.is_band:
            raise SpecError(
                f"shards={shards}: without keys, and without both limits of a Band, any two rows "
                f"may match and must be in one place: use one shard, or give keys with on="
            )
        return cls(condition, shards, copied_side(windows))

    def route(self, column: pa.ChunkedArray, side: int) -> tuple[np.ndarray, np.ndarray]:
        """For each copy to send: the index of its row, and the number of its shard.

        Examples
        --------
        >>> from headgate.spec import Band
        >>> band = Condition.of(Band("x", lower=0, upper=5), (pa.int64(), pa.int64()))
        >>> spread = BandCells(band, shards=3, copied=1)
        >>> [part.tolist() for part in spread.route(pa.chunked_array([[18, 21, 39]]), side=0)]
        [[0, 1, 2], [0, 1, 1]]
        >>> [part.tolist() for part in spread.route(pa.chunked_array([[18, 21, 39]]), side=1)]
        [[0, 1, 1, 2], [0, 0, 1, 1]]
        """
        numbers, missing = self.condition.numbers(column, side)
        first, last = self._cells(numbers, side)
        # Rows that match nothing are counted by exactly one shard.
        copies = np.where(missing, 1, np.minimum(last - first + 1, self.shards))
        rows = np.repeat(np.arange(len(numbers)), copies)
        begins = np.cumsum(copies) - copies
        cell = np.repeat(first, copies) + (np.arange(len(rows)) - np.repeat(begins, copies))
        return rows, np.mod(cell, self.shards)

    @property
    def width(self) -> int | float:
        """The width of a cell."""
        relation = self.condition.relation
        wide = BANDS_A_CELL * max(relation.upper - relation.lower, 0) or 1
        return wide if relation.real else min(wide, int(INT64.max))

    def _cells(self, numbers: np.ndarray, side: int) -> tuple[np.ndarray, np.ndarray]:
        """The first and last cell that each row goes to."""
        if side != self.copied:
            own = self._cell(numbers)
            return own, own
        relation = self.condition.relation
        seen_from = relation if side == 0 else relation.mirrored()
        below = self._moved(numbers, seen_from.lower, -1)
        above = self._moved(numbers, seen_from.upper, 1)
        first = self._cell(below)
        return first, np.maximum(first, self._cell(above))

    def _cell(self, numbers: np.ndarray) -> np.ndarray:
        """The cell of each number; all that matters is that it never falls as numbers rise."""
        if not self.condition.relation.real:
            return np.asarray(numbers // np.int64(self.width))
        with np.errstate(invalid="ignore", over="ignore"):
            cells = np.clip(np.floor(numbers / self.width), -FARTHEST_CELL, FARTHEST_CELL)
        return np.asarray(np.nan_to_num(cells), np.int64)

    def _moved(self, numbers: np.ndarray, by: int | float, outwards: int) -> np.ndarray:
        """Add a limit to numbers: floats with a small margin, integers clamped to 64 bits."""
        if self.condition.relation.real:
            with np.errstate(invalid="ignore", over="ignore"):
                slack = SLACK * (np.abs(numbers) + abs(by))
                return np.asarray(numbers + by + outwards * slack)
        within = (INT64.min - min(by, 0), INT64.max - max(by, 0))
        return np.asarray(np.clip(numbers, *within) + np.int64(by))


def copied_side(windows: tuple[Window, Window]) -> int:
    """The side whose rows may go to several shards: the one that waits less."""
    return 0 if windows[0].span < windows[1].span else 1


def can_spread_freely(condition: Condition | None, windows: tuple[Window, Window]) -> bool:
    """Whether several shards cost almost no budget, because copied rows are not stored.

    If copies are stored, they might take a quarter of the memory, so the user has to ask for it.
    """
    if condition is None or not condition.relation.is_band:
        return False
    return any(isinstance(window, TimeWindow) and window.span == 0 for window in windows)


@dataclass(frozen=True)
class Labelled:
    """Labels the rows of a bounded side with their shards; run by ``mapInArrow``."""

    spread: BandCells
    side: int
    labels: tuple[int, ...]
    place: int
    """Of the column that the condition looks at."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            table = pa.Table.from_batches([batch])
            rows, shard = self.spread.route(table.column(self.place), self.side)
            label, source = np.array(self.labels, np.int32)[shard], RowSource(table)
            for part in cuts(source.sizes[rows]):
                sent = source.take(rows[part]).append_column(LABEL_COLUMN, pa.array(label[part]))
                yield from sent.combine_chunks().to_batches()
