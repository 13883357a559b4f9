"""The indexes of a step's windows, and the log of their pending changes."""

from typing import Any, NamedTuple

import numpy as np

CHANGE = np.dtype(
    [
        ("mark", "i8"),
        ("row", "i4"),
        ("code", "i4"),
        ("group", "i4"),  # what entries are sorted by: see `index.group_of`
        ("side", "i2"),
        ("leaves", "i2"),  # 0 for an insert
    ],
    align=True,
)


class Windows(NamedTuple):
    """All indexes of a step except those in the kernel's own records."""

    own: tuple[Any, ...]  # by place in `INDEXES`: the arrays that `empty` made
    found: np.ndarray  # int64: rows that a probe has found
