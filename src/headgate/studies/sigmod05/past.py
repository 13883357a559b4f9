"""The paper's RAND, PROB_p and LIFE_p, simulated as offline plans of the rows kept.

They are not Headgate's RANDOM, PROB and LIFE. RAND draws one of the k + 1 rows each time, whereas
RANDOM keeps a uniform sample. PROB_p and LIFE_p count how often a value has occurred so far, and
the counts of stored rows keep growing; Headgate's use a model and rank a row once. Rescoring all
stored rows at every arrival is affordable for the caches of a paper, not for a million rows, so
these three are not among the policies: they are simulated over the whole input, and what they kept
is a plan that the real join then follows.
"""

import numpy as np

from headgate.compiling import compiled
from headgate.policies.offline import NOT_KEPT, Planned
from headgate.policies.offline.course import Course
from headgate.studies.sigmod05.streams import Streams

RAND, PROB_P, LIFE_P = "RAND", "PROB_p", "LIFE_p"
KINDS = (RAND, PROB_P, LIFE_P)


def plan_by_past(name: str, streams: Streams, rows: int, seed: int) -> Planned:
    """Plan what the algorithm keeps in a cache of so many rows.

    Expired rows are evicted first; ties are broken at random.

    Examples
    --------
    >>> from headgate.studies.sigmod05.streams import SETTINGS, draw_streams
    >>> streams = draw_streams(SETTINGS["ROOF"], steps=300, seed=1)
    >>> plan = plan_by_past(LIFE_P, streams, rows=5, seed=1)
    >>> plan.label, streams.join(plan, rows=5).stats.peak_rows
    ('LIFE_p', 5)
    """
    course = Course.of(*streams.events, streams.windows)
    ends = np.full(course.events, NOT_KEPT)
    follow(
        KINDS.index(name),
        course.side,
        course.key,
        last=course.last,
        coin=np.random.default_rng(seed).random(course.events),
        count=np.zeros((2, course.key.max(initial=0) + 1), np.int64),
        held=np.zeros(rows + 1, np.int64),
        worth=np.zeros(rows + 1, np.int64),
        ends=ends,
    )
    return Planned(ends[course.side == 0], ends[course.side == 1], name)


@compiled
def follow(
    kind: int,
    side: np.ndarray,
    key: np.ndarray,
    last: np.ndarray,
    coin: np.ndarray,
    count: np.ndarray,
    held: np.ndarray,
    worth: np.ndarray,
    ends: np.ndarray,
) -> None:
    """Process all rows in event order and record when each is evicted.

    ``held`` and ``worth`` have room for the stored rows and the newcomer.
    """
    size, rows = 0, len(held) - 1
    for event in range(len(side)):
        count[side[event], key[event]] += 1
        place = 0
        while place < size:
            if last[held[place]] < event:
                ends[held[place]] = event
                size -= 1
                held[place] = held[size]
            else:
                place += 1
        if last[event] <= event:
            continue  # no later row can match it
        held[size] = event
        size += 1
        if size <= rows:
            continue
        least, alike = np.int64(-1), 0
        for place in range(size):
            row = held[place]
            worth[place] = 0
            if kind > 0:
                worth[place] = count[1 - side[row], key[row]]
            if kind > 1:
                worth[place] *= last[row] - event
            if least < 0 or worth[place] < least:
                least, alike = worth[place], 0
            alike += worth[place] == least
        chosen = int(coin[event] * alike)
        for place in range(size):
            if worth[place] != least:
                continue
            if chosen == 0:
                if held[place] != event:
                    ends[held[place]] = event
                size -= 1
                held[place] = held[size]
                break
            chosen -= 1
    for place in range(size):
        ends[held[place]] = len(side)
