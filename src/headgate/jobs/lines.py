"""Finds the line of each value in a TOML file.

``tomllib`` does not report lines, so tree-sitter parses the text a second time, only to find them;
the values always come from ``tomllib``.
"""

import tomllib
from collections.abc import Iterator
from typing import Any

import tree_sitter_toml
from tree_sitter import Language, Node, Parser

Path = tuple[str | int, ...]
"""From the outermost table inwards: names of keys, and numbers of array elements."""


class Lines:
    """The line, counted from 1, of each key and array element of a TOML text.

    Examples
    --------
    >>> lines = Lines('[left]\\ntime = "at"\\noptions = { "a b" = 1 }')
    >>> lines.of(("left", "time")), lines.of(("left", "options", "a b"))
    (2, 3)

    A missing value has the line of the table it belongs to:

    >>> lines.of(("left", "window"))
    1
    """

    def __init__(self, text: str) -> None:
        self._found: dict[Path, int] = {}
        self._elements: dict[Path, int] = {}
        root = Parser(Language(tree_sitter_toml.language())).parse(text.encode()).root_node
        for node in root.named_children:
            if node.type == "pair":
                self._pair(node, ())
            elif node.type in ("table", "table_array_element"):
                self._table(node)

    def of(self, path: Path) -> int:
        """The line of a value, or of the innermost table around it."""
        while path and path not in self._found:
            path = path[:-1]
        return self._found.get(path, 1)

    def __iter__(self) -> Iterator[Path]:
        return iter(self._found)

    def _table(self, node: Node) -> None:
        key, *pairs = _significant(node)
        path: Path = ()
        names = _names(key)
        for name in names[:-1]:
            path = self._inside((*path, name), key)
        path = (*path, names[-1])
        self._found[path] = _line(key)
        if node.type == "table_array_element":
            self._elements[path] = self._elements.get(path, -1) + 1
            path = (*path, self._elements[path])
            self._found[path] = _line(key)
        for pair in pairs:
            self._pair(pair, path)

    def _inside(self, path: Path, key: Node) -> Path:
        """The table under a name on the path to another; the last one of an array of tables."""
        self._found.setdefault(path, _line(key))
        return (*path, self._elements[path]) if path in self._elements else path

    def _pair(self, node: Node, table: Path) -> None:
        key, value = _significant(node)
        for name in _names(key):
            table = (*table, name)
            self._found.setdefault(table, _line(key))
        self._value(value, table)

    def _value(self, node: Node, path: Path) -> None:
        if node.type == "inline_table":
            for pair in _significant(node):
                self._pair(pair, path)
        elif node.type == "array":
            for number, element in enumerate(_significant(node)):
                self._found[*path, number] = _line(element)
                self._value(element, (*path, number))


def _significant(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type != "comment"]


def _line(node: Node) -> int:
    return int(node.start_point.row) + 1


def _names(key: Node) -> list[str]:
    """The names in a dotted key, parsed by tomllib, which handles quotes and escapes."""
    names: list[str] = []
    table: Any = tomllib.loads(f"{(key.text or b'').decode()} = 0")
    while isinstance(table, dict):
        ((name, table),) = table.items()
        names.append(name)
    return names
