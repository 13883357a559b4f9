"""Two complete streams as the join will process them: rows in event order, and their matches."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from headgate.columns.casting import cast_to
from headgate.columns.key_codes import encode_together
from headgate.columns.times import NO_TIME, microseconds
from headgate.spec import Keys, RowWindow, Side, SpecError, Window
from headgate.spec.compared_types import Named, compared_as

LEFT, RIGHT = 0, 1


@dataclass(frozen=True, eq=False)
class Events:
    """The rows of one side, in any order.

    Parameters
    ----------
    time
        Microseconds.
    key
        Codes, equal for equal keys of both sides; below 0 for a null, which matches nothing.

    Examples
    --------
    >>> Events([5, 7], [0, 1])
    Events(2 rows)
    """

    time: np.ndarray
    key: np.ndarray

    def __init__(self, time: Any, key: Any) -> None:
        for name, given in (("time", time), ("key", key)):
            array = np.asarray(given)
            if array.ndim != 1 or not (np.issubdtype(array.dtype, np.integer) or not array.size):
                raise SpecError(
                    f"{name}={given!r} is not accepted: give a whole number a row (times in "
                    f"microseconds, keys as codes that are equal for equal keys)"
                )
            object.__setattr__(self, name, array.astype(np.int64))
        if len(self.time) != len(self.key):
            raise SpecError(
                f"there are {len(self.time)} times and {len(self.key)} keys: give one of each a row"
            )

    def __repr__(self) -> str:
        return f"Events({len(self.time):,} rows)"


def events_of_tables(
    tables: tuple[pa.Table, pa.Table], keys: Keys, sides: tuple[Side, Side]
) -> tuple[Events, Events]:
    """Both sides' rows out of Arrow tables; those without a time are left out, as the join does.

    Examples
    --------
    >>> table = pa.table({"user": ["a", "b"], "at": pa.array([1, 2], pa.timestamp("us"))})
    >>> side = Side(time="at", window="1 second")
    >>> left, right = events_of_tables((table, table.slice(1)), Keys.parse("user"), (side, side))
    >>> left.key.tolist(), right.key.tolist(), right.time.tolist()
    ([0, 1], [1], [2])
    """
    for which, table, names, side in zip(
        ("left", "right"), tables, (keys.left, keys.right), sides, strict=True
    ):
        for name in (*names, side.time):
            if name not in table.column_names:
                has = ", ".join(table.column_names)
                raise SpecError(f'the {which} side has no column "{name}": it has {has}')

    def named(side: int, name: str) -> Named:
        return Named(("left", "right")[side], name, tables[side].column(name).type)

    compared_as("time", named(0, sides[0].time), named(1, sides[1].time))
    times = [microseconds(table.column(at.time)) for table, at in zip(tables, sides, strict=True)]
    columns: tuple[list[pa.ChunkedArray], list[pa.ChunkedArray]] = ([], [])
    for pair in zip(keys.left, keys.right, strict=True):
        kind = compared_as("key", named(0, pair[0]), named(1, pair[1]))
        for own, table, name in zip(columns, tables, pair, strict=True):
            own.append(cast_to(table.column(name), kind))
    codes, _ = encode_together(columns)
    left, right = (
        Events(time[time != NO_TIME], code[time != NO_TIME])
        for time, code in zip(times, codes, strict=True)
    )
    return left, right


class Course(NamedTuple):
    """All rows in event order; one entry per event."""

    side: np.ndarray
    key: np.ndarray
    """From 0 on, below 0 for none."""
    last: np.ndarray
    """The last event at which the row can match; before its own where no row can match it."""
    number: np.ndarray
    """Of the row among its side's rows, as given."""

    @classmethod
    def of(cls, left: Events, right: Events, windows: tuple[Window, Window]) -> "Course":
        """Put rows in event order: by time, left before right, then as given.

        Examples
        --------
        >>> from headgate.spec import TimeWindow
        >>> course = Course.of(
        ...     Events([1, 3], [7, 7]), Events([3], [7]), (TimeWindow(2), TimeWindow(0))
        ... )
        >>> course.side.tolist(), course.last.tolist()
        ([0, 0, 1], [2, 2, 1])
        """
        time = np.concatenate([left.time, right.time])
        side = np.repeat(np.array([LEFT, RIGHT]), [len(left.time), len(right.time)])
        given = np.concatenate([left.key, right.key])
        _, key = np.unique(given, return_inverse=True)
        key = np.where(given < 0, -1, key)
        number = np.concatenate([np.arange(len(left.time)), np.arange(len(right.time))])
        order = np.argsort(2 * time + side, kind="stable")
        clock = (2 * time + side)[order]
        side, key, number = side[order], key[order], number[order]
        last = np.empty(len(order), np.int64)
        for which, window in enumerate(windows):
            own = np.flatnonzero(side == which)
            if isinstance(window, RowWindow):
                # It matches until a row arrives that pushes it out of the window.
                last[own] = len(order) - 1
                last[own[: max(len(own) - window.rows, 0)]] = own[window.rows :] - 1
            else:
                # Its last partner is of the other side, hence of the other parity.
                latest = 2 * (time[order][own] + window.us) + 1 - which
                last[own] = np.searchsorted(clock, latest, side="right") - 1
        return cls(side, key, last, number)

    @property
    def events(self) -> int:
        """How many rows there are."""
        return len(self.side)

    def by_key(self, side: int) -> np.ndarray:
        """The rows of a side by key, then event, each as ``key * events + event``; nulls left out.

        A binary search in it finds the next row of a key.
        """
        own = np.flatnonzero((self.side == side) & (self.key >= 0))
        return np.sort(self.key[own] * self.events + own)


def meetings(course: Course, sides: tuple[int, ...] = (LEFT, RIGHT)) -> tuple[np.ndarray, ...]:
    """Every match of the rows of ``sides``: the event of the row, and of its later partner.

    In order of both. Takes memory for all of them.

    Examples
    --------
    >>> from headgate.spec import TimeWindow
    >>> windows = TimeWindow(9), TimeWindow(9)
    >>> course = Course.of(Events([1, 4], [7, 7]), Events([2, 3], [7, 7]), windows)
    >>> [events.tolist() for events in meetings(course)]
    [[0, 0, 1, 2], [1, 2, 3, 3]]
    """
    rows, partners = [], []
    for side in sides:
        others = course.by_key(1 - side)
        own = np.flatnonzero((course.side == side) & (course.key >= 0))
        base = course.key[own] * course.events
        first = np.searchsorted(others, base + own)
        end = np.searchsorted(others, base + np.maximum(course.last[own], own), side="right")
        count = end - first
        each = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        rows.append(np.repeat(own, count))
        partners.append(others[np.repeat(first, count) + each] % max(course.events, 1))
    row, partner = np.concatenate(rows), np.concatenate(partners)
    order = np.argsort(row, kind="stable")
    return row[order], partner[order]
