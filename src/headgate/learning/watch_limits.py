"""Keeps what is watched to its room: the shares of rows and keys that are drawn, and their changes.

Where one more would not fit, a step is cut before it and the share is lowered, so that what is
watched does not depend on where steps are cut otherwise. Shares are raised at the end of an epoch.
"""

from typing import NamedTuple

import numpy as np

from headgate.kernel.key_draw import KeyDraw
from headgate.kernel.step_progress import StepProgress
from headgate.learning.monitor import LEAST_SHARE, LOWER, Monitor, lowered
from headgate.learning.result_rows import ResultRows
from headgate.learning.watch_room import Coming, Lot, Spans, WatchParts, drawn_of, open_at_once
from headgate.learning.watched_rows import WatchedRows
from headgate.policies.chance import uniform

ROOM_TO_RAISE = 1.7
"""Times that what is watched must fit its room before the share is raised by a step."""
KEYED_BYTES = 26
"""What a watched row takes more where keys are followed."""


class WatchLimits(NamedTuple):
    """The room of a monitor for what is watched.

    Parameters
    ----------
    result
        What the rows of the join's result are.
    parts
        How many rows and keys there is room for.
    """

    monitor: Monitor
    spans: Spans
    result: ResultRows
    parts: WatchParts

    @classmethod
    def of(
        cls, monitor: Monitor, spans: Spans, result: ResultRows, key_bytes: int
    ) -> "WatchLimits":
        """For keys of so many bytes."""
        size = key_bytes + KEYED_BYTES if result.by_key else key_bytes
        size += monitor.columns.row_bytes
        most = monitor.room_now.most_watched(size)
        if monitor.columns.learns:
            most -= most // 2  # as much for examples whose window has passed
        return cls(monitor, spans, result, WatchParts.of(most, result))

    @property
    def examples(self) -> int:
        """How many rows whose window has passed are kept for what their columns tell."""
        return self.parts.by_row + self.parts.by_key

    def most_at_once(self, coming: Coming, watched: WatchedRows, now: StepProgress) -> int:
        """How many of the arrivals a step may take before more are watched than there is room for.

        Where not even the first would fit, fewer are watched from then on.
        """
        watched = watched.where(~self.spans.are_past(watched, now))
        if not (self.result.by_key or any(self.spans.by_rows)):
            return self._by_time(coming, watched, now.seen)
        sequence = coming.sequence(now.seen)
        drawn = uniform(self.monitor.seed, coming.side, sequence)
        count = self._by_row(coming, watched, sequence, drawn)
        if self.result.by_key:
            count = min(count, self._keys(coming))
            count = min(count, self._by_key(coming, watched, sequence, drawn))
        return count

    def _by_time(self, coming: Coming, watched: WatchedRows, seen: tuple[int, int]) -> int:
        """As `_by_row`, where windows are in time: in one pass over the arrivals."""
        monitor = self.monitor
        own = uniform(monitor.seed, watched.side, watched.sequence)
        own_ends = self.spans.last_meeting(watched.side, watched.time)
        while monitor.share:
            kept = own_ends[(watched.share > 0) & (own < monitor.share)]
            lot = Lot(monitor.seed, monitor.share, self.result.row_sides, self.spans.spans)
            places, clock, ends = drawn_of(coming, seen, lot)
            if len(kept) + len(places) <= self.parts.by_row:
                break
            gone = np.searchsorted(np.sort(np.concatenate([kept, ends])), clock, side="left")
            count = len(kept) + np.arange(1, len(places) + 1) - gone
            first = _first_beyond(self.parts.by_row, places, count)
            if first != 0:
                return len(coming.side) if first is None else first
            monitor.share = lowered(monitor.share)
        return len(coming.side)

    def _by_row(
        self, coming: Coming, watched: WatchedRows, sequence: np.ndarray, drawn: np.ndarray
    ) -> int:
        monitor = self.monitor
        own = uniform(monitor.seed, watched.side, watched.sequence)
        able = coming.joins & np.array(self.result.row_sides)[coming.side]
        while monitor.share:
            kept = watched.where((watched.share > 0) & (own < monitor.share))
            chosen = able & (drawn < monitor.share)
            places, count = open_at_once(coming, kept, self.spans, sequence, chosen)
            first = _first_beyond(self.parts.by_row, places, count)
            if first != 0:
                return len(coming.side) if first is None else first
            monitor.share = lowered(monitor.share)
        return len(coming.side)

    def _by_key(
        self, coming: Coming, watched: WatchedRows, sequence: np.ndarray, drawn: np.ndarray
    ) -> int:
        keys, rows = self.monitor.followed_keys, coming.keyed
        draw = keys.rows(self.result.key_sides, np.empty(0, np.uint64))
        watched = watched.where(watched.by_key > 0)
        own = uniform(self.monitor.seed, watched.side, watched.sequence)
        lots = KeyDraw.lots(watched.cluster)
        able = coming.joins & np.array(draw.sides)[coming.side]
        able &= draw.lots_at(rows.key, rows.time) < keys.counted
        while keys.within:
            kept = watched.where((own < keys.within) & (lots < keys.counted))
            chosen = able & (drawn < keys.within)
            places, count = open_at_once(coming, kept, self.spans, sequence, chosen)
            first = _first_beyond(self.parts.by_key, places, count)
            if first != 0:
                return len(coming.side) if first is None else first
            keys.within = lowered(keys.within)
        return len(coming.side)

    def _keys(self, coming: Coming) -> int:
        keys, rows = self.monitor.followed_keys, coming.keyed
        while keys.share:
            rule = keys.entered(self.result.key_sides)
            places, count = keys.seen.at_once(rows, rule, coming.joins)
            first = _first_beyond(self.parts.keys, places, count)
            if first != 0:
                return len(coming.side) if first is None else first
            keys.follow(lowered(keys.share))
        return len(coming.side)

    def limited(self, rows: WatchedRows) -> WatchedRows:
        """The rows that are drawn still, after fewer are; each then stands for more."""
        monitor, keys = self.monitor, self.monitor.followed_keys
        drawn = uniform(monitor.seed, rows.side, rows.sequence)
        by_row = (rows.share > 0) & (drawn < monitor.share)
        by_key = (rows.by_key > 0) & (drawn < keys.within)
        by_key &= KeyDraw.lots(rows.cluster) < keys.counted
        rows = rows._replace(
            share=np.where(by_row, np.minimum(rows.share, monitor.share), 0.0),
            by_key=np.where(by_key, np.minimum(rows.by_key, keys.counted), 0.0),
            within=np.minimum(rows.within, keys.within),
        )
        return rows.where(by_row | by_key)

    def fitting(self, rows: WatchedRows, is_open: np.ndarray) -> WatchedRows:
        """The rows whose window is open, and others while there is room for so many in all."""
        most, seed = self.parts.by_row + self.parts.by_key, self.monitor.seed
        if self.result.by_key:
            return rows.thinned_by_key(is_open, most, seed)
        if self.result.wait:
            return rows.thinned(is_open, most, seed)
        return rows.fitting(is_open, most)

    def resampled(self, rows: WatchedRows, is_open: np.ndarray, clock: int) -> WatchedRows:
        """At the end of an epoch: watch as many as there is room for, by a step more or by steps
        less."""
        monitor = self.monitor
        opened = rows.where(is_open)
        drawn = uniform(monitor.seed, opened.side, opened.sequence)
        own = drawn[opened.share > 0]
        monitor.share = _share_that_fits(monitor.share, own, self.parts.by_row)
        if self.result.by_key:
            self._resample_keys(opened, drawn, clock)
        kept = self.limited(rows._replace(source=np.arange(len(is_open))))
        is_open = is_open[kept.source]
        return self.fitting(kept._replace(source=rows.source[kept.source]), is_open)

    def _resample_keys(self, opened: WatchedRows, drawn: np.ndarray, clock: int) -> None:
        keys = self.monitor.followed_keys
        keys.count_new(clock >> 1)
        rule = keys.entered(self.result.key_sides)
        rows = keys.seen.rows.where(rule.is_open(keys.seen.rows, clock))
        lots = rule.lots(rows)
        share = _share_that_fits(keys.share, lots, self.parts.keys)
        if share <= keys.share:
            keys.follow(share)
        elif keys.raised_us is None:
            keys.follow_more(share, clock >> 1)
        keys.seen = keys.seen.limited(keys.entered(self.result.key_sides))
        mine = (opened.by_key > 0) & (KeyDraw.lots(opened.cluster) < keys.counted)
        keys.within = _share_that_fits(keys.within, drawn[mine], self.parts.by_key)


def _first_beyond(most: int, places: np.ndarray, count: np.ndarray) -> int | None:
    """The first arrival with which there are more than there is room for; None if there is none."""
    over = np.flatnonzero(count > most)
    return int(places[over[0]]) if len(over) else None


def _share_that_fits(share: float, lots: np.ndarray, most: int) -> float:
    """A share, or the next above or below, by how many of those drawn now there is room for."""
    share = share or LEAST_SHARE
    if share < 1.0 and len(lots) * ROOM_TO_RAISE <= most:
        share = min(share / LOWER, 1.0)
    while np.count_nonzero(lots < share) > most:
        share = lowered(share)
    return share
