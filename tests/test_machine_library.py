"""The library of machine code: it gives what the compiler gives, and is used only where it fits."""

import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headgate
from headgate.building.declared_entries import functions
from headgate.building.library_build import is_current
from headgate.building.source_files import sources_of
from headgate.compiling import Compiled, machine_library
from headgate.compiling.compiled import shared
from headgate.kernel.pair_block import PairBlock
from headgate.kernel.step import Step
from headgate.policies import ALL_POLICIES, Policy
from tests.checks.generated import cases, cuts, watchings
from tests.checks.runs import run

PACKAGE = Path(headgate.__file__).parent
DYNAMIC_SYMBOLS = 11
FROM_THE_C_LIBRARY = {
    *("exp", "expm1", "log", "log1p", "pow", "memset", "memcpy", "memmove"),
    *("__cxa_finalize", "__gmon_start__", "_ITM_deregisterTMCloneTable"),
    "_ITM_registerTMCloneTable",
}
JOIN = """
import sys
import headgate as hg, numpy as np, pyarrow as pa
if sys.argv[1:] == ["no numba"]:
    sys.modules["numba"] = None
rng = np.random.default_rng(1)
def table():
    time = pa.array(1_700_000_000_000_000 + np.sort(rng.integers(0, 10**8, 2_000)))
    return pa.table({"key": rng.integers(0, 50, 2_000), "time": time.cast(pa.timestamp("us"))})
side = hg.Side(time="time", window="10 seconds")
left, right = table(), table()
for policy in ("auto", "lru", "random"):
    budget = hg.Budget(rows=300)
    join = hg.WindowJoin(on="key", left=side, right=side, budget=budget, policy=policy)
    print(policy, join.run(left, right).stats.pairs)
"""


def joined(*arguments: str, package: Path = PACKAGE, **environment: str) -> list[str]:
    """What a few joins print, in a process of their own."""
    done = subprocess.run(
        [sys.executable, "-c", JOIN, *arguments],
        env=os.environ | {"PYTHONPATH": str(package.parent)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [*done.stdout.splitlines(), *done.stderr.splitlines()]


def test_a_checkout_has_a_library_of_its_sources() -> None:
    assert is_current(), "run make kernel"
    assert machine_library.loaded() is not None


def test_nothing_is_compiled_and_numba_is_not_needed() -> None:
    with_numba, without = joined(HEADGATE_KERNEL="library"), joined("no numba")
    assert with_numba == without
    assert len(without) == 3


def test_after_an_edit_the_compiler_serves_and_says_so(tmp_path: Path) -> None:
    package = tmp_path / "headgate"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "*.nb?"))
    numbering = package / "columns" / "numbering.py"
    numbering.write_text(numbering.read_text() + "\n# edited\n")
    code = "import numpy as np; from headgate.columns import numbering as it; "
    code += "print(it.number(np.arange(3)))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "array([0, 1, 2]" in done.stdout
    assert "columns/numbering.py has changed since the library of machine code was built" in (
        done.stderr
    )


def test_a_library_that_cannot_be_loaded_is_left_alone(tmp_path: Path) -> None:
    package = tmp_path / "headgate"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "*.nb?"))
    place = package / machine_library.library_path().relative_to(PACKAGE)
    place.write_bytes(b"of another kind of machine")
    ask = (
        "from headgate.compiling.machine_library import loaded, why_not; print(loaded(), why_not())"
    )
    done = subprocess.run(
        [sys.executable, "-c", ask],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("None the library of machine code cannot be loaded (")


def test_without_library_and_numba_the_error_says_what_to_install(tmp_path: Path) -> None:
    package = tmp_path / "headgate"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "libraries"))
    done = subprocess.run(
        [sys.executable, "-c", JOIN, "no numba"],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "pip install headgate[jit]" in done.stderr.splitlines()[-1]


@pytest.mark.long
def test_the_library_is_loaded_from_a_zip_file(tmp_path: Path) -> None:
    zipped = Path(shutil.make_archive(str(tmp_path / "files"), "zip", PACKAGE.parent, "headgate"))
    assert joined("no numba", package=zipped / "headgate") == joined("no numba")


def test_a_zip_file_without_the_library_says_so(tmp_path: Path) -> None:
    copy = tmp_path / "headgate"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("*.so", "__pycache__", "*.nb?"))
    zipped = Path(shutil.make_archive(str(tmp_path / "files"), "zip", tmp_path, "headgate"))
    done = subprocess.run(
        [sys.executable, "-c", JOIN, "no numba"],
        env=os.environ | {"PYTHONPATH": str(zipped)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "pip install headgate[jit]" in done.stderr.splitlines()[-1]


def test_the_library_needs_nothing_but_the_c_library() -> None:
    """A symbol of Python or Numba would tie the wheel to one version of them."""
    needed = undefined_symbols(machine_library.library_path())
    assert "exp" in needed
    assert needed <= FROM_THE_C_LIBRARY


def undefined_symbols(path: Path) -> set[str]:
    """The dynamic symbols of an ELF file that others must have."""
    data = path.read_bytes()
    (start,), (count,) = struct.unpack_from("<Q", data, 40), struct.unpack_from("<H", data, 60)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + 64 * at) for at in range(count)]
    found = set()
    for _, kind, _, _, offset, size, names, *_ in sections:
        if kind != DYNAMIC_SYMBOLS:
            continue
        for at in range(offset, offset + size, 24):
            name, _, _, section = struct.unpack_from("<IBBH", data, at)
            if name and not section:
                found.add(data[sections[names][4] + name :].split(b"\0", 1)[0].decode())
    return found


def test_a_source_is_followed_through_constants_and_other_modules() -> None:
    files = {path.name for path in sources_of([("headgate.kernel.advance", "advance")])}
    assert {"advance.py", "layout.py", "no_row.py", "count.py", "heap.py", "btree.py"} <= files
    assert "window_join.py" not in files
    assert "policy.py" in {path.name for path in sources_of(functions())}


@pytest.mark.long  # compiles the kernel, which takes minutes
@pytest.mark.parametrize("policy", ALL_POLICIES, ids=lambda policy: policy.name)
def test_all_arrays_are_the_same_as_the_compilers_byte_for_byte(policy: type[Policy]) -> None:
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        case = data.draw(cases(policy))
        run(case, data.draw(cuts(case)), engine=InBothForms, watching=data.draw(watchings))

    check()


class InBothForms(Step):
    """A step that is made twice from the same arrays."""

    def pairs(self) -> Iterator[PairBlock]:
        before = copied(self._arrays), copied(self._windows)
        made = list(super().pairs())
        arrays, windows, importance = self._arrays, self._windows, self.importance
        self._arrays, self._windows = before
        self._shared = shared(self._arrays)
        self._is_taken_up, self.importance = False, 0.0
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Compiled, "_entries", property(lambda self: ()))
            compiled = list(Step.pairs(self))
        for one, other in ((arrays, self._arrays), (windows, self._windows), (made, compiled)):
            assert bytes_of(one) == bytes_of(other)
        self._arrays, self._windows, self.importance = arrays, windows, importance
        self._shared = shared(self._arrays)
        yield from made


def copied(value: Any) -> Any:
    """The same tuples with copies of their arrays."""
    if isinstance(value, np.ndarray):
        return value.copy()
    parts = [copied(part) for part in value]
    return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)


def bytes_of(value: Any) -> bytes:
    """All arrays in tuples and lists."""
    if isinstance(value, tuple | list):
        return b"".join(map(bytes_of, value))
    return value.tobytes() if isinstance(value, np.ndarray) else b""
