"""Measures this machine's cost weights, from workloads that only search and that only update."""

import platform
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from headgate.calibration.timed_workload import Timed, TimedWorkload, in_turns
from headgate.models.cost import (
    NODE_ROWS,
    Calibration,
    MeasuredCost,
    Structure,
    Weight,
    Weights,
    WorkCost,
    touched_by_search,
    touched_by_update,
)

KEYS_A_ROW = 4
"""Keys for each row of the window, so that one probe in four finds a partner."""
LEAST_SECONDS = 1e-10
"""What a probe or update is taken to cost where none could be told from an idle arrival."""
MATCHES = 16
"""Partners a probe finds where pairs are what is timed."""
HASHES = (Structure.HASH, Structure.HASH)
BITMAPS = (Structure.BITMAP, Structure.BITMAP)


class MeasuringTime(NamedTuple):
    """How long to measure."""

    windows: tuple[int, ...]
    """Sizes to measure at, in rows."""
    arrivals: int
    """Of each measurement."""
    rounds: int


THOROUGH = MeasuringTime((30, 100, 300, 1_000, 3_000, 10_000, 30_000), 20_000, 25)
QUICK = MeasuringTime((100, 1_000, 10_000), 10_000, 5)


def measure_weights(
    effort: MeasuringTime = THOROUGH,
    structures: Sequence[Structure] = tuple(Structure),
    node: int = NODE_ROWS,
    bucket: int = 1,
    done: Callable[[], None] = lambda: None,
) -> Weights:
    """Measure what probes and updates of each structure cost on this machine, in seconds.

    Probes: one stream probes a full window while its own window slides; subtract the cost of the
    sliding alone. Updates: a window slides and is never probed; subtract the cost of an arrival
    that is not stored. Searching a window in isolation would be faster than in a join, where the
    other window takes part of the processor's caches.

    Parameters
    ----------
    effort
        How long to measure.
    structures
        Which index structures to measure.
    node, bucket
        Rows in a tree's node and in a hash bucket.
    done
        Called after each round.

    References
    ----------
    Kang, Naughton, Viglas, Evaluating Window Joins over Unbounded Streams, ICDE 2003, section 4.2,
    "Estimating the weight factors".
    """
    planned = _workloads(effort, structures, node, bucket)
    timed = iter(in_turns([each for group in planned for each in group], effort.rounds, done))
    runs = _Runs(*([next(timed) for _ in group] for group in planned))
    n = effort.arrivals
    # Of n rows in no particular order, n / 2 follow one of the other stream.
    switches = [
        float(_beyond(both, one, n // 2)[0])
        for one, both in zip(runs.alone, runs.mixed, strict=True)
    ]
    weights = {}
    for which, structure in enumerate(structures):
        own = slice(which * len(effort.windows), (which + 1) * len(effort.windows))
        touched = [
            (
                touched_by_search(structure, rows, node, bucket),
                touched_by_update(structure, rows, node, bucket),
            )
            for rows in effort.windows
        ]
        weights[structure] = _weight(structure, switches[which], touched, own, runs, effort)
    return Weights(weights, f"measured on {machine()}")


class _Runs(NamedTuple):
    """The workloads timed together, or their timings, in this order.

    The last three fields have one entry for each structure and window size.
    """

    idle: Sequence[Any]
    """Arrivals that are not stored: baselines for probes, for updates, and for sorted rows."""
    alone: Sequence[Any]
    """One stream alone, for each structure."""
    mixed: Sequence[Any]
    """Both streams in turns."""
    searched: Sequence[Any]
    """Rows arrive on one side; both windows are stored."""
    spared: Sequence[Any]
    """The same without a window to search."""
    updated: Sequence[Any]
    """A window that slides and is never probed."""


def _workloads(
    effort: MeasuringTime, structures: Sequence[Structure], node: int, bucket: int
) -> _Runs:
    n = effort.arrivals
    at = [(structure, rows) for structure in structures for rows in effort.windows]
    middle = effort.windows[len(effort.windows) // 2]
    keys = KEYS_A_ROW * middle
    idle = [
        TimedWorkload(HASHES, (0, 0), (n, 0), keys),
        TimedWorkload(HASHES, (0, 0), (n, 0), keys, node, bucket),
        TimedWorkload(BITMAPS, (0, 0), (n, 0), keys),
    ]
    searched, spared, updated = (
        [
            TimedWorkload((_beside(each), each), windows, coming, KEYS_A_ROW * rows, node, bucket)
            for each, rows in at
            for windows in [(rows * kept[0], rows * kept[1])]
        ]
        for kept, coming in (((1, 1), (n, 0)), ((1, 0), (n, 0)), ((0, 1), (0, n)))
    )
    alone, mixed = (
        [
            TimedWorkload((each, each), (middle, middle), coming, KEYS_A_ROW * middle, node, bucket)
            for each in structures
        ]
        for coming in ((n, 0), (n // 2, n // 2))
    )
    return _Runs(idle, alone, mixed, searched, spared, updated)


def _weight(
    structure: Structure,
    switch: float,
    touched: list[tuple[float, float]],
    own: slice,
    runs: _Runs,
    effort: MeasuringTime,
) -> Weight:
    """Compute the weight of a structure from its own runs, those of the slice."""
    n = effort.arrivals
    # An updating row first probes the other window, which is empty and hashed in the same way.
    idle_probe, idle_update, ordered = runs.idle
    is_ordered = structure is Structure.BITMAP
    neither = ordered if is_ordered else idle_update
    both = zip(runs.searched[own], runs.spared[own], strict=True)
    search = [_beyond(found, only_kept, n) for found, only_kept in both]
    update = [_beyond(each, neither, n) for each in runs.updated[own]]
    a_search = [of / rows for of, (rows, _) in zip(search, touched, strict=True)]
    an_update = [of / rows for of, (_, rows) in zip(update, touched, strict=True)]
    ordering = max((ordered.seconds - idle_probe.seconds) / n, LEAST_SECONDS)
    measured = zip(
        effort.windows,
        rising([float(each[0]) for each in search]),
        rising([float(each[0]) for each in update]),
        strict=True,
    )
    return Weight(
        search=float(np.median([each[0] for each in a_search])),
        update=float(np.median([each[0] for each in an_update])),
        search_spread=float(np.std(np.concatenate([each[1:] for each in a_search]))),
        update_spread=float(np.std(np.concatenate([each[1:] for each in an_update]))),
        arrive=float(ordering) if is_ordered else 0.0,
        switch=switch,
        measured=[MeasuredCost(*point) for point in measured],
    )


def _beside(structure: Structure) -> Structure:
    """Structure of the other, empty window. Bitmaps come in pairs: beside another structure, a
    bitmap would have rows sorted to no use."""
    return Structure.BITMAP if structure is Structure.BITMAP else Structure.HASH


def _beyond(timed: Timed, idle: Timed, arrivals: int) -> np.ndarray:
    """Seconds per arrival beyond an idle one: the representative value, then each round's."""
    whole = np.array([timed.joining, *timed.rounds])
    spared = np.array([idle.joining, *idle.rounds])
    beyond: np.ndarray = np.maximum((whole - spared) / arrivals, LEAST_SECONDS)
    return beyond


def rising(costs: Sequence[float]) -> list[float]:
    """Fit costs that never fall as windows grow: a drop is noise, and is averaged out.

    Examples
    --------
    >>> rising([30.0, 34.0, 22.0, 40.0])
    [28.666666666666668, 28.666666666666668, 28.666666666666668, 40.0]
    """
    levels: list[tuple[float, int]] = []
    for cost in costs:
        level, count = cost, 1
        while levels and levels[-1][0] >= level:
            before, so_many = levels.pop()
            level = (before * so_many + level * count) / (so_many + count)
            count += so_many
        levels.append((level, count))
    return [level for level, count in levels for _ in range(count)]


def measure_work(
    effort: MeasuringTime = THOROUGH, done: Callable[[], None] = lambda: None
) -> tuple[WorkCost, WorkCost]:
    """Measure what an arrival, a stored row and a pair cost with hash indexes, and the spread.

    References
    ----------
    Ayad, Naughton, Wright, Srivastava, Approximating Streaming Window Joins Under CPU Limitations,
    2005, section 2.2: C_u and C_p. The cost of arriving is an addition.
    """
    n, rows = effort.arrivals, effort.windows[len(effort.windows) // 2]
    timed = in_turns(
        [
            TimedWorkload(HASHES, (0, 0), (n, 0), KEYS_A_ROW * rows),
            TimedWorkload(HASHES, (0, rows), (0, n), KEYS_A_ROW * rows),
            TimedWorkload(HASHES, (0, rows), (n, 0), KEYS_A_ROW * rows),
            TimedWorkload(HASHES, (0, rows), (n, 0), max(rows // MATCHES, 1)),
        ],
        effort.rounds,
        done,
    )
    idle, kept, few, many = (np.array([each.joining, *each.rounds]) for each in timed)
    pairs = timed[3].pairs - timed[2].pairs
    arrive = np.maximum((idle + timed[0].laying_out) / n, LEAST_SECONDS)
    update = np.maximum((kept - idle) / n, LEAST_SECONDS)
    produce = np.maximum((many - few) / pairs, LEAST_SECONDS)
    costs = {"arrive": arrive, "update": update, "produce": produce}
    return (
        WorkCost(**{name: float(values[0]) for name, values in costs.items()}),
        WorkCost(**{name: float(np.std(values[1:])) for name, values in costs.items()}),
    )


def calibrate(
    effort: MeasuringTime = THOROUGH, done: Callable[[], None] = lambda: None
) -> Calibration:
    """Measure everything that a plan needs to know about this machine.

    Parameters
    ----------
    effort
        How long to measure.
    done
        Called after each round, `rounds_of` times.
    """
    work, spread = measure_work(effort, done)
    weights = measure_weights(effort, done=done)
    taken = datetime.now(UTC).isoformat(timespec="seconds")
    return Calibration(
        weights=weights,
        work=work,
        work_spread=spread,
        node=NODE_ROWS,
        bucket=1,
        machine=machine(),
        taken=taken,
    )


def rounds_of(effort: MeasuringTime) -> int:
    """Number of rounds that `calibrate` reports as done."""
    return 2 * (effort.rounds + 1)


def machine() -> str:
    """A short description of this machine."""
    return " ".join(filter(None, (platform.system(), platform.machine(), platform.processor())))
