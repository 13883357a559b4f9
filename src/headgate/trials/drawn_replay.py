"""Replays a miniature: scales memory to the drawn rows and corrects what is learned from them."""

from dataclasses import replace

import numpy as np

from headgate.engine.placed_rows import Numbers
from headgate.engine.replay import Replay
from headgate.kernel.rows import Rows
from headgate.kernel.terms import Terms
from headgate.learning import BudgetPart, Monitor, Room
from headgate.learning.epoch import LEAST_ROWS
from headgate.learning.key_worth import KeyWorth
from headgate.learning.learner import Learner
from headgate.spec.budget import UNLIMITED
from headgate.trials.local_share import Scale
from headgate.trials.trace import Trace

FEWEST_ROWS = 128
"""Rows in a step of a miniature: fewer would not tell anything, and steps have a cost."""


def scaled_room(room: Room, trace: Trace) -> Room:
    """The monitor's memory in a miniature.

    As many rows are monitored as in the full join, since precision depends on their number. Counted
    keys are drawn like all others, but every heavy key is included.
    """
    if trace.draw.is_whole:
        return room
    heavy = int(np.count_nonzero(trace.is_thinned))
    whole = room.most_keys
    wanted = min(whole, round(heavy + trace.draw.share * max(whole - heavy, 0)))
    part = wanted / max(whole, 1)

    def some(given: int | None) -> int | None:
        return None if given is None else int(-(-given * part // 1))

    return replace(
        room,
        keys=BudgetPart(some(room.keys.rows), some(room.keys.bytes)),
        tail_cells=2 * int(-(-room.tail_cells * trace.draw.share // 2)),
    )


def scaled_limit(limit: int, share: float) -> int:
    """A limit scaled to the drawn rows; at least one row fits."""
    return limit if limit in (0, UNLIMITED) else max(round(limit * share), 1)


def scaled(terms: Terms, scale: Scale) -> Terms:
    """The terms with limits scaled to the drawn rows."""
    rows, held = (
        tuple(scaled_limit(limit, share) for limit in limits)
        for limits, share in ((terms.most_rows, scale.rows), (terms.most_bytes, scale.bytes))
    )
    return replace(
        terms,
        most_rows=(rows[0], rows[1]),
        most_bytes=(held[0], held[1]),
        filter_slots=scaled_limit(terms.filter_slots, scale.rows),
    )


def drawn_replay(
    terms: Terms, trace: Trace, rows: tuple[Rows, Rows], monitor: Monitor | None
) -> Replay:
    """Replay a trace with memory scaled to the share of the windows it holds at each time, and with
    rows weighted in the monitor by what they represent.

    Parameters
    ----------
    terms
        With the limits of the join itself.
    trace, rows
        The trace, and its rows with the policy's scores of their keys.
    monitor
        The monitor, where the policy learns.
    """
    if monitor is not None:
        monitor = _in_miniature(monitor, trace)
    usual, local = scaled(terms, trace.scale), trace.local

    def terms_at(times: Numbers) -> Terms:
        known = [time for time in times if len(time)]
        if local is None or not known:
            return usual
        now = (min(int(time.min()) for time in known) + max(int(time.max()) for time in known)) // 2
        return scaled(terms, local.at(now, trace.scale))

    return Replay(
        usual,
        *rows,
        trace.codes,
        learner=None if monitor is None else DrawnLearner(trace, monitor),
        terms_at=terms_at,
        most_at_once=None if local is None else max(local.step_rows, FEWEST_ROWS),
        hashes=trace.key_hashes,
    )


def _in_miniature(monitor: Monitor, trace: Trace) -> Monitor:
    """The monitor with epochs of fewer rows, as each stands for many."""
    each = sum(trace.within.rows) / max(trace.count, 1)
    least = max(int(LEAST_ROWS / max(each, 1.0)), FEWEST_ROWS)
    # Where only part of the time is examined, the join would have learned long before.
    return replace(monitor, least_rows=least if trace.stretches is None else FEWEST_ROWS)


class DrawnLearner(Learner):
    """A learner that weights rows of heavy keys by the rows they represent."""

    def __init__(self, trace: Trace, monitor: Monitor) -> None:
        super().__init__(monitor, key_bytes=trace.key_bytes, hashes=trace.key_hashes)
        self._stands_for, self._scale = trace.stands_for, trace.scale

    def _with_spare(self, terms: Terms) -> Terms:
        # Memory the monitor gives back is in units of the full join, like the unscaled limits.
        more = super()._with_spare(terms)

        def part(least: tuple[int, int], most: tuple[int, int], share: float) -> tuple[int, int]:
            left, right = (
                low + int((high - low) * share) for low, high in zip(least, most, strict=True)
            )
            return left, right

        return replace(
            more,
            most_rows=part(terms.most_rows, more.most_rows, self._scale.rows),
            most_bytes=part(terms.most_bytes, more.most_bytes, self._scale.bytes),
        )

    def _judging(self) -> KeyWorth:
        # Models are scored by the matches in the miniature, where heavy keys make fewer.
        return replace(self._worth, stands_for=self._stands_for.T)

    def _each_stands_for(self) -> np.ndarray | None:
        return np.ascontiguousarray(self._stands_for.T)
