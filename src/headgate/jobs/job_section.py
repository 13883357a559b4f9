"""Reads the values of one table of a job file, checking their types."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from headgate.jobs.lines import Path
from headgate.jobs.problems import Problems


class JobSection:
    """A table, its place in the file, and the list that its problems are added to.

    Reading a name makes it known; `close` reports the names that were never read. An invalid value
    is reported, and None is returned in its place.
    """

    def __init__(self, values: Mapping[str, Any], path: Path, problems: Problems) -> None:
        self._values, self.path, self.problems = values, path, problems
        self._known: list[str] = []

    @property
    def name(self) -> str:
        """The table's name in messages."""
        return ".".join(str(part) for part in self.path)

    def at(self, name: str) -> Path:
        """The place of a value."""
        return (*self.path, name)

    def has(self, name: str) -> bool:
        """Whether the value is given, valid or not."""
        return name in self._values

    def any(self, name: str) -> Any:
        """A value of any type."""
        self._known.append(name)
        return self._values.get(name)

    def text(self, name: str, give: str, required: bool = False) -> str | None:
        """Read a text that is not empty; ``give`` is the advice for the error message."""
        given = self.any(name)
        if isinstance(given, str) and given.strip():
            return given
        if given is not None:
            self._refuse(name, given, give)
        elif required:
            self.missing(name, give)
        return None

    def texts(self, name: str, give: str) -> tuple[str, ...] | None:
        """Read a text or an array of texts."""
        given = self.any(name)
        if given is None:
            return None
        several = given if isinstance(given, list) else [given]
        if several and all(isinstance(one, str) and one for one in several):
            return tuple(several)
        self._refuse(name, given, give)
        return None

    def whole(self, name: str, give: str, least: int | None = None) -> int | None:
        """A whole number."""
        given = self.any(name)
        whole = isinstance(given, int) and not isinstance(given, bool)
        if whole and (least is None or given >= least):
            return int(given)
        if given is not None:
            self._refuse(name, given, give)
        return None

    def number(self, name: str, give: str) -> float | None:
        """A number, whole or not."""
        given = self.any(name)
        if isinstance(given, int | float) and not isinstance(given, bool):
            return given
        if given is not None:
            self._refuse(name, given, give)
        return None

    def section(self, name: str, what: str, required: bool = False) -> "JobSection | None":
        """A table within this one."""
        given = self.any(name)
        if isinstance(given, dict):
            return JobSection(given, self.at(name), self.problems)
        if given is not None:
            self._refuse(name, given, f"{what}, a table")
        elif required:
            self.missing(name, what)
        return None

    def items(self) -> Mapping[str, Any]:
        """All entries of a table whose names the user chooses."""
        self._known += self._values
        return self._values

    def missing(self, name: str, give: str) -> None:
        """Report that a required value is missing."""
        where = f"[{self.name}]" if self.path else "the file"
        said = name if self.path else f"[{name}]"
        self.problems.note(self.path, f"{where} has no {said}: give {give}")

    def close(self) -> None:
        """Report every name that was never read, with the nearest known name."""
        for name in self._values:
            if name in self._known:
                continue
            near = get_close_matches(name, self._known, n=1)
            where = f"[{self.name}]" if self.path else "a job"
            known = ", ".join(dict.fromkeys(self._known))
            meant = f'did you mean "{near[0]}"?' if near else f"known are {known}"
            self.problems.note(self.at(name), f'"{name}" is not known in {where}: {meant}')

    def _refuse(self, name: str, given: Any, give: str) -> None:
        shown = ".".join(str(part) for part in self.at(name))
        self.problems.note(self.at(name), f"{shown} = {_shown(given)} is not accepted: give {give}")


def _shown(given: Any) -> str:
    """Show a value roughly as it is written in the file."""
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, dict):
        return "{...}"
    text = f'"{given}"' if isinstance(given, str) else str(given)
    return text if len(text) <= 60 else f"{text[:57]}..."
