"""Progress of a join: the state that a step hands to the next, apart from the rows."""

from typing import NamedTuple

from headgate.policies.kinds.residence_score import Residing

NO_WATERMARK = -(1 << 62)


Thresholds = tuple[tuple[float, int, int], ...]
"""Decreasing scores, each with the number of left and right rows seen at that point."""


class StepProgress(NamedTuple):
    """Progress of a join: the state that a step hands to the next, apart from the rows."""

    clock: int = NO_WATERMARK
    """Event key (twice the time, plus the side) of the latest arrival."""
    seen: tuple[int, int] = (0, 0)
    """Rows of each side so far."""
    thresholds: tuple[Thresholds, Thresholds] = ((), ())
    """Samples: the evicted scores that stored rows exceed, by pool; see `thresholds.py`."""
    frames: tuple[tuple[int, int], tuple[int, int]] = ((0, -1), (0, -1))
    """Curve scores: origin and frame for scoring each side's rows; see `sorted_values.py`."""
    memory: str = ""
    """What a policy that observes its stored rows has learned."""
    residence: Residing = Residing()
    """Residence priorities: the arrival rate, and when priorities were last computed."""
    definitions: tuple[tuple[int, str], ...] = ()
    """Redefinitions of importance: the event time from which each holds, and its text; see
    `importance.py`."""
    given_up: tuple[bytes, bytes] = (b"", b"")
    """Joins that are not inner: each side's filter of the keys given up, int64; empty where it has
    none. See `settling.py`."""
