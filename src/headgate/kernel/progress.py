"""How far a join has come: what one step hands to the next beside the rows."""

from typing import NamedTuple

from headgate.policies.kinds.residence_score import Residing

NO_WATERMARK = -(1 << 62)


Thresholds = tuple[tuple[float, int, int], ...]
"""Ever lower scores, each with the rows of the left and of the right side seen by then."""


class Progress(NamedTuple):
    """How far a join has come: what one step hands to the next beside the rows."""

    clock: int = NO_WATERMARK
    """Event key (twice the time, plus the side) of the latest arrival."""
    seen: tuple[int, int] = (0, 0)
    """Rows of each side so far."""
    thresholds: tuple[Thresholds, Thresholds] = ((), ())
    """Samples: the scores given up that stored rows have passed, by pool; see `thresholds.py`."""
    frames: tuple[tuple[int, int], tuple[int, int]] = ((0, -1), (0, -1))
    """Curve scores: origin and frame that each side's rows are judged from (`sorted_values.py`)."""
    memory: str = ""
    """What a policy has learned that observes the rows it keeps."""
    residence: Residing = Residing()
    """Residence priorities: how fast rows come, and when priorities were last computed."""
    definitions: tuple[tuple[int, str], ...] = ()
    """What is important, as redefined on the way: from what event time on, and how; see
    `importance.py`."""
