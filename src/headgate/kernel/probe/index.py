"""What an index is: a structure that a side's window may be kept in.

An index is a class in the file of its structure. Most know rows as entries and are told of them
late: what enters and leaves is noted, and they catch up before the next look into them, so that the
kernel carries a few stores at each of the many places where rows enter and leave, and takes half
as long to compile. They fill in `empty`, `insert`, `delete` and `find`. Those that lie in the
kernel's own records fill in `enter`, `leave` and `probe` instead.

The kernel branches to all that are in `INDEXES` (`index_list.py`, `indexes.py`).
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np

from headgate.compiling import inlined

ENTERS, LEAVES = np.int64(0), np.int64(1)
ONE = np.int64(1)


class Room(NamedTuple):
    """What an index must have room for."""

    rows: tuple[int, int]  # of each side; 0 where it is kept in another index
    total: int  # of both sides, whatever they are kept in; 0 where neither is kept in this one
    buckets: tuple[int, int]  # of each side, where rows are hashed
    node_rows: int  # entries of a tree's node


class Entry(NamedTuple):
    """A row that enters or leaves; numbers are whole, compiled or not."""

    side: Any
    code: Any  # equal for equal keys
    group: Any  # what entries are sorted by: the code, or the place by key and value
    row: Any
    mark: Any  # place on its window's own scale


class Look(NamedTuple):
    """What a probe looks for: rows of a side whose group is from ``first`` to before ``end``."""

    side: Any
    code: Any
    first: Any
    end: Any
    reach: Any  # marks below it need not be found


@inlined
def group_of(arrays: Any, row: int) -> Any:
    """What an index sorts or compares rows by: the place by key and value, or the key's code."""
    if arrays.terms[0].ranged:
        return np.int64(arrays.ranges.spots[row].place)
    return np.int64(arrays.rows[row].code)


@inlined
def note(arrays: Any, row: int, leaves: int) -> None:
    """Note for the row's index that it enters or leaves."""
    own = arrays.links[row]
    change = arrays.changes[arrays.terms[0].waiting]
    change.mark = own.mark
    change.row = row
    change.code = arrays.rows[row].code
    change.group = group_of(arrays, row)
    change.side = own.side
    change.leaves = leaves
    arrays.terms[0].waiting += ONE


@inlined
def note_entering(arrays: Any, row: int) -> None:
    """Enter a row, as soon as somebody looks."""
    arrays.links[row].indexed = 1
    note(arrays, row, ENTERS)


@inlined
def note_leaving(arrays: Any, row: int) -> None:
    """Take a row out, if it is there: its window may pass before the row comes."""
    if arrays.links[row].indexed:
        arrays.links[row].indexed = 0
        note(arrays, row, LEAVES)


class Index:
    """Base of all indexes."""

    name: ClassVar[str]
    is_offered: ClassVar[bool] = True
    """Whether it may be asked for by name."""
    hashes: ClassVar[bool] = False
    """Whether rows are spread over buckets."""
    ranged: ClassVar[bool] = False
    """Whether rows need places by key and value, even where keys alone decide."""

    @staticmethod
    def empty(room: Room) -> Any:
        """The index without rows: a tuple of arrays, handed to the verbs below as ``own``."""
        return ()

    insert: ClassVar[Any] = None
    """(own, entry) A row enters; None for an index in the kernel's own records."""
    delete: ClassVar[Any] = None
    """(own, entry) A row leaves."""
    find: ClassVar[Any] = None
    """(own, look, found, count) Write the rows looked for, from place ``count`` on; the new count.
    May find too many: whether they are stored and their time fits is looked at after."""

    enter: ClassVar[Any] = note_entering
    """(arrays, row) A row is to be found from now on."""
    leave: ClassVar[Any] = note_leaving
    """(arrays, row) A row is not to be found any more."""
    probe: ClassVar[Any] = None
    """(arrays, row, within, pairs, made) Write the row's partners, in the kernel's own records; the
    new end, or -1 when pairs is full. None where `find` does."""
