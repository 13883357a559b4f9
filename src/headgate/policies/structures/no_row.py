"""Sentinel values for "no row"."""

import numpy as np

NONE = -1
LAST = np.int64(1 << 62)
"""Sorts after every row among equal scores."""
