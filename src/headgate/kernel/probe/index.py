"""Base class of the indexes over a side's window.

An index is a class in the file of its structure. Most are updated lazily: inserts and deletes are
logged and applied before the next probe. The many places where rows enter and leave then need only
a few stores, and the kernel compiles in half the time. Such an index implements `empty`, `insert`,
`delete` and `find`. An index within the kernel's own records implements `enter`, `leave` and
`probe` instead.

The kernel dispatches to all indexes in `INDEXES` (`index_list.py`, `indexes.py`).
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np

from headgate.compiling import compiled

ENTERS, LEAVES = np.int64(0), np.int64(1)
ONE = np.int64(1)


class IndexRoom(NamedTuple):
    """The capacity that an index must allocate."""

    rows: tuple[int, int]  # of each side; 0 where the side has another index
    total: int  # of both sides, whatever their index; 0 where neither has this one
    buckets: tuple[int, int]  # of each side, where rows are hashed
    node_rows: int  # entries of a tree's node


class IndexEntry(NamedTuple):
    """A row to insert or delete; all fields are integers, compiled or not."""

    side: Any
    code: Any  # equal for equal keys
    group: Any  # what entries are sorted by: the code, or the place by key and value
    row: Any
    mark: Any  # place on its window's own scale


class Look(NamedTuple):
    """A probe's request: rows of a side whose group is from ``first`` to before ``end``."""

    side: Any
    code: Any
    first: Any
    end: Any
    reach: Any  # marks below it need not be found


@compiled
def group_of(arrays: Any, row: int) -> Any:
    """The sort key of a row in an index: its rank by key and value, or the key's code."""
    if arrays.terms[0].ranged:
        return np.int64(arrays.ranges.spots[row].place)
    return np.int64(arrays.rows[row].code)


@compiled
def note(arrays: Any, row: int, leaves: int) -> None:
    """Log an insert or delete for the row's index."""
    own = arrays.links[row]
    change = arrays.changes[arrays.terms[0].waiting]
    change.mark = own.mark
    change.row = row
    change.code = arrays.rows[row].code
    change.group = group_of(arrays, row)
    change.side = own.side
    change.leaves = leaves
    arrays.terms[0].waiting += ONE


@compiled
def note_entering(arrays: Any, row: int) -> None:
    """Log an insert, applied before the next probe."""
    arrays.links[row].indexed = 1
    note(arrays, row, ENTERS)


@compiled
def note_leaving(arrays: Any, row: int) -> None:
    """Log a delete, if the row is indexed: a late row's window may pass before it arrives."""
    if arrays.links[row].indexed:
        arrays.links[row].indexed = 0
        note(arrays, row, LEAVES)


class Index:
    """Base of all indexes."""

    name: ClassVar[str]
    is_offered: ClassVar[bool] = True
    """Whether users can request it by name."""
    hashes: ClassVar[bool] = False
    """Whether rows are spread over buckets."""
    ranged: ClassVar[bool] = False
    """Whether rows need ranks by key and value, even where the join is on keys alone."""

    @staticmethod
    def empty(room: IndexRoom) -> Any:
        """An empty index: a tuple of arrays, passed to the functions below as ``own``."""
        return ()

    insert: ClassVar[Any] = None
    """(own, entry) Insert a row; None for an index in the kernel's own records."""
    delete: ClassVar[Any] = None
    """(own, entry) Delete a row."""
    find: ClassVar[Any] = None
    """(own, look, found, count) Write the rows requested from index ``count`` on; the new count.
    May return too many: the caller checks whether rows are stored and within the window."""

    enter: ClassVar[Any] = note_entering
    """(arrays, row) Make a row visible to probes."""
    leave: ClassVar[Any] = note_leaving
    """(arrays, row) Hide a row from probes."""
    probe: ClassVar[Any] = None
    """(arrays, row, within, pairs, made) Write the row's partners; the new end, or -1 when pairs is
    full. For indexes in the kernel's own records; None where `find` is used."""
