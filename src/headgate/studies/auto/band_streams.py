"""Ten pairs of streams without keys, joined on a band, that favour different policies."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from headgate.api.window_join import WindowJoin
from headgate.policies import Policy
from headgate.spec import Band, Budget, Side
from headgate.spec.quantity import SECOND_US
from headgate.studies.auto.streams import WINDOW_S, drawn_ranks, partners, sorted_times
from headgate.studies.streams import START_US, TIMES, Streams

WIDTH = 1.0
"""Values pair that are so far apart at most."""
APART = 10.0
"""Of places where values gather."""
Column = tuple[np.ndarray, np.ndarray]
"""Values of a side's rows, and when they come, in seconds."""
Maker = Callable[[np.random.Generator, int, int], tuple[Column, Column]]
"""Both sides, from a source of chance, the rows of a side (about) and those a second."""


@dataclass(frozen=True, eq=False)
class BandStreams(Streams):
    """Two streams without keys, to be joined by a band."""

    def request(self, policy: str | Policy, budget: Budget, **more: Any) -> WindowJoin:
        """The join to be run."""
        left, right = (
            Side(time=name, window=f"{window} seconds")
            for name, window in zip(TIMES, self.windows, strict=True)
        )
        near = Band("value", lower=-WIDTH, upper=WIDTH)
        return WindowJoin(left=left, right=right, where=near, budget=budget, policy=policy, **more)


def band_streams(name: str, rows: int, rate: int, seed: int) -> BandStreams:
    """The streams of that name, with about so many rows a side, so many of them a second."""
    make, windows = STREAMS[name]
    left, right = make(np.random.default_rng(seed), rows, rate)
    return BandStreams(_table(left, TIMES[0]), _table(right, TIMES[1]), windows)


def _table(side: Column, name: str) -> pa.Table:
    value, seconds = side
    order = np.argsort(seconds, kind="stable")
    time = START_US + np.rint(seconds[order] * SECOND_US).astype(np.int64)
    return pa.table({"value": value[order], name: pa.array(time, pa.timestamp("us"))})


def _spread(random: np.random.Generator, rows: int, rate: int) -> np.ndarray:
    """Values so far apart that a row meets about two in a window."""
    return random.uniform(0, rate * WINDOW_S * WIDTH, rows)


def _gathered(random: np.random.Generator, place: np.ndarray) -> np.ndarray:
    """Values about places, most of them near enough to pair."""
    return APART * place + random.normal(0, WIDTH, len(place))


def _even(random: np.random.Generator, rows: int, rate: int) -> tuple[Column, Column]:
    """No row is better than another."""
    sides = [(_spread(random, rows, rate), sorted_times(random, rows, rate)) for _ in range(2)]
    return sides[0], sides[1]


def _gathering(is_spread: bool) -> Maker:
    """Values gather at places, as often as Zipf says; those of the left may be spread evenly."""

    def make(random: np.random.Generator, rows: int, rate: int) -> tuple[Column, Column]:
        places = rate * WINDOW_S // 2
        order = random.permutation(places)
        sides = []
        for side in (0, 1):
            place = order[drawn_ranks(random, rows, places)]
            value = _gathered(random, place)
            if is_spread and side == 0:
                value = random.uniform(0, APART * places, rows)
            sides.append((value, sorted_times(random, rows, rate)))
        return sides[0], sides[1]

    return make


def _moved(random: np.random.Generator, rows: int, rate: int) -> tuple[Column, Column]:
    """As above, and every third window values gather elsewhere."""
    places, each = rate * WINDOW_S // 2, 3 * WINDOW_S
    parts = rows // (each * rate) + 1
    orders = np.stack([random.permutation(places) for _ in range(parts)])
    sides = []
    for _ in range(2):
        time = sorted_times(random, rows, rate)
        part = np.minimum(time // each, parts - 1).astype(np.int64)
        place = orders[part, drawn_ranks(random, rows, places)]
        sides.append((_gathered(random, place), time))
    return sides[0], sides[1]


def _bursts(random: np.random.Generator, rows: int, rate: int) -> tuple[Column, Column]:
    """Values gather at a place for a twentieth of a window, then at the next."""
    sides = []
    for _ in range(2):
        time = sorted_times(random, rows, rate)
        place = (time // (WINDOW_S / 20)).astype(np.int64)
        sides.append((random.normal(40 * place, rate * WIDTH / 4), time))
    return sides[0], sides[1]


def _aged(shape: Callable[[np.ndarray], np.ndarray]) -> Maker:
    """Each left row has three right rows near it, at ages of a certain shape."""

    def make(random: np.random.Generator, rows: int, rate: int) -> tuple[Column, Column]:
        left = sorted_times(random, rows // 2, rate)
        value = random.uniform(0, 50 * rate * WINDOW_S, len(left))
        key, right = partners(random, left, 3 * len(left), shape)
        near = value[key] + random.uniform(-WIDTH, WIDTH, len(key))
        return (value, left), (near, right)

    return make


def _trend(lag_s: float) -> Maker:
    """Values rise with time; those of the left are ahead by so many seconds."""

    def make(random: np.random.Generator, rows: int, rate: int) -> tuple[Column, Column]:
        sides = []
        for lead, noise in ((lag_s, 1.0), (0.0, 2.0)):
            time = sorted_times(random, rows, rate)
            value = rate * (time + lead) + random.normal(0, noise * rate, rows)
            sides.append((value, time))
        return sides[0], sides[1]

    return make


def _mixed(random: np.random.Generator, rows: int, rate: int) -> tuple[Column, Column]:
    """Half of the left rows match once, late; the values of the other half gather at places."""
    half, places = rows // 2, rate * WINDOW_S // 2
    late, hot, hot_right = (sorted_times(random, half, rate / 2) for _ in range(3))
    key, late_right = partners(random, late, half, lambda age: age**4)
    alone = APART * places + 10 * np.arange(half)
    near = alone[key] + random.uniform(-WIDTH, WIDTH, len(key))
    left, right = (_gathered(random, drawn_ranks(random, half, places)) for _ in range(2))
    return (
        (np.concatenate([alone, left]), np.concatenate([late, hot])),
        (np.concatenate([near, right]), np.concatenate([late_right, hot_right])),
    )


BOTH, LEFT = (WINDOW_S, WINDOW_S), (WINDOW_S, 0)
STREAMS: dict[str, tuple[Maker, tuple[int, int]]] = {
    "even values": (_even, BOTH),
    "gathered values": (_gathering(is_spread=False), BOTH),
    "gathered right values": (_gathering(is_spread=True), LEFT),
    "places that move": (_moved, BOTH),
    "bursts": (_bursts, BOTH),
    "matches come late": (_aged(lambda age: age**2), LEFT),
    "matches come soon": (_aged(lambda age: (1 - age) ** 2), LEFT),
    "values rise": (_trend(1.0), BOTH),
    "values rise, one side ahead": (_trend(40.0), BOTH),
    "mixed": (_mixed, LEFT),
}
"""Makers of streams, with the windows of both sides."""
