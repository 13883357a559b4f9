"""How far a join has come: what one step hands to the next beside the rows."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from headgate.spec.budget import UNLIMITED

NO_WATERMARK = -(1 << 62)


Thresholds = tuple[tuple[float, int, int], ...]
"""Ever lower scores, each with the rows of the left and of the right side seen by then."""


class Residing(NamedTuple):
    """What residence priorities must know of the past."""

    began: int = UNLIMITED
    """Time of the very first arrival; later than any where there was none."""
    importance: float = 0.0
    """Of all arrivals together."""
    decisions: tuple[int, int] = (UNLIMITED, UNLIMITED)
    """By pool: decisions since priorities were last computed."""
    made: tuple[float, float] = (0.0, 0.0)
    """By pool: importance of the pairs made since the last decision."""
    made_before: tuple[float, float] = (0.0, 0.0)
    """And between the last two."""

    @classmethod
    def of(cls, given: Sequence[Any]) -> "Residing":
        """From the same as lists."""
        began, importance, *by_pool = given
        decisions, made, made_before = ((left, right) for left, right in by_pool)
        return cls(began, importance, decisions, made, made_before)


class Progress(NamedTuple):
    """How far a join has come: what one step hands to the next beside the rows."""

    clock: int = NO_WATERMARK
    """Event key (twice the time, plus the side) of the latest arrival."""
    seen: tuple[int, int] = (0, 0)
    """Rows of each side so far."""
    thresholds: tuple[Thresholds, Thresholds] = ((), ())
    """Samples: the scores given up that stored rows have passed, by pool; see `thresholds.py`."""
    frames: tuple[tuple[int, int], tuple[int, int]] = ((0, -1), (0, -1))
    """Curve scores: origin and frame that each side's rows are judged from; see `curves.py`."""
    memory: str = ""
    """What a policy has learned that observes the rows it keeps."""
    residence: Residing = Residing()
    """Residence priorities: how fast rows come, and when priorities were last computed."""
    definitions: tuple[tuple[int, str], ...] = ()
    """What is important, as redefined on the way: from what event time on, and how; see
    `importance.py`."""
