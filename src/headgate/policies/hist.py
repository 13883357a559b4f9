"""HIST: a learned variant of HEEB, for streams of which only the form is known."""

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from headgate.models.value_histogram import ValueHistogram
from headgate.policies.key_values import key_values
from headgate.policies.kinds.curve_score import Curves, CurveScore, Frames, ObservedStretch
from headgate.policies.policy import Arrivals
from headgate.policies.structures.offset_sums import OffsetSums
from headgate.policies.structures.ordered_sums import in_order
from headgate.spec import SpecError, Window

FORMS = ("trend", "walk")
FADING = 0.9
"""Factor by which past observations are discounted after each epoch."""
WIDEST = 1 << 14
"""Offsets farther out share a bucket."""
UNTRIED = 64


@dataclass(frozen=True)
class Hist(CurveScore):
    """Evict the row whose offset has had the fewest matches per second stored.

    A row's offset is the distance of its value from the other stream's trend, or from the last
    value of its walk, by the form of the streams. Two histograms over the offset learn from rows
    that leave: how many matches they made and how long they were stored. A row's score is the ratio
    of the two, matches per second. Trends are fitted by a line through recent values.

    Parameters
    ----------
    form
        "trend" for a line with noise, "walk" for steps from the last value.
    buckets
        Of each histogram.
    unit
        Values are integer multiples of it.

    Examples
    --------
    >>> Hist("walk").label
    'HIST'

    References
    ----------
    Xie, Yang and Chen, On Joining and Caching Stochastic Streams, SIGMOD 2005, section 6.2. The
    paper multiplies matches by the mean of inverse lifetimes, which is dominated by rows that leave
    at once; dividing by the mean lifetime gave up to 5 % more on the streams of its Figure 14.
    """

    form: str = "trend"
    buckets: int = 10
    unit: float = 1
    _memory: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    name: ClassVar[str] = "hist"
    keeps_matched: ClassVar[bool] = True
    observes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise SpecError(f'Hist(form={self.form!r}): give "trend" or "walk"')
        if not isinstance(self.buckets, int) or self.buckets < 2:
            raise SpecError(f"Hist(buckets={self.buckets!r}): give a whole number, 2 or more")
        if not self.unit > 0:
            raise SpecError(f"Hist(unit={self.unit!r}): give a number above 0")

    def weigh(self, columns: Sequence[pa.ChunkedArray], side: int) -> np.ndarray:
        """The key value, in multiples of ``unit``."""
        return key_values(columns, self.unit, self.label)

    def recalling(self, memory: str) -> "Hist":
        """The policy with the lines and histograms of earlier steps."""
        return replace(self, _memory=json.loads(memory) if memory else {})

    def frames(self, arrivals: Arrivals) -> Frames:
        """The last value of a walk, or the present value of a trend's line."""
        value = arrivals.weight.astype(np.int64)
        frame = np.zeros(len(value), np.int32)
        if self.form == "walk":
            return Frames(value, frame)
        origin = value.copy()
        for side in (0, 1):
            mine = arrivals.side == side
            line = _Line.of(self._memory.get("lines"), side)
            if line.count >= 2:
                origin[mine] = np.rint(line.at(arrivals.time[mine])).astype(np.int64)
        return Frames(origin, frame)

    def curves(self, side: int, window: Window) -> Curves:
        """Matches per time stored; random before anything is known."""
        pair = self._histograms(side)
        if pair is None:
            drawn = np.random.default_rng(side).random(UNTRIED)
            return Curves(drawn.reshape(1, 1, -1), -UNTRIED // 2, 0, 1)
        matches, stay_s = pair
        offset = np.arange(matches.edges[0], matches.edges[-1])
        worth = matches.at(offset) / stay_s.at(offset)
        return Curves(worth.reshape(1, 1, -1), int(offset[0]), 0, 1)

    def remember(self, seen: ObservedStretch) -> str:
        """Lines and histograms, and what this epoch will add to them."""
        known = self._memory
        total_bytes = known.get("bytes", 0) + seen.bytes
        points = [
            _Points.of(known.get("points"), side).with_more(seen.arrivals, side) for side in (0, 1)
        ]
        departures = [self._departures(seen, side) for side in (0, 1)]
        until = seen.next_end(known, total_bytes)
        now = {**known, "bytes": total_bytes}
        if until is None:
            open_sums = {
                "points": [side.to_list() for side in points],
                "departures": [side.to_list() for side in departures],
            }
            return json.dumps(now | open_sums, sort_keys=True)
        learned = {
            "lines": [
                _Line.of(known.get("lines"), side).with_more(points[side]).to_list()
                for side in (0, 1)
            ],
            "histograms": [self._with_more(departures[side], side) for side in (0, 1)],
        }
        closed = {"points": None, "departures": None, "until": until}
        return json.dumps(now | learned | closed, sort_keys=True)

    def _departures(self, seen: ObservedStretch, side: int) -> OffsetSums:
        """What became of a side's rows in this epoch."""
        so_far, left = self._memory.get("departures"), seen.departures
        mine = left.side == side
        return OffsetSums.of(so_far and so_far[side]).add(
            np.clip(left.offset[mine], -WIDEST, WIDEST),
            left.matches[mine],
            np.maximum(left.stayed_us[mine], 1),
        )

    def _with_more(self, left: OffsetSums, side: int) -> list[Any] | None:
        """A side's histograms after an epoch, as plain numbers."""
        pair = self._histograms(side)
        offset = left.offset
        if len(offset):
            lowest, highest = int(offset.min()), int(offset.max())
            old = pair or [ValueHistogram.over(lowest, highest, self.buckets)] * 2
            measures = (left.matches / left.rows, left.stayed_us / left.rows / 1e6)
            pair = [
                one.faded(FADING)
                .covering(lowest, highest)
                .add(offset, measure, left.rows)
                .reshaped(self.buckets)
                for one, measure in zip(old, measures, strict=True)
            ]
        return None if pair is None else [one.to_list() for one in pair]

    def _histograms(self, side: int) -> list[ValueHistogram] | None:
        known = self._memory.get("histograms")
        if known is None or known[side] is None:
            return None
        return [ValueHistogram.from_list(one) for one in known[side]]


@dataclass(frozen=True)
class _Line:
    """A least-squares line through values over time, from exponentially decayed sums."""

    start_us: float = 0.0
    count: float = 0.0
    time: float = 0.0
    value: float = 0.0
    time_time: float = 0.0
    time_value: float = 0.0

    @classmethod
    def of(cls, lines: Any, side: int) -> "_Line":
        return cls(*lines[side]) if lines else cls()

    def to_list(self) -> list[float]:
        return list(astuple(self))

    def with_more(self, points: "_Points") -> "_Line":
        """The line with more points; combines means and centred sums of products."""
        if not points.count:
            return self
        start = self.start_us if self.count else float(points.time_us)
        old, new = self.count * FADING, float(points.count)
        off_time, off_value = points.time / new, points.value / new
        mean_time = (points.time_us - start) / 1e6 + off_time
        mean_value = points.first_value + off_value
        share = new / (old + new)
        apart_time, apart_value = mean_time - self.time, mean_value - self.value
        both = old * share
        return _Line(
            start,
            old + new,
            self.time + apart_time * share,
            self.value + apart_value * share,
            self.time_time * FADING
            + max(points.time_time - new * off_time**2, 0.0)
            + both * apart_time**2,
            self.time_value * FADING
            + (points.time_value - new * off_time * off_value)
            + both * apart_time * apart_value,
        )

    def at(self, time_us: np.ndarray) -> np.ndarray:
        """The line's value at each time."""
        slope = self.time_value / self.time_time if self.time_time > 0 else 0.0
        return self.value + slope * ((time_us - self.start_us) / 1e6 - self.time)


@dataclass(frozen=True)
class _Points:
    """Sums over the points of an epoch, in the order in which they come, from its first one on."""

    count: int = 0
    time_us: int = 0
    first_value: float = 0.0
    time: float = 0.0
    value: float = 0.0
    time_time: float = 0.0
    time_value: float = 0.0

    @classmethod
    def of(cls, points: Any, side: int) -> "_Points":
        return cls(*points[side]) if points else cls()

    def to_list(self) -> list[float]:
        return list(astuple(self))

    def with_more(self, arrivals: Arrivals, side: int) -> "_Points":
        mine = arrivals.side == side
        time_us, values = arrivals.time[mine], arrivals.weight[mine]
        if not len(time_us):
            return self
        first_us = self.time_us if self.count else int(time_us[0])
        first_value = self.first_value if self.count else float(values[0])
        time, value = (time_us - first_us) / 1e6, values - first_value
        sums = ((self.time, time), (self.value, value))
        products = ((self.time_time, time * time), (self.time_value, time * value))
        return _Points(
            self.count + len(time),
            first_us,
            first_value,
            *(in_order(total, more) for total, more in (*sums, *products)),
        )
