"""Index entries: a group and a row's position in one number, so that they sort by group."""

from typing import Any

import numpy as np

from headgate.compiling import compiled

GROUP_SHIFT = np.int64(32)
ROW_MASK = np.int64((1 << 32) - 1)


@compiled
def entry_of(group: Any, row: Any) -> Any:
    """The entry of a row; with row 0, the lower bound of its group."""
    return (np.int64(group) << GROUP_SHIFT) | np.int64(row)


@compiled
def row_of(entry: Any) -> Any:
    """The row of an entry."""
    return entry & ROW_MASK


@compiled
def count_below(entries: np.ndarray, count: Any, entry: Any) -> Any:
    """How many of the first ``count`` sorted entries are less. O(log count)."""
    low, high = np.int64(0), np.int64(count)
    while low < high:
        middle = (low + high) >> np.int64(1)
        if entries[middle] < entry:
            low = middle + np.int64(1)
        else:
            high = middle
    return low
