"""The rows and keys that a learner keeps from one step to the next."""

from typing import NamedTuple

import numpy as np

from headgate.learning.rival_round import BothRows
from headgate.learning.watched_rows import WatchedRows


class LearnedRows(NamedTuple):
    """Rows and keys that a monitor's figures belong to; keys are told by their hash."""

    watched: WatchedRows
    """The rows whose window is open."""
    tracked: np.ndarray
    """Marks of the keys that are counted, in the monitor's order; see `key_counts`."""
    rivals: BothRows | None = None
    """Rows of the policy trials; None without trials."""

    @classmethod
    def none(cls) -> "LearnedRows":
        """Nothing learned so far."""
        return cls(WatchedRows.none(), np.empty(0, np.uint64))
