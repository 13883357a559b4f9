"""Finds the source files that a function's machine code is made from.

It follows names: those in a function's body, in the statements that define them, in the modules
they are imported from, and so on. Methods are not followed: they run in Python.
"""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path

from headgate.compiling.machine_library import PACKAGE

Name = tuple[str, str]
"""A module and a name at its top level."""
WHOLE = "*"
"""Stands for all names of a module."""
NOT_FOLLOWED = "headgate.compiling.compiled"
"""The decorators: they say how functions are run, not what they do."""


def sources_of(functions: Iterable[Name]) -> list[Path]:
    """The files that these functions, given by module and name, are made from."""
    waiting, seen = list(functions), set[Name]()
    while waiting:
        name = waiting.pop()
        if name not in seen and _path(name[0]) is not None and name[0] != NOT_FOLLOWED:
            seen.add(name)
            waiting += _needed(*name)
    return sorted({path for module, _ in seen if (path := _path(module)) is not None})


def _path(module: str) -> Path | None:
    """A module's file; None if it is not one of ours."""
    root, *parts = module.split(".")
    if root != PACKAGE.name:
        return None
    place = PACKAGE.joinpath(*parts)
    for path in (place / "__init__.py", place.with_suffix(".py")):
        if path.exists():
            return path
    return None


def _needed(module: str, name: str) -> Iterator[Name]:
    defined = _definitions(module)
    for statement in chain(*defined.values()) if name == WHOLE else defined.get(name, []):
        if isinstance(statement, ast.ImportFrom | ast.Import):
            yield from _imported(statement, name)
        else:
            yield from ((module, used) for used in _used(statement) if used in defined)


def _imported(statement: ast.ImportFrom | ast.Import, name: str) -> Iterator[Name]:
    for alias in statement.names:
        if name in (WHOLE, alias.asname or alias.name):
            if isinstance(statement, ast.Import):
                yield alias.name, WHOLE
            elif _path(f"{statement.module}.{alias.name}") is not None:
                yield f"{statement.module}.{alias.name}", WHOLE
            else:
                yield str(statement.module), alias.name


def _used(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement reads, outside annotations and methods."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef):
            waiting += [*node.body, *node.args.defaults]
        elif isinstance(node, ast.ClassDef):
            waiting += [*node.bases]
            waiting += [part for part in node.body if not isinstance(part, ast.FunctionDef)]
        elif isinstance(node, ast.AnnAssign):
            waiting += [node.value] if node.value is not None else []
        else:
            if isinstance(node, ast.Name):
                yield node.id
            waiting += ast.iter_child_nodes(node)


@cache
def _definitions(module: str) -> dict[str, list[ast.stmt]]:
    """The top-level statements of a module, by the names they define."""
    path = _path(module)
    found: dict[str, list[ast.stmt]] = {}
    for statement in ast.parse(path.read_text()).body if path is not None else []:
        for name in _defines(statement):
            found.setdefault(name, []).append(statement)
    return found


def _defines(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in statement.names)
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))
