"""Two processes share out the tests: each takes file after file, from its end, until they meet.

`make test` names a folder, empty at first, in HEADGATE_CLAIMS. Who is first to make the folder of a
file there runs its tests; the other passes them over. Tests without Spark come first, those on
Spark last: the process that starts from the end says so in HEADGATE_TESTS_FROM.
"""

import os
from itertools import chain, groupby
from pathlib import Path

import pytest

CLAIMS = os.environ.get("HEADGATE_CLAIMS")
FROM_THE_END = os.environ.get("HEADGATE_TESTS_FROM") == "end"


def part_of(item: pytest.Item) -> tuple[bool, str]:
    """What is claimed at once: the tests of a file that need Spark, or those that do not."""
    place = item.path.relative_to(item.config.rootpath).as_posix()
    return item.get_closest_marker("spark") is not None, place


class Sharing:
    """The plugin of a process that does not run all tests itself."""

    def __init__(self, claims: Path, from_the_end: bool) -> None:
        self._claims = claims
        self._from_the_end = from_the_end
        self._ours: dict[tuple[bool, str], bool] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put the tests in the order in which this process asks for them."""
        items.sort(key=part_of)
        parts = [list(part) for _, part in groupby(items, part_of)]
        items[:] = chain.from_iterable(reversed(parts) if self._from_the_end else parts)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """Pass over a test that the other process has claimed."""
        part = part_of(item)
        if part not in self._ours:
            self._ours[part] = self._claim(part)
        return None if self._ours[part] else True

    def _claim(self, part: tuple[bool, str]) -> bool:
        on_spark, place = part
        try:
            (self._claims / f"{place.replace('/', '-')}-{on_spark}").mkdir()
        except FileExistsError:
            return False
        return True


def share_out(config: pytest.Config) -> None:
    """Share the tests out, if `make test` asks for it."""
    if CLAIMS:
        config.pluginmanager.register(Sharing(Path(CLAIMS), FROM_THE_END))
