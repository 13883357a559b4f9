"""Tells readers of new batches: one look at the history for all of them, and nobody waits.

Without readers nothing is looked at. A reader who does not take what is sent is told to load
everything anew, once it takes something again.
"""

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import AsyncIterator
from typing import Any

from headgate.watching.history import History
from headgate.watching.page_view import now, point_of

EVERY_S = 1.0
"""How often the history is looked at; short batches are told together."""
TICK_NS = 1_000_000_000
MOST_WAITING = 16
"""Messages that wait for a reader."""
MOST_AT_ONCE = 40
"""Batches that are sent as such; after more, readers load everything anew."""
MOST_READERS = 64
BREATHES_S = 15.0
"""How often a silent stream says that it is alive."""
ALIVE = "event: alive\ndata: 1\n\n"
"""Sent first, too: who loads after it misses nothing."""
END = ""
RELOAD = json.dumps({"reload": True})
_log = logging.getLogger("headgate.watching")


class LiveFeed:
    """Sends new batches of a history to all readers."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._readers: set[asyncio.Queue[str]] = set()
        self._seen: dict[int, tuple[int, str]] = {}
        self._stamp: tuple[int, ...] = ()
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = asyncio.Event()
        """Set once it is known what is no news."""

    def close(self) -> None:
        """End what readers are sent; may be called from any thread."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._tell, END)

    def _tell(self, message: str) -> None:
        for waiting in self._readers:
            _put(waiting, message)

    @property
    def is_full(self) -> bool:
        """Whether there are as many readers as may be."""
        return len(self._readers) >= MOST_READERS

    async def messages(self) -> AsyncIterator[str]:
        """What a new reader is sent, as server-sent events, until the page ends."""
        self._loop = asyncio.get_running_loop()
        waiting: asyncio.Queue[str] = asyncio.Queue(MOST_WAITING)
        self._readers.add(waiting)
        if self._task is None or self._task.done():
            self._ready = asyncio.Event()
            self._task = asyncio.create_task(self._look())
        try:
            await self._ready.wait()
            yield f"retry: 2000\n{ALIVE}"
            while True:
                try:
                    message = await asyncio.wait_for(waiting.get(), BREATHES_S)
                    if message == END:
                        return
                    yield f"data: {message}\n\n"
                except TimeoutError:
                    yield ALIVE
        finally:
            self._readers.discard(waiting)
            if not self._readers and self._task is not None:
                self._task.cancel()
                self._task = None

    async def _look(self) -> None:
        try:
            self._seen = await asyncio.to_thread(self._history.versions)
        except Exception as error:
            _log.warning("the history cannot be read: %s: %s", type(error).__name__, error)
            self._seen = {}
        self._ready.set()
        while True:
            await asyncio.sleep(EVERY_S)
            try:
                if self._is_written():
                    for message in await asyncio.to_thread(self._news):
                        self._tell(message)
            except Exception as error:
                _log.warning("no news for readers: %s: %s", type(error).__name__, error)

    def _is_written(self) -> bool:
        """Whether there may be news since the last look."""
        before, self._stamp = self._stamp, self._history.stamp()
        # Two writes within a tick of the file system's clock have one time.
        return self._stamp != before or time.time_ns() - max(self._stamp, default=0) < TICK_NS

    def _news(self) -> list[str]:
        """A message for each join that has new batches or another state."""
        found, before = self._history.versions(), self._seen
        self._seen = found
        changed = [number for number, told in found.items() if before.get(number) != told]
        if not changed:
            return []
        watched = {each.number: each for each in self._history.watched()}
        messages = []
        for number in changed:
            mine, (seen, _) = watched[number], before.get(number, (0, ""))
            if mine.written - seen > MOST_AT_ONCE or number not in before:
                messages.append(RELOAD)
                continue
            records = list(self._history.records(number, 0, after=seen - 1))
            # A query that goes on did so when its first batch began.
            since = records[0].at - records[0].seconds if records else float("inf")
            told: dict[str, Any] = {
                "id": number,
                "state": mine.state,
                "points": [point_of(record, mine.about) for record in records],
                "events": [list(each) for each in self._history.events(number, since)],
                "now": now(self._history, mine),
            }
            messages.append(json.dumps(told))
        return messages


def _put(waiting: "asyncio.Queue[str]", message: str) -> None:
    if waiting.full():
        while not waiting.empty():
            waiting.get_nowait()
        message = END if message == END else RELOAD
    waiting.put_nowait(message)
