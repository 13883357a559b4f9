"""Learning rests while memory is far from full.

Nothing is evicted then, so there is nothing to choose, and recall is known without watching a row:
all that was met was made. Watching rows and counting keys would take as long as the join itself.

A join rests from one end of an epoch to the next, and never after it has given up a row. Half the
memory holds all arrivals of an epoch of rest, so a burst cannot fill it before learning begins,
unless rows become larger, too; if they do, recall is not known from then on until enough rows have
been watched. Pairs of rows that were stored when learning begins are counted until then.
"""

from headgate.learning.epoch import Epoch
from headgate.learning.epoch_end import Ended
from headgate.learning.evidence import Evidence
from headgate.learning.monitor import Monitor
from headgate.spec.importance import Combine

LEAST_CAPACITY = 1 << 18
"""Rows that memory must hold: in a smaller one learning takes little."""
FALLS_ASLEEP, WAKES = 16, 8
"""One part in so many of the memory: with less in the windows it begins to rest, with more it
begins to learn."""
LASTS = 2
"""An epoch of rest has as many arrivals as one part in so many of the memory holds. Each of its
ends cuts a batch in two, which costs as much as storing its rows once more."""
_LEARNED = (
    *(
        "share",
        "counts",
        "fresh",
        "sketch",
        "tail",
        "counted",
        "lived",
        "arrived",
        "fit",
        "standing",
    ),
    *("steady", "contested", "tried", "followed_keys", "ages", "densities", "columns"),
)


def may_rest(monitor: Monitor, ended: Ended) -> bool:
    """Whether the next epoch is one of rest."""
    terms, capacity = ended.terms, ended.capacity
    if terms.policy.learned is None or terms.combine != Combine.NONE or terms.pace is not None:
        return False
    if monitor.has_given_up or capacity < LEAST_CAPACITY:
        return False
    return ended.held <= capacity // (WAKES if monitor.is_resting else FALLS_ASLEEP)


def rest(monitor: Monitor, ended: Ended) -> None:
    """Begin an epoch of rest; what was learned is forgotten, what was made is known."""
    if not monitor.is_resting:
        fresh = monitor.anew()
        for name in _LEARNED:
            setattr(monitor, name, getattr(fresh, name))
        matched, alone = monitor.made
        monitor.passed = (_sure(matched), Evidence())
        monitor.alone = _sure(alone)
        monitor.is_resting = True
    _begin(monitor, ended, ended.capacity // LASTS)


def wake(monitor: Monitor, ended: Ended) -> None:
    """Begin to learn, as if the join began now."""
    monitor.is_resting, monitor.woken_at = False, sum(ended.after.seen)
    _begin(monitor, ended, monitor.least_rows)


def rested(monitor: Monitor, made: tuple[float, float], lost: bool) -> tuple[Evidence, Evidence]:
    """The evidence of a step at rest, which put out so many rows with and without a partner.

    ``lost`` says whether rows were lost within their window, in this epoch.
    """
    if lost:
        monitor.passed, monitor.alone = (Evidence(), Evidence()), Evidence()
    if monitor.has_given_up:
        return Evidence(), Evidence()
    matched, alone = made
    monitor.passed = (monitor.passed[0] + _sure(matched), monitor.passed[1])
    monitor.alone += _sure(alone)
    return _sure(matched), _sure(alone)


def _sure(rows: float) -> Evidence:
    """Of so many rows of the result, all of which were made."""
    return Evidence(met=rows, made=rows)


def _begin(monitor: Monitor, ended: Ended, rows: int) -> None:
    monitor.epoch = Epoch(
        until=sum(ended.after.seen) + rows,
        began_us=None if ended.epoch.began_us is None else ended.after.clock >> 1,
        seen=ended.after.seen,
        stored=ended.stored,
    )
