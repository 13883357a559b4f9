"""Streams of many values and a join of thousands of stored rows, on which a policy can learn.

A row of R comes every second and a row of S half a second later, as in `streams.py`; here many
topics are hot at once, and each gives way to another at a time of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from headgate.api.window_join import WindowJoin
from headgate.engine.key_columns import key_bytes
from headgate.engine.limits import room_for, terms_for
from headgate.engine.replay import Replay
from headgate.engine.table_coding import coded
from headgate.engine.table_rows import screen
from headgate.learning.learner import Learner, new_monitor
from headgate.policies import Policy
from headgate.spec import Budget, MaxImportance, Side, TimeWindow
from headgate.spec.budget import MONITOR
from headgate.spec.quantity import SECOND_US
from headgate.studies.ijoin.streams import BY_VALUE, Streams

MEMORY = 1000
A_TOPIC = 50
"""Rows of memory for each topic that is hot at a time."""
HOT = 0.5
"""The share of rows that are about a hot topic."""
GOAL = MaxImportance(left="imp", right="imp", combine="min")


@dataclass(frozen=True)
class Many:
    """How the values of the streams are generated.

    Parameters
    ----------
    memory
        How many rows are stored: a row stays for half as many seconds.
    topic_stays
        How long a topic is hot at least, in stays, and at most twice as long; 0 where none is.
    skew
        The Zipf exponent of all other values.
    keys
        How many values there are for each row of memory.
    changes_stays
        After how many stays the frequent values are others, all at once; 0 where they stay.
    drifts
        How far all values move on in a stay, as a share of how far they spread; 0 where they stay.
    """

    memory: int = MEMORY
    topic_stays: float = 0.0
    skew: float = 0.0
    keys: float = 5.0
    changes_stays: float = 0.0
    drifts: float = 0.0

    @property
    def stay_s(self) -> float:
        """How long a row can be stored on average."""
        return self.memory / 2

    def draw(self, seconds: int, by: str, seed: int) -> Streams:
        """Both streams, with importance from 1 to 100 by value or by row.

        Examples
        --------
        >>> Many(topic_stays=2).draw(seconds=100, by=BY_VALUE, seed=1).values.shape
        (2, 100)
        """
        rng = np.random.default_rng(seed)
        values = self._moving(seconds, rng) if self.drifts else self._drawn(seconds, rng)
        if by == BY_VALUE:
            of_value = rng.integers(1, 101, int(values.max()) + 1).astype(np.float64)
            return Streams(values, of_value[values])
        return Streams(values, rng.integers(1, 101, values.shape).astype(np.float64))

    def _drawn(self, seconds: int, rng: np.random.Generator) -> np.ndarray:
        keys = round(self.keys * self.memory)
        weight = np.arange(1, keys + 1) ** -self.skew
        values = rng.choice(keys, (2, seconds), p=weight / weight.sum())
        if self.changes_stays:
            part = (np.arange(seconds) / (self.changes_stays * self.stay_s)).astype(np.int64)
            names = [rng.permutation(keys) for _ in range(int(part[-1]) + 1)]
            values = np.stack(names)[part, values]
        if self.topic_stays:
            at_once = self.memory // A_TOPIC
            topics = np.stack([self._topic(seconds, keys, rng) for _ in range(at_once)])
            which = rng.integers(at_once, size=values.shape)
            is_hot = rng.random(values.shape) < HOT
            values = np.where(is_hot, topics[which, np.arange(seconds)], values)
        return values

    def _topic(self, seconds: int, keys: int, rng: np.random.Generator) -> np.ndarray:
        """One topic after the other, the first of which has been hot for a while."""
        least = self.topic_stays * self.stay_s

        def spells() -> Iterator[np.ndarray]:
            filled = 0
            while filled < seconds + least:
                lasts = max(1, round(least * rng.uniform(1, 2)))
                yield np.full(lasts, rng.integers(keys))
                filled += lasts

        course = np.concatenate(list(spells()))
        first = int(rng.integers(max(1, int(least))))
        return course[first : first + seconds]

    def _moving(self, seconds: int, rng: np.random.Generator) -> np.ndarray:
        spread = self.memory / 20
        centre = np.arange(seconds) * self.drifts * spread / self.stay_s
        values = np.floor(centre + rng.normal(0, spread, (2, seconds))).astype(np.int64)
        moved: np.ndarray = values - values.min()
        return moved


@lru_cache(maxsize=2)
def streams_of(many: Many, seconds: int, by: str, seed: int) -> Streams:
    """The streams of a cell."""
    return many.draw(seconds, by, seed)


def made(
    streams: Streams,
    policy: Policy | str,
    window_stays: float,
    memory: int = MEMORY,
    monitor: float = MONITOR,
    seed: int = 0,
) -> tuple[float, dict[str, int]]:
    """The importance a policy makes, and how many arrivals were judged by which, where it learns.

    Every policy has a monitor beside it, as on a live stream. What the exact join would make is not
    asked for: with windows of many stays it is far more than anybody keeps.

    Examples
    --------
    >>> streams = Many(topic_stays=2).draw(seconds=2000, by=BY_VALUE, seed=1)
    >>> made(streams, "fifo", 5)[0] > 0, made(streams, "auto", 5)[1]
    (True, {'IJOIN': 1952, 'GREEDY': 2048})
    """
    window = TimeWindow(round(window_stays * memory / 2 * SECOND_US))
    join = WindowJoin(
        on="value",
        left=Side(time="r_at", window=window),
        right=Side(time="s_at", window=window),
        budget=Budget(rows=memory, monitor=monitor),
        goal=GOAL,
        policy=policy,
        seed=seed,
    )
    tables, weighs = streams.tables, join.policy.weighs_keys
    bound = join.bind((tables[0].schema, tables[1].schema))
    shape, definitions = bound.shape, bound.definitions
    held = [
        screen(
            table,
            shape.times[side],
            join.policy.weigh(shape.key_columns(table, side), side) if weighs else None,
        ).rows
        for side, table in enumerate(tables)
    ]
    batches, count = coded(shape, held, definitions)
    terms = join.weighed(terms_for(join.budget, join.windows, join.policy, monitor=monitor))
    room = room_for(join.budget, join.policy, 1, monitor, seed, join.windows)
    learner = None
    if monitor:
        learner = Learner(new_monitor(join.windows, room), key_bytes=key_bytes(shape, tables))
    replay = Replay(
        terms,
        batches[0],
        batches[1],
        count,
        learner=learner,
    )
    return replay.total().importance, dict(replay.followed)
