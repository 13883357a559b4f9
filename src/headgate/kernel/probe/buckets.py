"""Hash index with shared buckets: each bucket is a chain from the newest row to the oldest.

Rows of several keys share a bucket. A probe walks it and compares keys, as far back as the window
reaches. A removed row is marked as deleted, and the next probe that visits it unlinks it, so expiry
is cheap. Kang, Naughton, Viglas, ICDE 2003, section 4.2: few buckets save memory, many save time.
"""

from typing import Any, NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.kernel.probe.index import Index, IndexEntry, IndexRoom, Look

NONE = np.int64(-1)
GONE = np.int64(-1)
ONE = np.int64(1)

LINK = np.dtype(
    [
        ("mark", "i8"),  # place on its window's own scale, as the kernel's
        ("group", "i4"),  # GONE where deleted
        ("older", "i4"),  # next in the bucket
    ],
    align=True,
)


class Buckets(NamedTuple):
    """The windows of both sides."""

    newest: np.ndarray  # int32 (side, bucket)
    links: np.ndarray  # LINK (row)
    sizes: np.ndarray  # int64 (side): buckets in use


def empty_buckets(buckets: tuple[int, int], rows: int) -> Buckets:
    """Allocate ``buckets`` empty buckets per side, for ``rows`` rows in total.

    Examples
    --------
    >>> buckets, found = empty_buckets((2, 2), 4), np.zeros(4, np.int64)
    >>> for code, row in ((7, 0), (5, 1), (7, 3)):
    ...     enter(buckets, IndexEntry(side=0, code=code, group=code, row=row, mark=10 + row))
    >>> sevens = Look(side=0, code=7, first=7, end=8, reach=11)
    >>> found[: find(buckets, sevens, found, 0)].tolist()
    [3]
    """
    most = max(1, *buckets)
    return Buckets(
        np.full((2, most), -1, np.int32),
        np.empty(rows, LINK),
        np.maximum(np.array(buckets, np.int64), 1),
    )


@compiled
def enter(buckets: Buckets, entry: IndexEntry) -> None:
    """Insert a row into its bucket: at the head, unless it is out of order."""
    bucket, links = entry.code % buckets.sizes[entry.side], buckets.links
    newer, older = NONE, np.int64(buckets.newest[entry.side, bucket])
    while older != NONE and links[older].mark > entry.mark:
        newer, older = older, np.int64(links[older].older)
    own = links[entry.row]
    own.mark = entry.mark
    own.group = entry.group
    own.older = older
    if newer == NONE:
        buckets.newest[entry.side, bucket] = entry.row
    else:
        links[newer].older = entry.row


@compiled
def leave(buckets: Buckets, row: int) -> None:
    """Mark a row as deleted."""
    buckets.links[row].group = GONE


@compiled
def find(buckets: Buckets, look: Look, found: np.ndarray, count: Any) -> Any:
    """Write the bucket's rows of the groups probed for whose mark is within reach, from index
    ``count`` on; the new count. O(rows in the bucket)."""
    side, reach = look.side, look.reach
    bucket, links = look.code % buckets.sizes[side], buckets.links
    newer, row = NONE, np.int64(buckets.newest[side, bucket])
    while row != NONE:
        own = links[row]
        older = np.int64(own.older)
        if own.group == GONE:
            if newer == NONE:
                buckets.newest[side, bucket] = older
            else:
                links[newer].older = older
        elif own.mark < reach:
            break
        else:
            if look.first <= own.group < look.end:
                found[count] = row
                count += ONE
            newer = row
        row = older
    return count


@compiled
def delete_entry(buckets: Buckets, entry: IndexEntry) -> None:
    """Mark a row as deleted."""
    leave(buckets, entry.row)


class HashIndex(Index):
    """Buckets of rows by the hash of their key."""

    name = "hash"
    hashes = True
    insert, delete, find = enter, delete_entry, find

    @staticmethod
    def empty(room: IndexRoom) -> Buckets:
        """Allocate for the rows of both sides."""
        return empty_buckets(room.buckets, room.total)
