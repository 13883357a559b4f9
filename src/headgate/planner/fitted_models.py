"""Models fitted to one time span of a profile's rows, to be evaluated on the rest."""

from dataclasses import dataclass, replace
from math import ceil

import numpy as np
import pyarrow as pa

from headgate.models import (
    AgeCurves,
    Frequencies,
    LinearTrend,
    Noise,
    Process,
    Stationary,
    best_fit,
)
from headgate.models.frequencies import KeyFrequencies
from headgate.profiles.aged_matches import AgedMatches
from headgate.profiles.kept_rows import KeptRows
from headgate.profiles.match_counts import KeyedRows
from headgate.spec import SpecError

Span = tuple[int, int]
"""From a time on, and up to a time (not included), in microseconds."""
MOST_STEPS = 20_000
"""Values that a process is fitted to."""
FEWEST_STEPS = 200
MOST_CURVE = 1 << 16
"""The most values times distinct moments of a process; more would take minutes."""
MOST_EMPTY = 0.2
"""The largest share of steps without a row for values to count as a series of steps."""


def span_of(kept: KeptRows) -> Span:
    """The time span that the rows cover."""
    times = [side for side in kept.time if len(side)]
    return min(int(side[0]) for side in times), max(int(side[-1]) for side in times) + 1


def _within(kept: KeptRows, side: int, span: Span | None) -> slice:
    if span is None:
        return slice(None)
    first, end = np.searchsorted(kept.time[side], span)
    return slice(int(first), int(end))


def ages_between(kept: KeptRows, windows: tuple[int, int], span: Span | None) -> AgeCurves:
    """The age model fitted to a time span; a span of None means all rows.

    Heavy keys that were thinned are ignored: some of their matches are missing.
    """
    every = kept.looking.max(axis=0) == 0
    rows = []
    for side in (0, 1):
        part = _within(kept, side, span)
        time, code = kept.time[side][part], kept.code[side][part]
        whole = every[code]
        rows.append(KeyedRows.unweighted(time[whole], code[whole], kept.codes))
    end = (span or span_of(kept))[1] - 1
    left, right = (
        AgedMatches.of(rows[side], rows[1 - side], windows[side], side, end).curve
        for side in (0, 1)
    )
    return AgeCurves(left, right)


def counts_between(kept: KeptRows, span: Span | None) -> np.ndarray:
    """Row counts by side and key within a time span, including rows that were left out."""
    counts = np.stack(
        [
            np.bincount(kept.code[side][_within(kept, side, span)], minlength=kept.codes)
            for side in (0, 1)
        ]
    ).astype(np.float64)
    return np.asarray(counts / np.where(kept.looking > 0, kept.looking, 1.0))


def frequencies_between(
    kept: KeptRows, names: np.ndarray, listed: tuple[float, float], span: Span | None
) -> Frequencies:
    """The frequency model fitted to a time span.

    Parameters
    ----------
    names
        The name of each key.
    listed
        The share of each side's keys that a profile names.
    """
    counts = counts_between(kept, span)
    is_heavy = kept.looking.max(axis=0) > 0
    stands_for = np.where(is_heavy, 1.0, 1.0 / kept.share)
    sides = []
    for side in (0, 1):
        known = np.flatnonzero(counts[side])
        order = known[np.argsort(-counts[side, known], kind="stable")]
        order = order[: max(ceil(listed[side] * len(order)), 1)]
        total = max(float(counts[side] @ stands_for), 1.0)
        column = pa.chunked_array([pa.array(names[order])])
        sides.append(KeyFrequencies((column,), counts[side, order] / total))
    return Frequencies(sides[0], sides[1])


@dataclass(frozen=True, eq=False)
class Moving:
    """The fitted processes of both sides' values, step by step.

    Attributes
    ----------
    processes
        Of each side.
    step_us, start_us
        Length of a step, and the time of step 0.
    rates
        Rows per step of each side.
    """

    processes: tuple[Process, Process]
    step_us: int
    start_us: int
    rates: tuple[float, float]


def moving_between(kept: KeptRows, span: Span | None) -> Moving | None:
    """Processes fitted to a time span; None where values do not form a series of steps.

    Requires integer keys, all of them present, and rows that arrive at an even pace.
    """
    if kept.values is None:
        return None
    parts = [_within(kept, side, span) for side in (0, 1)]
    times = [kept.time[side][parts[side]] for side in (0, 1)]
    if min(len(time) for time in times) < FEWEST_STEPS:
        return None
    step = max(round((int(time[-1]) - int(time[0])) / (len(time) - 1)) for time in times)
    if step < 1:
        return None
    start = min(int(time[0]) for time in times) // step * step
    processes = []
    for side in (0, 1):
        values = kept.values[kept.code[side][parts[side]]]
        by_step = _by_step((times[side] - start) // step, values)
        if by_step is None:
            return None
        first, told = by_step
        try:
            fit = best_fit(told[:MOST_STEPS])[0]
        except SpecError:
            return None
        process = _settled(fit.process, first, min(len(told), MOST_STEPS))
        if not _is_cheap(process):
            return None
        processes.append(process)
    if all(isinstance(process, Stationary) for process in processes):
        return None  # values do not move: key frequencies say all there is to know
    rates = tuple(len(time) * step / (int(time[-1]) - int(time[0])) for time in times)
    return Moving((processes[0], processes[1]), step, start, (rates[0], rates[1]))


def _by_step(steps: np.ndarray, values: np.ndarray) -> tuple[int, np.ndarray] | None:
    """The first step, and for each step from there on the last value to arrive by then.

    Examples
    --------
    >>> _by_step(np.array([3, 3, 4, 6, 7, 8, 9]), np.array([1, 2, 3, 4, 5, 6, 7]))
    (3, array([2, 3, 3, 4, 5, 6, 7]))
    >>> _by_step(np.array([0, 9]), np.array([1, 2]))
    """
    first, count = int(steps[0]), int(steps[-1] - steps[0]) + 1
    if len(np.unique(steps)) < (1 - MOST_EMPTY) * count:
        return None
    last = np.searchsorted(steps, first + np.arange(count), side="right") - 1
    return first, values[last]


def _settled(process: Process, first: int, count: int) -> Process:
    """A process fitted to ``steps`` steps, re-expressed from step 0 instead of ``first``.

    A non-integer slope needs a separate curve for every step. Where the line with the nearest
    integer slope stays within the noise, that line is used.
    """
    if not isinstance(process, LinearTrend):
        return process
    slope = float(np.rint(process.slope)) + 0.0
    if abs(process.slope - slope) * count > _deviation(process.noise):
        slope = process.slope
    middle = process.intercept + process.slope * count / 2
    return replace(process, slope=slope, intercept=middle - slope * (first + count / 2))


def _deviation(noise: Noise) -> float:
    values = noise.lowest + np.arange(len(noise.chances))
    mean = float(values @ noise.chances)
    return float(np.sqrt((values - mean) ** 2 @ noise.chances))


def _is_cheap(process: Process) -> bool:
    """Whether the process has few enough distinct futures to tabulate a curve for each."""
    width = len(process.noise.chances) if isinstance(process, LinearTrend) else 1
    return len(process.moments()) * width <= MOST_CURVE
