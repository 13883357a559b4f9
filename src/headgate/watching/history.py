"""The history of watched queries: a file of bounded size, which outlasts page and query.

A database file (SQLite) with rings of records: the latest batches one by one, and older time in
steps that grow. Several processes may read it while one writes; a file that cannot be written costs
the page its history, and the query nothing.
"""

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from headgate.spec import SpecError
from headgate.watching.batch_record import BatchRecord

FILE = "history.sqlite"
FORMAT = 1
WAIT_S = 2.0
"""How long to wait for another process that writes."""
MOST_BYTES = 1 << 24
"""Of a record; one of a thousand shards takes some 200 kB."""
EVENTS = 500
"""Events kept: starts, ends, changes of policy and of limits."""


class Ring(NamedTuple):
    """Records of stretches of so many seconds; of single batches where that is 0."""

    step_s: int
    most: int


RINGS = (Ring(0, 2000), Ring(20, 2160), Ring(300, 2304))
"""The latest batches; twelve hours in steps of 20 seconds; eight days in steps of five minutes."""

_TABLES = f"""
CREATE TABLE IF NOT EXISTS joins (
    id INTEGER PRIMARY KEY, query TEXT NOT NULL, name TEXT NOT NULL, title TEXT NOT NULL,
    about TEXT NOT NULL, run TEXT NOT NULL, state TEXT NOT NULL, totals TEXT NOT NULL,
    written INTEGER NOT NULL, UNIQUE (query, name));
CREATE TABLE IF NOT EXISTS records (
    joined INTEGER NOT NULL, ring INTEGER NOT NULL, slot INTEGER NOT NULL, number INTEGER NOT NULL,
    at REAL NOT NULL, data BLOB NOT NULL, PRIMARY KEY (joined, ring, slot));
CREATE INDEX IF NOT EXISTS by_time ON records (joined, ring, at);
CREATE TABLE IF NOT EXISTS events (
    slot INTEGER PRIMARY KEY, number INTEGER NOT NULL, joined INTEGER NOT NULL, at REAL NOT NULL,
    what TEXT NOT NULL);
PRAGMA user_version = {FORMAT};
"""


@dataclass(frozen=True)
class WatchedQuery:
    """A join or lookup that was watched.

    Attributes
    ----------
    number
        Its number in the file.
    query, name, title
        The query's id, the name of the metrics, and how the page calls it.
    about
        What it is, as its query tells.
    state
        "running", "ended" or "failed".
    totals
        Figures that add up, since it was first watched.
    written
        Batches written so far.
    """

    number: int
    query: str
    name: str
    title: str
    about: Mapping[str, Any]
    state: str
    totals: Mapping[str, float]
    written: int


class Event(NamedTuple):
    """Something that happened at a time."""

    at: float
    what: str


