"""Builds the library of machine code from the functions declared for it."""

import json
import os
import platform
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from headgate.compiling.machine_library import FORMAT, PACKAGE, Library, library_path, source_hash

Report = Callable[[str], None]
PROCESSOR = {"x86_64": "x86-64", "aarch64": "generic"}
TOOLS = ("numba", "llvmlite")


def build(machine: str | None, portable: bool, say: Report) -> Path:
    """Build the library for a kind of machine, by default this one, and return its path."""
    machine = machine or platform.machine()
    # For every processor of the kind, and before Numba is loaded: it reads them once.
    os.environ |= {"NUMBA_CPU_NAME": PROCESSOR["x86_64"], "NUMBA_CPU_FEATURES": ""}
    from headgate.building import linking

    modules = _compiled(say)
    contents = _contents(modules)
    made = linking.object_code([module.bitcode for module in modules], contents, machine)
    path = library_path(machine)
    linking.link(made, path, machine, portable)
    say(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB")
    return path


def is_current() -> bool:
    """Whether this machine's library is made from the sources and by the tools at hand."""
    path = library_path()
    if not path.exists():
        return False
    contents = Library(path).contents
    files = contents["sources"] | contents["builders"]
    return (
        contents.get("format") == FORMAT
        and contents["tools"] == _tools()
        and all(source_hash(PACKAGE / name) == known for name, known in files.items())
    )


def _compiled(say: Report) -> list[Any]:
    from headgate.building import compiled_entries, declared_entries

    # Those of one module share most of what they call, which a process compiles once.
    together: dict[str, list[int]] = {}
    for number, entry in enumerate(declared_entries.ENTRIES):
        together.setdefault(entry.function.function.__module__, []).append(number)
    groups = [tuple(numbers) for numbers in together.values()]
    total, told = len(declared_entries.ENTRIES) + len(declared_entries.SCORES), 0
    with ProcessPoolExecutor(min(os.cpu_count() or 1, 4), get_context("spawn")) as pool:
        tasks = [pool.submit(compiled_entries.compile_entries, group) for group in groups]
        tasks += [pool.submit(compiled_entries.compile_scores)]
        # The first takes as long as all others together: those are told as they are done.
        for task in as_completed(tasks):
            for module in task.result():
                told += 1
                say(f"{told} of {total}: {module.name}, {module.seconds:.1f} s")
    return [module for task in tasks for module in task.result()]


def _contents(modules: list[Any]) -> str:
    from headgate.building import declared_entries
    from headgate.building.source_files import sources_of

    entries: dict[str, list[Any]] = {}
    scores: dict[str, str] = {}
    for module in modules:
        if "takes" in module.contents:
            entries.setdefault(module.name, []).append(module.contents)
        else:
            scores[module.name] = module.symbol
    functions = [*declared_entries.functions()]
    builders = [PACKAGE / "compiling" / "jit.py", *sorted((PACKAGE / "building").glob("*.py"))]
    return json.dumps(
        {
            "format": FORMAT,
            "entries": entries,
            "scores": scores,
            "sources": _hashes(sources_of(functions)),
            "builders": _hashes(builders),
            "tools": _tools(),
        }
    )


def _hashes(paths: list[Path]) -> dict[str, str]:
    return {str(path.relative_to(PACKAGE)): source_hash(path) for path in paths}


def _tools() -> dict[str, str]:
    return {tool: version(tool) for tool in TOOLS}
