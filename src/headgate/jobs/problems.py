"""Collects all problems of a job file, each with its line."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from headgate.jobs.lines import Lines, Path
from headgate.spec import SpecError

T = TypeVar("T")


@dataclass(frozen=True, order=True)
class Problem:
    """One problem, and the line of the file to fix."""

    line: int
    message: str


class JobError(SpecError):
    """A job file cannot be run; the message has one line per problem, with its place.

    Examples
    --------
    >>> print(JobError("job.toml", [Problem(12, "no such policy"), Problem(3, "no path")]))
    job.toml:3: no path
    job.toml:12: no such policy
    """

    def __init__(self, file: str, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(f"{file}:{it.line}: {it.message}" for it in self.problems))


class Problems:
    """The problems found so far in a file."""

    def __init__(self, file: str, lines: Lines) -> None:
        self._file, self._lines = file, lines
        self._found: list[Problem] = []

    def note(self, path: Path, message: str) -> None:
        """Record a problem with a value, or with its absence."""
        self._found.append(Problem(self._lines.of(path), message))

    def attempt(self, path: Path, make: Callable[[], T]) -> T | None:
        """Return what is built from a value; if that fails, record the problem and return None."""
        try:
            return make()
        except SpecError as error:
            self.note(path, f"{_dotted(path)}: {error}")
            return None

    @property
    def count(self) -> int:
        """Number of problems so far."""
        return len(self._found)

    def raise_if_any(self) -> None:
        """Raise a `JobError` with all problems, if there are any."""
        if self._found:
            raise JobError(self._file, self._found)


def _dotted(path: Path) -> str:
    return ".".join(str(name) for name in path)
