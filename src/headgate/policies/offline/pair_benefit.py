"""What pairs are worth to a plan, where they do not count alike."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from headgate.policies.offline.course import LEFT, RIGHT, Course
from headgate.spec import SpecError

Importance = Callable[[np.ndarray, np.ndarray], Any] | Sequence[Any]
"""Of each left and each right row, the lesser of which counts; or a function of the numbers of the
pairs' left and right rows."""


def benefit_of(
    course: Course, row: np.ndarray, partner: np.ndarray, importance: Importance
) -> np.ndarray:
    """What each match is worth; rows and their later partners are given as events."""
    from_left = course.side[row] == LEFT
    left = course.number[np.where(from_left, row, partner)]
    right = course.number[np.where(from_left, partner, row)]
    if not callable(importance):
        importance = _lesser_of(importance, course)
    benefit = np.asarray(importance(left, right), np.float64)
    if benefit.shape != row.shape or not np.all((benefit >= 0) & (benefit < np.inf)):
        raise SpecError(
            f"importance gave {benefit!r} for {len(row):,} pairs: give a number for each, from 0 on"
        )
    return benefit


def _lesser_of(
    given: Sequence[Any], course: Course
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    rows = [int((course.side == side).sum()) for side in (LEFT, RIGHT)]
    worth = [np.asarray(side, np.float64) for side in given]
    if [side.shape for side in worth] != [(count,) for count in rows]:
        shapes = " and ".join(str(side.shape) for side in worth)
        raise SpecError(
            f"importance has shapes {shapes}: give a number for each of the {rows[0]:,} left and "
            f"{rows[1]:,} right rows, or a function of pairs"
        )

    def lesser(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        least: np.ndarray = np.minimum(worth[LEFT][left], worth[RIGHT][right])
        return least

    return lesser
