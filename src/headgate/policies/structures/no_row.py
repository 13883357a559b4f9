"""What is said in place of a row where there is none."""

import numpy as np

NONE = -1
LAST = np.int64(1 << 62)
"""Among equal scores, after every row."""
