"""The lines of a TOML document on which its values stand."""

import itertools
import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headgate.jobs.lines import Lines

names = st.sampled_from(["a", "b", "left", '"a b"', "'x.y'", '"\\u00e9"', "1", "a-b"])
scalars = st.sampled_from(["1", '"x = 2"', "true", "'# no'", "2026-01-01", '"""\n[q]\nw = 1\n"""'])
NAME = {written: next(iter(tomllib.loads(f"{written} = 0"))) for written in (
    "a", "b", "left", '"a b"', "'x.y'", '"\\u00e9"', "1", "a-b")}  # fmt: skip


class Writer:
    """Writes TOML and notes the line of all it writes, knowing nothing of how it is parsed."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.text = ""
        self.lines: dict[tuple[str | int, ...], int] = {}

    @property
    def line(self) -> int:
        return self.text.count("\n") + 1

    def gap(self) -> None:
        self.text += self.draw(st.sampled_from(["", "\n", "# [left]\n", "  # a = 1\n\n"]))

    def table(self, path: tuple[str | int, ...]) -> None:
        for written in self.draw(st.lists(names, unique=True, max_size=3)):
            self.gap()
            self.lines[*path, NAME[written]] = self.line
            self.text += f"{written} = "
            self.value((*path, NAME[written]), depth=2)
            self.text += self.draw(st.sampled_from(["\n", " # c\n"]))

    def value(self, path: tuple[str | int, ...], depth: int) -> None:
        kind = self.draw(st.sampled_from(["scalar", "array", "inline"] if depth else ["scalar"]))
        if kind == "scalar":
            self.text += self.draw(scalars)
        elif kind == "array":
            self.text += "["
            for number in range(self.draw(st.integers(0, 3))):
                self.text += self.draw(st.sampled_from(["", "\n", " # [x]\n"]))
                self.lines[*path, number] = self.line
                self.value((*path, number), depth - 1)
                self.text += ","
            self.text += "]"
        else:
            self.text += "{ "
            inside = self.draw(st.lists(names, unique=True, max_size=2))
            for place, written in enumerate(inside):
                self.text += ", " if place else ""
                self.lines[*path, NAME[written]] = self.line
                self.text += f"{written} = "
                self.value((*path, NAME[written]), depth - 1)
            self.text += " }"


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[tuple[str | int, ...], int]]:
    """A TOML text, and the line of every key and array element in it."""
    writer = Writer(draw)
    for written in draw(st.lists(names, unique=True, max_size=3)):
        writer.gap()
        repeated = draw(st.integers(0, 2))
        path: tuple[str | int, ...] = (NAME[written],)
        if repeated:
            for number in range(repeated):
                writer.lines[path] = writer.lines[*path, number] = writer.line
                writer.text += f"[[ {written} ]]\n"
                writer.table((*path, number))
        else:
            writer.lines[path] = writer.line
            writer.text += f"[{written}]\n"
            writer.table(path)
            if draw(st.booleans()) and not any(
                found[:2] == (*path, "inner") for found in writer.lines
            ):
                writer.lines[*path, "inner"] = writer.line
                writer.text += f"[{written} . inner]\n"
                writer.table((*path, "inner"))
    return writer.text, writer.lines


def paths_in(values: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    items = values.items() if isinstance(values, dict) else enumerate(values)
    inner = (
        [(*path, name), *(paths_in(value, (*path, name)) if isinstance(value, dict | list) else [])]
        for name, value in items
    )
    return list(itertools.chain.from_iterable(inner))


class TestLines:
    @given(documents())
    def test_every_value_that_tomllib_finds_has_the_line_it_was_written_on(
        self, written: tuple[str, dict[tuple[str | int, ...], int]]
    ) -> None:
        text, expected = written
        lines = Lines(text)
        assert set(lines) == set(paths_in(tomllib.loads(text)))
        assert {path: lines.of(path) for path in lines} == expected

    def test_dotted_keys_and_tables_in_any_order_are_found(self) -> None:
        text = '[a.b]\nx = 1\n[c]\nd.e.f = 1\nd.e."g h" = 2\n[a]\ny = 2\n'
        lines = Lines(text)
        assert set(lines) == set(paths_in(tomllib.loads(text)))
        assert lines.of(("a",)) == 6
        assert lines.of(("a", "b", "x")) == 2
        assert lines.of(("c", "d", "e", "g h")) == 5

    def test_what_is_nowhere_is_on_the_first_line(self) -> None:
        assert Lines("").of(("left", "format")) == 1
