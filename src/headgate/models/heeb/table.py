"""H of all values a stream may take, tabulated by moment, window left and offset."""

from collections.abc import Iterable, Sequence

import numpy as np

from headgate.models.heeb.sums import check_sum, horizon_of, total_benefit
from headgate.models.process import Process
from headgate.models.process.gaussian import Gaussian
from headgate.models.survival import Survival
from headgate.models.visits import Visits

FINE = 4
"""Into how many parts a step's standard deviation is divided where weights are interpolated."""


def curve_table(
    process: Process,
    survival: Survival,
    caching: bool = False,
    windows: Sequence[int | None] = (None,),
    rate: float = 1.0,
) -> tuple[np.ndarray, int]:
    """H by moment, window left and offset, and the lowest offset.

    For a stream in the state (step, value), ``origin, moment = process.frame(step, value)`` say
    where to look: H of value v with the window ``windows[w]`` left is
    ``table[moment, w, v - origin - lowest]``, and 0 outside of the table.

    Parameters
    ----------
    process
        The stream that the rows wait for.
    survival
        The estimate of how long rows stay.
    caching
        Count the first reference to a value alone.
    windows
        Steps that are left of a row's window; None for no window.
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
    offsets = np.arange(lowest, highest + 1)
    table = np.zeros((len(moments), len(windows), len(offsets)))
    alike: dict[tuple[int, int], list[int]] = {}
    for place, moment in enumerate(moments):
        alike.setdefault((moment.now.step, moment.origin), []).append(place)
    visits = Visits(process, _grid(process, alike, offsets)) if caching else None
    for (_, origin), places in alike.items():
        nows = [moments[place].now for place in places]
        table[places] = total_benefit(
            process, nows, offsets + origin, survival, caching, windows, visits
        )
    table *= rate
    return table, lowest


def _grid(
    process: Process, frames: Iterable[tuple[int, int]], offsets: np.ndarray
) -> np.ndarray | None:
    """Values to solve for where there are seasons: several within a step's standard deviation."""
    spacing = int(process.sigma / FINE) if isinstance(process, Gaussian) else 1
    if spacing < 2 or process.season_length() == 1:
        return None
    origins = [origin for _, origin in frames]
    low, high = min(origins) + offsets[0], max(origins) + offsets[-1]
    return np.arange(low, high + spacing, spacing)