class History:
    """The file in a folder.

    Parameters
    ----------
    folder
        Where it is; created unless it is only read.
    read_only
        Never write; raise if there is no history.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> history = History(Path(mkdtemp()))
    >>> number = history.joined("query-1", "headgate", "shop", "{}", run="a")
    >>> record = BatchRecord(10.0, 0, 1, 0.5, 0.5, None, {"left_rows": 3, "right_rows": 1}, [])
    >>> history.add(number, record, {"left_rows": 3.0})
    >>> [(each.title, each.written) for each in history.watched()]
    [('shop', 1)]
    >>> [each.rows for each in history.records(number, ring=0)]
    [4]
    """

    def __init__(self, folder: Path, read_only: bool = False) -> None:
        self.path = folder / FILE
        if read_only:
            if not self.path.is_file():
                raise SpecError(
                    f"{folder} has no history to show: give the folder= of hg.watch(...), in which "
                    f"a query has written {FILE}"
                )
        else:
            folder.mkdir(parents=True, exist_ok=True)
            if not self.path.exists():
                self.path.touch(mode=0o600)
            with self._open() as file:
                file.execute("PRAGMA journal_mode = WAL")
                file.executescript(_TABLES)
        self._check()

    def _check(self) -> None:
        try:
            with self._open() as file:
                (found,) = file.execute("PRAGMA user_version").fetchone()
        except sqlite3.DatabaseError as error:
            raise SpecError(f"{self.path} is no history: {error}") from None
        if found != FORMAT:
            raise SpecError(
                f"{self.path} was written by another version of Headgate (format {found}, this one "
                f"has {FORMAT}): give another folder"
            )

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection of its own: threads of a page read while a query writes."""
        with closing(sqlite3.connect(self.path, timeout=WAIT_S)) as file:
            # What a power cut loses is some seconds of history.
            file.execute("PRAGMA synchronous = OFF")
            with file:
                yield file

    def joined(self, query: str, name: str, title: str, about: str, run: str) -> int:
        """The number of a join or lookup, new or known; it runs from now on."""
        with self._open() as file:
            known = file.execute(
                "SELECT id FROM joins WHERE query = ? AND name = ?", (query, name)
            ).fetchone()
            if known is None:
                found = file.execute(
                    "INSERT INTO joins (query, name, title, about, run, state, totals, written) "
                    "VALUES (?, ?, ?, ?, ?, 'running', '{}', 0)",
                    (query, name, title, about, run),
                )
                return int(found.lastrowid or 0)
            file.execute(
                "UPDATE joins SET title = ?, about = ?, run = ?, state = 'running' WHERE id = ?",
                (title, about, run, *known),
            )
            return int(known[0])

    def ended(self, query: str, run: str, state: str, at: float) -> None:
        """Write down that a run of a query has ended."""
        with self._open() as file:
            mine = "WHERE query = ? AND run = ?"
            found = file.execute(f"SELECT id FROM joins {mine}", (query, run)).fetchall()
            for (number,) in found:
                _note(file, number, at, f"the query {state}")
            file.execute(f"UPDATE joins SET state = ? {mine}", (state, query, run))

    def add(self, number: int, record: BatchRecord, totals: Mapping[str, float]) -> None:
        """Write a batch, into every ring."""
        with self._open() as file:
            (written,) = file.execute(
                "SELECT written FROM joins WHERE id = ?", (number,)
            ).fetchone()
            for place, ring in enumerate(RINGS):
                slot, merged = written % ring.most, record
                if ring.step_s:
                    step = int(record.at) // ring.step_s
                    slot = step % ring.most
                    before = file.execute(
                        "SELECT at, data FROM records WHERE joined = ? AND ring = ? AND slot = ?",
                        (number, place, slot),
                    ).fetchone()
                    if before is not None and int(before[0]) // ring.step_s == step:
                        merged = _unpacked(before[1]).then(record)
                file.execute(
                    "INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?)",
                    (number, place, slot, written, record.at, _packed(merged)),
                )
            file.execute(
                "UPDATE joins SET written = ?, totals = ?, state = 'running' WHERE id = ?",
                (written + 1, json.dumps(totals), number),
            )

    def note(self, number: int, at: float, what: str) -> None:
        """Write down an event."""
        with self._open() as file:
            _note(file, number, at, what)

    def watched(self) -> list[WatchedQuery]:
        """All joins and lookups; running ones first, the latest before others."""
        columns = "id, query, name, title, about, state, totals, written"
        with self._open() as file:
            rows = file.execute(
                f"SELECT {columns} FROM joins ORDER BY state = 'running' DESC, id DESC"
            ).fetchall()
        return [
            WatchedQuery(
                number=row[0],
                query=row[1],
                name=row[2],
                title=row[3],
                about=json.loads(row[4]),
                state=row[5],
                totals=json.loads(row[6]),
                written=row[7],
            )
            for row in rows
        ]

    def records(
        self, number: int, ring: int, since: float = 0.0, after: int = -1
    ) -> Iterator[BatchRecord]:
        """The records of a ring in order of time, from a time or after a batch written."""
        asked = "joined = ? AND ring = ? AND at >= ? AND number > ? ORDER BY at, number"
        with self._open() as file:
            rows = file.execute(
                f"SELECT data FROM records WHERE {asked}", (number, ring, since, after)
            )
            for (data,) in rows:
                yield _unpacked(data)

    def count(self, number: int, ring: int, since: float) -> int:
        """How many records of a ring there are from a time on."""
        asked = "joined = ? AND ring = ? AND at >= ?"
        with self._open() as file:
            (found,) = file.execute(
                f"SELECT count(*) FROM records WHERE {asked}", (number, ring, since)
            ).fetchone()
        return int(found)

    def bounds(self, number: int, ring: int) -> tuple[float, float]:
        """When a ring begins and ends; zeros for an empty one."""
        with self._open() as file:
            first, last = file.execute(
                "SELECT min(at), max(at) FROM records WHERE joined = ? AND ring = ?",
                (number, ring),
            ).fetchone()
        return first or 0.0, last or 0.0

    def events(self, number: int, since: float = 0.0) -> list[Event]:
        """The events of a join from a time on, in order."""
        with self._open() as file:
            rows = file.execute(
                "SELECT at, what FROM events WHERE joined = ? AND at >= ? ORDER BY number",
                (number, since),
            ).fetchall()
        return [Event(*row) for row in rows]

    def stamp(self) -> tuple[int, ...]:
        """Times and sizes of its files: where they are the same, nothing was written.

        Two looks at files are a hundred times cheaper than one into the database.
        """
        found: list[int] = []
        for path in (self.path, self.path.with_name(f"{FILE}-wal")):
            with suppress(FileNotFoundError):
                told = path.stat()
                if told.st_size:
                    found += (told.st_mtime_ns, told.st_size)
        return tuple(found)

    def versions(self) -> dict[int, tuple[int, str]]:
        """Of each join the batches written and its state: enough to see that there is news."""
        with self._open() as file:
            rows = file.execute("SELECT id, written, state FROM joins").fetchall()
        return {number: (written, state) for number, written, state in rows}


def _note(file: sqlite3.Connection, number: int, at: float, what: str) -> None:
    (last,) = file.execute("SELECT coalesce(max(number), 0) FROM events").fetchone()
    row = ((last + 1) % EVENTS, last + 1, number, at, what)
    file.execute("INSERT OR REPLACE INTO events VALUES (?, ?, ?, ?, ?)", row)


def _packed(record: BatchRecord) -> bytes:
    return zlib.compress(record.as_text().encode(), 1)


def _unpacked(data: bytes) -> BatchRecord:
    try:
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(data, MOST_BYTES)
    except (zlib.error, TypeError) as error:
        raise SpecError(f"a record of the page's history cannot be unpacked: {error}") from error
    if unpacking.unconsumed_tail:
        raise SpecError(f"a record of the page's history has more than {MOST_BYTES:,} bytes")
    return BatchRecord.from_text(text)
