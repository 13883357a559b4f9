"""HEEB: keep the rows expected to match most before they are evicted."""

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from hashlib import blake2b
from typing import ClassVar

import numpy as np
import pyarrow as pa

from headgate.compiling import compiled
from headgate.models import ExponentialLife, Process, Survival, curve_table
from headgate.policies.key_values import key_values
from headgate.policies.kinds.curve_score import Curves, CurveScore, Frames
from headgate.policies.policy import Arrivals, require_times
from headgate.spec import SpecError, TimeWindow, Window
from headgate.spec.quantity import format_duration, parse_duration_us

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
AGE_CLASSES = 8
"""Number of age classes per window, where the window limits future matches."""
NOTHING, RIPPLE = 1e-9, 1e-9
"""Relative to the highest score: scores below the first count as zero, and turns of a curve smaller
than the second as rounding errors."""
ENDLESS = 1 << 16
"""Steps after which a window makes no difference, where rows may stay forever."""
MOST_ENTRIES = 1 << 16
"""Most entries of a curve; a longer one gets coarser grains."""
_TABLES: dict[tuple[bytes, Window], Curves] = {}
MOST_TABLES = 64


@dataclass(frozen=True)
class Heeb(CurveScore):
    """Evict the row of least estimated expected benefit.

    The benefit is the sum, over all future steps, of the probability that the other stream then has
    the row's value, times the probability that the row is still stored by then. Streams are
    modelled as processes with one value per step: trends, walks, autoregressions. The key must be a
    single numeric column.

    Parameters
    ----------
    left, right
        The process that generates the values of each stream.
    survival
        How long rows are expected to stay. By default derived from the budget and the rates: rows
        leave as fast as they arrive, so they stay budget ÷ arrivals per step on average.
    every
        Duration of a step of the processes.
    start
        The time of step 0; 1970 by default. Times without a time zone are in UTC.
    rates
        Rows per step of the left and of the right stream.
    unit
        Values are integer multiples of it: 0.1 for temperatures in tenths.
    caching
        Whether a row is worth only its first match, as in a cache that can be filled again.

    Examples
    --------
    >>> from headgate.models import LinearTrend, Noise
    >>> sensor = LinearTrend(slope=1, intercept=0, noise=Noise.normal(3.3, bound=10))
    >>> late = LinearTrend(slope=1, intercept=-1, noise=Noise.normal(5, bound=15))
    >>> Heeb(sensor, late).label
    'HEEB'

    References
    ----------
    Xie, Yang and Chen, On Joining and Caching Stochastic Streams, SIGMOD 2005, section 5.3.
    """

    left: Process
    right: Process
    survival: Survival | None = None
    every: str | TimeWindow = "1 second"
    start: datetime | None = None
    rates: tuple[float, float] = (1.0, 1.0)
    unit: float = 1
    caching: bool = False

    name: ClassVar[str] = "heeb"
    keeps_matched: ClassVar[bool] = True
    caches: ClassVar[bool] = True
    model: ClassVar[str] = "processes"

    def __post_init__(self) -> None:
        for which in ("left", "right"):
            if not isinstance(getattr(self, which), Process):
                raise SpecError(
                    f"Heeb({which}={getattr(self, which)!r}): give a process, such as "
                    f"hg.models.LinearTrend(...) or hg.models.RandomWalk(...)"
                )
        if self.survival is not None and not isinstance(self.survival, Survival):
            raise SpecError(
                f"Heeb(survival={self.survival!r}): give hg.models.ExponentialLife(...) or another "
                f"survival function"
            )
        if getattr(self.survival, "caching_only", False) and not self.caching:
            raise SpecError(
                f"{self.survival!r} is for caching: over many matches its sum need not converge; "
                f"give ExponentialLife(...) or FixedLife(...)"
            )
        if not (self.unit > 0 and all(rate > 0 for rate in self.rates)):
            raise SpecError(f"Heeb(unit={self.unit!r}, rates={self.rates!r}): give numbers above 0")
        if self._step_us < 1:
            raise SpecError(f"a step of {self.every!r} has no length: give one above 0")

    @cached_property
    def _step_us(self) -> int:
        every = self.every
        return every.us if isinstance(every, TimeWindow) else parse_duration_us(every, "step")

    @cached_property
    def _start_us(self) -> int:
        start = self.start or EPOCH
        if start.tzinfo is None:
            start = start.replace(tzinfo=UTC)
        return round((start - EPOCH).total_seconds() * 1e6)

    @cached_property
    def _asked(self) -> tuple[bytes, bytes]:
        """Cache keys: digests of all that each side's curves depend on, apart from the window."""
        left, right = (
            (process, self.survival, self.caching, rate, self._step_us)
            for process, rate in zip((self.right, self.left), self.rates[::-1], strict=True)
        )
        return blake2b(pickle.dumps(left)).digest(), blake2b(pickle.dumps(right)).digest()

    def check(self, windows: tuple[Window, Window]) -> None:
        """Require time windows, since steps are times."""
        require_times(windows, 'policy "heeb" looks ahead in time')

    @classmethod
    def of_references(
        cls, process: Process, survival: Survival | None = None, unit: float = 1
    ) -> "Heeb":
        """HEEB for a lookup cache, given the process of the stream's values, one per row.

        Examples
        --------
        >>> from headgate.models import AutoRegressive
        >>> Heeb.of_references(AutoRegressive(0.72, 55.9, 42.2), unit=0.1).caching
        True
        """
        return cls(process, process, survival, unit=unit, caching=True)

    def in_cache(self, step: TimeWindow) -> "Heeb":
        """One step of the process per reference; only the first match of a row counts."""
        return replace(self, caching=True, every=step, start=None, rates=(1.0, 1.0))

    def within(self, rows: int | None) -> "Heeb":
        """Set the survival function if not given: by Little's law; in a cache, as many references
        as it has rows."""
        if self.survival is not None:
            return self
        if rows is None:
            raise SpecError(
                'policy "heeb" must know how long rows will stay, and a budget in bytes does not '
                "say: give Heeb(survival=hg.models.ExponentialLife.of_lifetime(steps)), or a "
                "budget in rows"
            )
        if self.caching:
            return replace(self, survival=ExponentialLife(rows))
        return replace(self, survival=ExponentialLife.of_budget(rows, sum(self.rates)))

    def weigh(self, columns: Sequence[pa.ChunkedArray], side: int) -> np.ndarray:
        """The key value, in multiples of ``unit``."""
        return key_values(columns, self.unit, self.label)

    def frames(self, arrivals: Arrivals) -> Frames:
        """The current state of each stream, by its own process."""
        step = (arrivals.time - self._start_us) // self._step_us
        value = arrivals.weight.astype(np.int64)
        origin = np.zeros(len(step), np.int64)
        frame = np.zeros(len(step), np.int32)
        for side, process in enumerate((self.left, self.right)):
            mine = arrivals.side == side
            origin[mine], frame[mine] = process.frame(step[mine], value[mine])
        return Frames(origin, frame)

    def curves(self, side: int, window: Window) -> Curves:
        """The benefit at every offset; cached per Python process."""
        process = (self.right, self.left)[side]
        if self.survival is None:
            raise SpecError("Heeb without survival= serves a join whose budget is in rows")
        key = self._asked[side], window
        if key not in _TABLES:
            if len(_TABLES) >= MOST_TABLES:
                _TABLES.clear()
            _TABLES[key] = self._computed(process, self.survival, side, window)
        return _TABLES[key]

    def _computed(self, process: Process, survival: Survival, side: int, window: Window) -> Curves:
        rate = self.rates[1 - side]
        horizon = survival.horizon(NOTHING) or ENDLESS
        if window.span >= 2 * horizon * self._step_us:
            # Rows are evicted long before the window ends.
            table, lowest = curve_table(process, survival, self.caching, [None], rate)
            return compact(table, lowest, window.span)
        class_us = max(1, -(-window.span // AGE_CLASSES))
        # The rest of the window in the middle of each class.
        left = [window.span - (2 * age + 1) * class_us // 2 for age in range(AGE_CLASSES)]
        steps = [max(0, remaining // self._step_us) for remaining in left]
        table, lowest = curve_table(process, survival, self.caching, steps, rate)
        return compact(table, lowest, class_us)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.left!r}, {self.right!r}, survival={self.survival!r}, "
            f"every='{format_duration(self._step_us)}')"
        )


def compact(table: np.ndarray, lowest: int, class_us: int) -> Curves:
    """Trim the zero ends of curves, and coarsen them to the most entries allowed."""
    table = smoothed(table)
    some = np.flatnonzero(table.any(axis=(0, 1)))
    first, end = (int(some[0]), int(some[-1]) + 1) if len(some) else (0, 1)
    grain = max(0, (end - first - 1).bit_length() - MOST_ENTRIES.bit_length() + 1)
    middle = min((1 << grain) // 2, end - first - 1)
    entries = np.ascontiguousarray(table[:, :, first + middle : end : 1 << grain])
    return Curves(entries, lowest + first, grain, class_us)


def smoothed(table: np.ndarray) -> np.ndarray:
    """Remove the turns in curves that come from rounding errors.

    Examples
    --------
    >>> smoothed(np.array([0.0, 1.0, 1.0 - 1e-12, 2.0, 1.0, 1e-15])).tolist()
    [0.0, 1.0, 1.0, 2.0, 1.0, 0.0]
    >>> columns = np.array([[0.0, 1.0, 1.0 - 1e-12]] * 2, order="F")
    >>> smoothed(columns).tolist()
    [[0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]
    """
    most = float(table.max(initial=0.0))
    # Machine code takes curves whose points stand side by side, and smooths them where they stand.
    curves = np.ascontiguousarray(np.where(table < NOTHING * most, 0.0, table))
    _smooth(curves.reshape(-1, table.shape[-1]), RIPPLE * most)
    return curves


@compiled
def _smooth(curves: np.ndarray, ripple: float) -> None:
    """Continue in one direction as long as reversals stay small."""
    for which in range(curves.shape[0]):
        curve = curves[which]
        at = 0
        while at < curve.size - 1:
            rising = curve[at + 1] >= curve[at]
            end = at
            peak = curve[at]
            while end + 1 < curve.size:
                ahead = curve[end + 1] - peak if rising else peak - curve[end + 1]
                if ahead < -ripple:
                    break
                peak = max(peak, curve[end + 1]) if rising else min(peak, curve[end + 1])
                end += 1
                curve[end] = peak
            at = max(end, at + 1)
