"""Input of a step: terms, rows, and the progress of the join."""

from typing import NamedTuple

import numpy as np

from headgate.kernel.rows import Rows
from headgate.kernel.step_progress import NO_WATERMARK, StepProgress
from headgate.kernel.terms import Terms
from headgate.kernel.watched import Watching


class StepInput(NamedTuple):
    """Everything a step takes as input.

    Rows of a side are numbered stored rows first, then arrivals, then ghosts, as given.
    """

    terms: Terms
    """Windows, policy and limits."""
    stored: tuple[Rows, Rows]
    """Rows of the left and of the right side that earlier steps kept."""
    arriving: tuple[Rows, Rows]
    codes: int
    """How many different key codes there are."""
    progress: StepProgress = StepProgress()
    """The `after` of the previous step."""
    watermark: int = NO_WATERMARK
    """The watermark: no row at or before this time will arrive."""
    keep_late: bool = False
    """Whether rows may arrive out of order across steps, so that stored rows past their window are
    worth keeping while there is room."""
    watching: Watching | None = None
    """Which arrivals to watch through their whole window; None for no row."""
    ghosts: tuple[Rows, Rows] | None = None
    """Rows watched by earlier steps that are no longer stored."""
    hashes: np.ndarray | None = None
    """Joins that are not inner: a stable hash (uint64) of each code's key; None where codes are the
    same in every step."""

    numbers: tuple[np.ndarray, np.ndarray] | None = None
    """The arrivals' sequence numbers, where others came between them; else they count on."""

    @property
    def groups(self) -> tuple[Rows, ...]:
        """Stored rows, arrivals and ghosts, each left and right."""
        ghosts = self.ghosts or (Rows.empty(), Rows.empty())
        return (*self.stored, *self.arriving, *ghosts)
