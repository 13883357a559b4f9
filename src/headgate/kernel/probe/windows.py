"""The indexes of a step's windows, each only as large as it is used, and the changes they wait for.

Rows enter and leave at many places of the kernel. What such a place says is noted, and the indexes
catch up before the next look into them: the kernel then carries a few stores at each place in
place of four structures, and takes half as long to compile.
"""

from typing import Any, NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.kernel.probe import btree, buckets, scan, ttree
from headgate.kernel.probe.btree import BTree, empty_btree
from headgate.kernel.probe.buckets import Buckets, empty_buckets
from headgate.kernel.probe.scan import Scan, empty_scan
from headgate.kernel.probe.ttree import TTree, empty_ttree
from headgate.models.cost.structure import Structure

CODES = {structure: code for code, structure in enumerate(Structure)}
"""The kernel's numbers of structures."""
CHAINS = len(CODES)
"""The hash index of one chain a key, which lies in the kernel's own records (`probing.py`)."""
SCAN, HASH, BTREE, TTREE, BITMAP = (
    np.int64(CODES[structure])
    for structure in (
        Structure.SCAN,
        Structure.HASH,
        Structure.BTREE,
        Structure.TTREE,
        Structure.BITMAP,
    )
)
ONE = np.int64(1)

CHANGE = np.dtype(
    [
        ("mark", "i8"),
        ("row", "i4"),
        ("code", "i4"),
        ("group", "i4"),  # what entries are sorted by: see `indexing.group_of`
        ("side", "i2"),
        ("leaves", "i2"),  # 0 where it enters
    ],
    align=True,
)


class Windows(NamedTuple):
    """Every index a side may use but the kernel's chains and `ranges`."""

    scan: Scan
    buckets: Buckets
    btree: BTree
    ttree: TTree
    found: np.ndarray  # int64: rows that a probe has found


def empty_windows(
    indexes: tuple[int, int], rows: tuple[int, int], buckets: tuple[int, int], node: int
) -> Windows:
    """Room for all rows of a step.

    Parameters
    ----------
    indexes
        What each side's window is kept in: of `CODES`, or `CHAINS`.
    rows
        Rows of each side.
    buckets
        Buckets of each side, where it is hashed.
    node
        Entries of a tree's node.
    """

    def most(index: Any) -> int:
        return max(
            (count for used, count in zip(indexes, rows, strict=True) if used == index), default=0
        )

    def total(index: Any) -> int:
        return sum(rows) if index in indexes else 0

    return Windows(
        empty_scan(most(SCAN), total(SCAN)),
        empty_buckets(buckets, total(HASH)),
        empty_btree(most(BTREE), node),
        empty_ttree(most(TTREE), node),
        np.empty(max(rows), np.int64),
    )


def no_changes(indexes: tuple[int, int], rows: tuple[int, int]) -> np.ndarray:
    """Room for every row of a step to enter and leave before anybody looks."""
    waiting = sum(
        count for index, count in zip(indexes, rows, strict=True) if index not in (CHAINS, BITMAP)
    )
    return np.empty(2 * waiting, CHANGE)


@compiled
def catch_up(windows: Windows, changes: np.ndarray, count: int, left: int, right: int) -> None:
    """Make the changes noted; ``left`` and ``right`` say what those windows are kept in."""
    for at in range(count):
        change = changes[at]
        side, row, group = np.int64(change.side), np.int64(change.row), np.int64(change.group)
        index = right if side == ONE else left
        if change.leaves:
            if index == SCAN:
                scan.leave(windows.scan, side, row)
            elif index == HASH:
                buckets.leave(windows.buckets, row)
            elif index == BTREE:
                btree.leave(windows.btree, side, group, row)
            else:
                ttree.leave(windows.ttree, side, group, row)
        elif index == SCAN:
            scan.enter(windows.scan, side, group, row)
        elif index == HASH:
            code = np.int64(change.code)
            buckets.enter(windows.buckets, side, code, group, row, change.mark)
        elif index == BTREE:
            btree.enter(windows.btree, side, group, row)
        else:
            ttree.enter(windows.ttree, side, group, row)
