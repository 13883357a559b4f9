"""The paper's RAND and value-counting rivals, simulated as offline plans of the rows kept.

RAND evicts a random stored row each time, whereas Headgate's RANDOM keeps a uniform sample. Counts
of recent values change with every arrival, so all stored rows are rescored each time: affordable
for a study, not for a million rows. All are simulated over the whole input, and what they kept is a
plan that the real join then follows.
"""

import numpy as np

from headgate.compiling import compiled
from headgate.policies.offline import NOT_KEPT, Planned
from headgate.policies.offline.course import Course
from headgate.spec import TimeWindow
from headgate.spec.quantity import SECOND_US
from headgate.studies.ijoin.streams import Streams

RAND, LAST_WINDOW, FADING = "RAND", "LAST WINDOW", "FADING COUNTS"
KINDS = (RAND, LAST_WINDOW, FADING)
FADE = 2.0
"""How fast counts fade, per expected stay of a row."""


def plan(name: str, streams: Streams, memory: int, window_s: float, seed: int) -> Planned:
    """Plan what an algorithm keeps, with half of the memory for each stream.

    ``RAND`` stores every row and evicts any of the others. ``LAST_WINDOW`` ranks rows by
    importance × arrivals of the value in the other stream within the last window; ``FADING`` by
    importance × arrivals in both streams, old ones counting less.

    Examples
    --------
    >>> from headgate.studies.ijoin.streams import CASES, HOT, draw_streams
    >>> streams = draw_streams(CASES[HOT], seed=1, seconds=100)
    >>> fading = plan(FADING, streams, memory=10, window_s=25, seed=1)
    >>> fading.label, streams.join(fading, rows=10).stats.peak_rows
    ('FADING COUNTS', 10)
    """
    window = TimeWindow(round(window_s * SECOND_US))
    course = Course.of(*streams.events, (window, window))
    ends = np.full(len(course.side), NOT_KEPT)
    rows = memory // 2
    follow(
        KINDS.index(name),
        np.random.default_rng(seed).random(len(course.side)),
        course.side,
        key=course.key,
        last=course.last,
        importance=streams.importance.T.ravel(),
        seconds=streams.seconds.T.ravel(),
        window_s=window_s,
        fade=FADE / rows,
        count=np.zeros((2, int(course.key.max()) + 1)),
        counted_at=np.zeros((2, int(course.key.max()) + 1)),
        held=np.zeros((2, rows + 1), np.int64),
        size=np.zeros(2, np.int64),
        ends=ends,
    )
    return Planned(ends[course.side == 0], ends[course.side == 1], name)


@compiled
def follow(
    kind: int,
    coin: np.ndarray,
    side: np.ndarray,
    key: np.ndarray,
    last: np.ndarray,
    importance: np.ndarray,
    seconds: np.ndarray,
    window_s: float,
    fade: float,
    count: np.ndarray,
    counted_at: np.ndarray,
    held: np.ndarray,
    size: np.ndarray,
    ends: np.ndarray,
) -> None:
    """Process all rows in event order and record when each is evicted.

    ``held`` has room for a side's stored rows and the newcomer, ``size`` is how many there are.
    """
    passed, rows, fading = 0, held.shape[1] - 1, kind == 2
    for event in range(len(side)):
        own, now = side[event], seconds[event]
        if fading:
            idle = now - counted_at[own, key[event]]
            count[own, key[event]] *= np.exp(-fade * idle)
            counted_at[own, key[event]] = now
        else:
            while seconds[passed] < now - window_s:
                count[side[passed], key[passed]] -= 1.0
                passed += 1
        count[own, key[event]] += 1.0
        place = 0
        while place < size[own]:
            if last[held[own, place]] < event:
                ends[held[own, place]] = event
                size[own] -= 1
                held[own, place] = held[own, size[own]]
            else:
                place += 1
        held[own, size[own]] = event
        size[own] += 1
        if size[own] <= rows:
            continue
        least, given_up = np.inf, int(coin[event] * rows) if kind == 0 else 0
        for place in range(size[own] if kind > 0 else 0):
            row = held[own, place]
            worth = count[1 - own, key[row]]
            if fading:
                worth = 0.0
                for each in range(2):
                    idle = now - counted_at[each, key[row]]
                    worth += count[each, key[row]] * np.exp(-fade * idle)
            worth *= importance[row]
            if worth < least or (worth == least and row < held[own, given_up]):
                least, given_up = worth, place
        if held[own, given_up] != event:
            ends[held[own, given_up]] = event
        size[own] -= 1
        held[own, given_up] = held[own, size[own]]
    for own in range(2):
        for place in range(size[own]):
            ends[held[own, place]] = len(side)
