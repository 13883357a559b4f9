"""At the end of a bounded input: rows still stored, and rows without a time, are decided."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from headgate.engine.placed_rows import PlacedRows
from headgate.engine.stats import Stats
from headgate.kernel.layout import Fate
from headgate.kernel.pair_block import PairBlock
from headgate.kernel.terms import Terms


class RowsAtEnd(NamedTuple):
    """Rows of one side without a partner, by their places in the payload."""

    side: int
    place: np.ndarray
    certain: np.ndarray

    def shown(self, undecided: bool) -> Iterator[PairBlock]:
        """The rows that come out: the certain ones, and the others where asked for."""
        out = np.ones(len(self.place), np.bool_) if undecided else self.certain
        if out.any():
            yield PairBlock.alone(self.side, self.place[out], self.certain[out])

    def counted(self, stats: Stats) -> Stats:
        """The stats of a join with these rows put out."""
        certain = int(np.count_nonzero(self.certain))
        return replace(
            stats,
            pairs=stats.pairs + certain,
            unmatched=stats.unmatched + certain,
            undecided=stats.undecided + len(self.place) - certain,
            importance=stats.importance + certain,
        )


def still_stored(terms: Terms, stored: tuple[PlacedRows, PlacedRows]) -> list[RowsAtEnd]:
    """Of the rows still stored, those without a partner; none in joins that leave them out.

    No row will come any more, so a row is certainly unmatched unless it is doubtful.
    """
    found = []
    for side, rows in enumerate(stored):
        if terms.how.outer[side] and len(rows):
            fate = rows.rows.fates
            alone = fate & Fate.MATCHED == 0
            found.append(RowsAtEnd(side, rows.place[alone], fate[alone] & Fate.DOUBTFUL == 0))
    return found


def without_time(terms: Terms, side: int, places: np.ndarray) -> list[RowsAtEnd]:
    """Rows whose time is null: they match nothing in any join."""
    if not (terms.how.outer[side] and len(places)):
        return []
    return [RowsAtEnd(side, places, np.ones(len(places), np.bool_))]
