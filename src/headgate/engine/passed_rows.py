"""Stored rows that no row to come can match are set aside before a step, where nothing is full.

A step gives every stored row a code and a place in event order before it lets go of those that have
passed. Where batches span more time than windows, those are most of the rows.
"""

import numpy as np

from headgate.engine.placed_rows import Screened
from headgate.engine.stats import Stats
from headgate.engine.table_rows import TableRows
from headgate.kernel.terms import Terms
from headgate.learning.learner import Learner
from headgate.spec import How, TimeWindow

Sides = tuple[TableRows, TableRows]


def may_set_aside(terms: Terms, learner: Learner | None) -> bool:
    """Whether a step needs no row that has passed.

    While learning rests no row is watched, and memory does not run full: nothing goes by what is
    stored. In joins that are not inner rows come out as they leave.
    """
    by_time = all(isinstance(window, TimeWindow) for window in terms.windows)
    rests = learner is not None and learner.monitor.is_resting
    return rests and by_time and terms.how == How.INNER and not terms.unique


def without_passed(
    stored: Sides,
    arriving: tuple[Screened[TableRows], Screened[TableRows]],
    terms: Terms,
    watermark: int,
    clock: int,
) -> tuple[Sides, Stats]:
    """The stored rows that an arrival, or a row after the watermark, can still match.

    The others are counted. ``clock`` is the time of the latest arrival before these.
    """
    came = [rows.time.min() for rows in arriving if len(rows)]
    # No row at or before this time is among the arrivals, or may come after them.
    behind = min(watermark, int(min(came)) - 1) if came else watermark
    now = max(clock, behind) if came else clock
    kept, gone = [], Stats()
    for rows, window in zip(stored, terms.windows, strict=True):
        time = rows.rows.time
        passed = time + window.span <= behind
        lived = np.minimum(now - time[passed], window.span) * 1e-6
        gone = gone.then(
            Stats(
                expired=len(lived),
                lifetimes=float(lived.sum()),
                lifetimes_squared=float((lived * lived).sum()),
            )
        )
        kept.append(rows.where(~passed))
    return (kept[0], kept[1]), gone
