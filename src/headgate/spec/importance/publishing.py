"""Publishes importance definitions as files in a folder that running queries read."""

import json
import os
import time
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

from headgate.spec.bounded_json import read_json
from headgate.spec.errors import SpecError

Moment = datetime | str | None
SUFFIX = ".json"
LONGEST_LINE = 4_000_000
"""Characters of a published file."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def event_time(given: Moment) -> datetime | None:
    """An event time in UTC, from a datetime or ISO text that tells its zone.

    Examples
    --------
    >>> event_time("2026-01-01T09:00+09:00")
    datetime.datetime(2026, 1, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    if given is None:
        return None
    moment: object = given
    if isinstance(given, str):
        try:
            moment = datetime.fromisoformat(given)
        except ValueError:
            moment = None
    if not isinstance(moment, datetime):
        raise SpecError(
            f"at={given!r} is not an event time: give a datetime with a zone, text such as "
            f'"2026-01-01T08:00:00+00:00", or None for the next batch'
        )
    if moment.tzinfo is None:
        raise SpecError(
            f"at={given!r} does not say in which zone: give a datetime with a tzinfo, or text "
            f'that ends in a zone, such as "{moment.isoformat()}+00:00"'
        )
    return moment.astimezone(UTC)


def microseconds_of(moment: datetime) -> int:
    """Microseconds since the epoch of a time with a zone."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def write_definition(folder: str | os.PathLike[str], definition: str, at: Moment) -> Path:
    """Write one file with one line, atomically; its name sorts after all others."""
    moment = event_time(at)
    line = json.dumps(
        {
            "definition": definition,
            "at": None if moment is None else moment.isoformat(timespec="microseconds"),
        }
    )
    if "://" in os.fspath(folder):
        raise SpecError(
            f"folder {os.fspath(folder)!r} is an address: give a folder that this machine and "
            f"Spark both reach under its path"
        )
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"{_next_number(place):020d}-{uuid.uuid4().hex}{SUFFIX}"
    # Spark passes over names that begin with a dot.
    unseen = place / f".{path.name}.unfinished"
    with unseen.open("w", encoding="utf-8") as file:
        file.write(line + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(unseen, path)
    _sync_folder(place)
    return path


def definitions_in(folder: str | os.PathLike[str]) -> list[tuple[datetime | None, str]]:
    """All definitions in a folder, and from when on they hold, in the order they were published."""
    found = []
    for path in published(Path(folder)):
        try:
            found += [_read_line(line) for line in path.read_bytes().splitlines() if line.strip()]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SpecError(
                f"{path} is not a published definition of importance ({error}): remove it, or "
                f"write it with MaxImportance.publish"
            ) from error
    return found


def _read_line(line: bytes) -> tuple[datetime | None, str]:
    given = read_json(line.decode(), "a published definition", LONGEST_LINE, deepest=1)
    return event_time(given["at"]), str(given["definition"])


def published(folder: Path) -> list[Path]:
    """The files of a folder, in the order they were published; none where there is no folder."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.glob(f"*{SUFFIX}") if path.name[0] not in "._")


def _next_number(folder: Path) -> int:
    """The time in nanoseconds, or one more than the last where the clock has been set back."""
    numbers = [path.name.partition("-")[0] for path in published(folder)]
    last = max((int(number) for number in numbers if number.isdecimal()), default=0)
    return max(time.time_ns(), last + 1)


def _sync_folder(folder: Path) -> None:
    """Make the new name as durable as the file."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
