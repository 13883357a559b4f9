"""The indexes of a step's windows, and the changes that they wait for."""

from typing import Any, NamedTuple

import numpy as np

CHANGE = np.dtype(
    [
        ("mark", "i8"),
        ("row", "i4"),
        ("code", "i4"),
        ("group", "i4"),  # what entries are sorted by: see `index.group_of`
        ("side", "i2"),
        ("leaves", "i2"),  # 0 where it enters
    ],
    align=True,
)


class Windows(NamedTuple):
    """Every index a side may use but those in the kernel's own records."""

    own: tuple[Any, ...]  # by place in `INDEXES`: what each has made in `empty`
    found: np.ndarray  # int64: rows that a probe has found
