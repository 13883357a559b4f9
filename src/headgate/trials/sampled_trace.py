"""Samples the rows of two tables: those of some keys, or of some time stretches."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from headgate.columns.hashing import hash_keys
from headgate.columns.row_sizes import row_bytes
from headgate.columns.times import NO_TIME, microseconds
from headgate.engine.bound_columns import BoundColumns
from headgate.engine.request import Request
from headgate.engine.shape import Shape
from headgate.spec import RowWindow
from headgate.trials.draw import EVERY_ROW, STORED, Draw
from headgate.trials.stretches import Stretches, choose_stretches


class WholeTrace(NamedTuple):
    """Totals of each side before sampling."""

    rows: tuple[int, int]
    bytes: tuple[int, int]

    @classmethod
    def of(cls, tables: tuple[pa.Table, pa.Table]) -> "WholeTrace":
        """Count the tables."""
        sizes = [int(row_bytes(table).sum()) for table in tables]
        return cls((tables[0].num_rows, tables[1].num_rows), (sizes[0], sizes[1]))


@dataclass(frozen=True, eq=False)
class SampledTrace:
    """The sampled rows, whether drawn in process or on Spark.

    Attributes
    ----------
    tables
        The rows of each side.
    draw
        Which rows were taken.
    stored
        For each row of a side, whether it is stored; None where all are.
    hashes
        Hash of each row's key, as used by the draw; None where all keys were taken.
    counts
        For each row of a side, whether the pairs it finds count; None where all do.
    """

    tables: tuple[pa.Table, pa.Table]
    draw: Draw = EVERY_ROW
    stored: tuple[np.ndarray, np.ndarray] | None = None
    hashes: tuple[np.ndarray, np.ndarray] | None = None
    counts: tuple[np.ndarray, np.ndarray] | None = None


def stores(request: Request) -> tuple[bool, bool]:
    """Whether rows of each side are stored: with a window, or right rows if neither has one."""
    left, right = request.windows
    return left.span > 0, right.span > 0 or not left.span


def bound_to(request: Request, tables: tuple[pa.Table, pa.Table]) -> BoundColumns:
    """The join bound to these tables' columns, checked."""
    return request.bind((tables[0].schema, tables[1].schema), shows_result=False)


def hashed(shape: Shape, table: pa.Table, side: int) -> tuple[np.ndarray, np.ndarray]:
    """The hash of each row's key, and whether it has one; without key columns all hash alike."""
    if not shape.keys.left:
        return np.zeros(table.num_rows, np.uint64), np.ones(table.num_rows, np.bool_)
    return hash_keys(shape.key_columns(table, side))


def drawn_rows(
    tables: tuple[pa.Table, pa.Table], told: list[tuple[np.ndarray, np.ndarray]], draw: Draw
) -> SampledTrace:
    """The rows that a draw takes, given each row's hash and whether it has a key."""
    done = [draw.taken(*side, which) for which, side in enumerate(told)]
    kept = [np.flatnonzero(side) for side in done]
    return SampledTrace(
        (tables[0].take(pa.array(kept[0])), tables[1].take(pa.array(kept[1]))),
        draw,
        (done[0][kept[0]] == STORED, done[1][kept[1]] == STORED),
        (told[0][0][kept[0]], told[1][0][kept[1]]),
    )


def stored_times(
    request: Request, tables: tuple[pa.Table, pa.Table], shape: Shape
) -> tuple[np.ndarray, ...] | None:
    """Times of all storable rows, for each side that stores rows; None for row-count windows."""
    sides = [side for side in (0, 1) if request.windows[side].span]
    if any(isinstance(request.windows[side], RowWindow) for side in sides):
        return None
    times = [microseconds(tables[side].column(shape.times[side])) for side in sides]
    return tuple(time[time != NO_TIME] for time in times)


def stretches_of(
    request: Request, tables: tuple[pa.Table, pa.Table], share: float, seed: int
) -> Stretches | None:
    """Time stretches with about this share of the rows; None where they would not help."""
    shape = bound_to(request, tables).shape
    if any(isinstance(window, RowWindow) and window.span for window in request.windows):
        return None
    times = [microseconds(table.column(at)) for table, at in zip(tables, shape.times, strict=True)]
    timed = [time[time != NO_TIME] for time in times]
    ends = [(int(time.min()), int(time.max())) for time in timed if len(time)]
    if not ends:
        return None
    first, last = min(low for low, _ in ends), max(high for _, high in ends)
    window = max(window.span for window in request.windows)
    return choose_stretches(first, last, window, share, seed)
