"""The two sides as asked on the command line; every mistake is said at once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from headgate.engine.table_files import check_readable
from headgate.spec import Keys, Side, SpecError
from headgate.spec.window import parse_window

Names = list[str] | None
SIDES = ("left", "right")


@dataclass(frozen=True)
class AskedSides:
    """Files, times, windows and keys as given; pairs hold the left and the right side's values."""

    files: tuple[Path | None, Path | None]
    times: tuple[str, str]
    windows: tuple[str, str]
    keys: tuple[Names, Names, Names]
    """``on``, ``left_on``, ``right_on``."""

    def checked(self, files: bool = True) -> tuple[Side, Side]:
        """The sides; raises with all mistakes, one a line. ``files`` says whether files are due."""
        problems = [*(self._files() if files else ()), *self._sides(), *self._keys()]
        if problems:
            raise SpecError("\n".join(problems))
        left, right = zip(self.times, self.windows, strict=True)
        return Side(*left), Side(*right)

    def _files(self) -> Iterator[str]:
        for which, file in zip(SIDES, self.files, strict=True):
            if file is None:
                yield f"the {which} side is missing: give a Parquet or CSV file, or a folder"
            else:
                yield from _mistakes(partial(check_readable, file, which))

    def _sides(self) -> Iterator[str]:
        for which, time, window in zip(SIDES, self.times, self.windows, strict=True):
            if not time:
                yield f"--{which}-time is missing: name the {which} side's time column"
            if not window:
                yield f'--{which}-window is missing: say how long a {which} row waits, "10 minutes"'
                continue
            for said in _mistakes(partial(parse_window, window)):
                yield f"--{which}-window: {said}"

    def _keys(self) -> Iterator[str]:
        on, left_on, right_on = self.keys
        if not any(self.keys):
            yield "--on is missing: name the key column, or give --left-on and --right-on"
            return
        yield from _mistakes(partial(Keys.parse, on, left_on, right_on))


def _mistakes(check: Callable[[], object]) -> Iterator[str]:
    try:
        check()
    except SpecError as error:
        yield str(error)
