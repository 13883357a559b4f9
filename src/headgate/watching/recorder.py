"""Writes what queries report into their history, on a thread of its own.

Spark's thread only puts a report into a queue; where that is full the oldest is dropped. Nothing
that goes wrong here reaches the query.
"""

import json
import logging
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headgate.metrics import SUM, metrics_of
from headgate.metrics.metric_groups import JOIN_SUMS, LOOKUP_SUMS
from headgate.watching.batch_record import FOLLOWED_BY, BatchRecord, records_of
from headgate.watching.history import History
from headgate.watching.summary import use_of

MOST_WAITING = 1000
"""Reports that wait to be written."""
WAKES_S = 5.0
MOVED = 0.1
"""A limit that moved by less since it was last noted is not worth a note."""
_SUMMED = tuple(each.name for each in metrics_of(*JOIN_SUMS, *LOOKUP_SUMS) if each.batches == SUM)
_log = logging.getLogger("headgate.watching")


class Recorder:
    """Hears reports, and writes them into a history.

    Examples
    --------
    `headgate.spark.report_listener.listen(session, recorder.hear)` connects it to a session.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self._waiting: deque[tuple[str, str]] = deque(maxlen=MOST_WAITING)
        self._news = threading.Event()
        self._stopping = threading.Event()
        self._joins: dict[tuple[str, str], _Joined] = {}
        self._said: set[str] = set()
        self._thread = threading.Thread(target=self._work, name="headgate-recorder", daemon=True)
        self._thread.start()

    def hear(self, kind: str, text: str) -> None:
        """Take a report; returns at once."""
        self._waiting.append((kind, text))
        self._news.set()

    def stop(self) -> None:
        """Write what was heard, and end."""
        self._stopping.set()
        self._news.set()
        self._thread.join(timeout=10.0)

    def _work(self) -> None:
        while True:
            stopping = self._stopping.is_set()
            self._news.clear()
            while self._waiting:
                self._take(*self._waiting.popleft())
            if stopping:
                return
            self._news.wait(WAKES_S)

    def _take(self, kind: str, text: str) -> None:
        try:
            told = json.loads(text)
            if kind == "reported":
                self._report(told)
            elif kind == "ended":
                self._end(told)
        except Exception as error:
            # A page must never cost a query anything; each kind of failure is told once.
            name = type(error).__name__
            if name not in self._said:
                self._said.add(name)
                _log.warning("a batch is missing on the page: %s: %s", name, error)

    def _end(self, told: Mapping[str, Any]) -> None:
        query, run = str(told["id"]), str(told["runId"])
        state = "failed" if told.get("failed") else "ended"
        self._history.ended(query, run, state, time.time())

    def _report(self, told: Mapping[str, Any]) -> None:
        query, run = str(told["id"]), str(told["runId"])
        for name, about, record in records_of(told):
            key = (query, name)
            joined = self._joins.get(key)
            if joined is None or joined.run != run:
                title = str(told.get("name") or f"query {query[:8]}")
                number = self._history.joined(query, name, title, about, run)
                joined = self._joins[key] = _Joined.of(self._history, number, run)
                again = "the query goes on" if joined.totals else "the query starts"
                self._history.note(number, record.at - record.seconds, again)
            record = joined.placed(record)
            # Before the batch: readers are told of events with the batch that brought them.
            for what in joined.changes(record, json.loads(about)):
                self._history.note(joined.number, record.at, what)
            self._history.add(joined.number, record, joined.counted(record))


class _Joined:
    """What is known of a join between two of its reports."""

    def __init__(self, number: int, run: str, totals: dict[str, float], last_at: float) -> None:
        self.number, self.run, self.totals, self._last_at = number, run, totals, last_at
        self._followed: tuple[str, ...] = ()
        self._limit = 0.0

    @classmethod
    def of(cls, history: History, number: int, run: str) -> "_Joined":
        mine = next(each for each in history.watched() if each.number == number)
        # A pause between two runs is no time in which rows came slowly.
        return cls(number, run, dict(mine.totals), 0.0)

    def placed(self, record: BatchRecord) -> BatchRecord:
        """The record with the time since the one before; of the first there is none."""
        span = max(record.at - self._last_at, record.seconds) if self._last_at else 0.0
        self._last_at = record.at
        return replace(record, span=span)

    def counted(self, record: BatchRecord) -> dict[str, float]:
        """Totals, with this batch in them."""
        for name in _SUMMED:
            value = record.figures.get(name)
            if value is not None:
                self.totals[name] = self.totals.get(name, 0.0) + value
        self.totals["batches"] = self.totals.get("batches", 0.0) + record.batches
        return self.totals

    def changes(self, record: BatchRecord, about: Mapping[str, Any]) -> list[str]:
        """What is worth a note: another policy, another limit."""
        said = []
        figures = record.figures
        followed = tuple(name for name in FOLLOWED_BY if figures.get(name))
        if followed and followed != self._followed:
            if self._followed:
                names = (name.removeprefix("followed_").upper() for name in followed)
                said.append(f"now follows {' and '.join(names)}")
            self._followed = followed
        limit = figures.get("limit") or 0.0
        if limit and abs(limit - self._limit) > MOVED * self._limit:
            if self._limit:
                way = "raised" if limit > self._limit else "lowered"
                said.append(f"limit {way} to {use_of(record, about).budget_text}")
            self._limit = limit
        return said
