"""Tables of H for all values of a stream, by moment, remaining window and offset."""

from collections.abc import Iterable, Sequence

import numpy as np

from headgate.models.heeb.endless import endless_table
from headgate.models.heeb.sums import check_sum, horizon_of, total_benefit
from headgate.models.process import Process
from headgate.models.process.gaussian import Gaussian
from headgate.models.survival import Survival
from headgate.models.visits import Visits, between

FINE = 4
"""Grid points per standard deviation of a step where H is interpolated."""


def curve_table(
    process: Process,
    survival: Survival,
    caching: bool = False,
    windows: Sequence[int | None] = (None,),
    rate: float = 1.0,
) -> tuple[np.ndarray, int]:
    """Tabulate H by moment, remaining window and offset; also returns the lowest offset.

    For a stream in the state (step, value), ``origin, moment = process.frame(step, value)`` say
    where to look: H of value v with the window ``windows[w]`` left is
    ``table[moment, w, v - origin - lowest]``, and 0 outside of the table.

    Where a process has normal noise much wider than the lattice, H is summed at a few values per
    standard deviation and interpolated between; the error is below 1e-4 of the maximum.

    Parameters
    ----------
    process
        The stream that the rows wait for.
    survival
        The estimate of how long rows stay.
    caching
        Count only the first reference to a value.
    windows
        Remaining steps of a row's window; None for no window.
    rate
        Rows of the stream a step.

    Examples
    --------
    >>> from headgate.models.process import LinearTrend, Noise
    >>> from headgate.models.survival import FixedLife
    >>> trend = LinearTrend(1, 0, Noise.uniform(1))
    >>> table, lowest = curve_table(trend, FixedLife(2), windows=[1, 2])
    >>> lowest, table.round(2).tolist()
    (0, [[[0.33, 0.33, 0.33, 0.0], [0.33, 0.67, 0.67, 0.33]]])
    """
    check_sum(survival, caching, rate)
    moments = process.moments()
    horizon = max((horizon_of(process, survival, each, None) for each in windows), default=0)
    lowest, highest = process.reach(horizon)
    short = endless_table(process, survival, caching, windows, (lowest, highest))
    if short is not None:
        return short * rate, lowest
    offsets = np.arange(lowest, highest + 1)
    summed = _summed(process, offsets)
    table = np.zeros((len(moments), len(windows), len(summed)))
    alike: dict[tuple[int, int], list[int]] = {}
    for place, moment in enumerate(moments):
        alike.setdefault((moment.now.step, moment.origin), []).append(place)
    visits = Visits(process, _grid(process, alike, offsets)) if caching else None
    for (_, origin), places in alike.items():
        nows = [moments[place].now for place in places]
        table[places] = total_benefit(
            process,
            nows,
            summed + origin,
            survival=survival,
            caching=caching,
            windows=windows,
            visits=visits,
        )
    if len(summed) < len(offsets):
        table = np.maximum(between(summed, table, axis=2)(offsets), 0.0)
    table *= rate
    return table, lowest


def _spacing(process: Process) -> int:
    """How far apart values may be for interpolation between them."""
    return max(int(process.sigma / FINE), 1) if isinstance(process, Gaussian) else 1


def _summed(process: Process, offsets: np.ndarray) -> np.ndarray:
    """The offsets at which H is summed: all, or some where H is smooth on the lattice's scale."""
    spacing = _spacing(process)
    return np.append(offsets[:-1:spacing], offsets[-1])


def _grid(
    process: Process, frames: Iterable[tuple[int, int]], offsets: np.ndarray
) -> np.ndarray | None:
    """Values to solve for where there are seasons: several within a step's standard deviation."""
    spacing = _spacing(process)
    if spacing == 1 or process.season_length() == 1:
        return None
    origins = [origin for _, origin in frames]
    low, high = min(origins) + offsets[0], max(origins) + offsets[-1]
    return np.arange(low, high + spacing, spacing)
