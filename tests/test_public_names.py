"""What `import headgate` costs and offers."""

import ast
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import headgate as hg

HEAVY = ("duckdb", "matplotlib", "numba", "numpy", "pandas", "pyarrow", "pyspark", "scipy")


def in_a_fresh_process(code: str) -> list[str]:
    """What the code puts out as JSON."""
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    said: list[str] = json.loads(run.stdout)
    return said


def test_importing_headgate_loads_no_heavy_package() -> None:
    loaded = in_a_fresh_process("import headgate, json, sys; print(json.dumps([*sys.modules]))")
    assert not set(HEAVY) & set(loaded)


def test_the_join_of_a_worker_loads_no_solver_and_no_plotting() -> None:
    loaded = in_a_fresh_process(
        "import headgate.spark.join.join_processor, json, sys; print(json.dumps([*sys.modules]))"
    )
    assert not {"duckdb", "matplotlib", "numba", "ortools", "scipy", "sqlglot"} & set(loaded)
    rooms = {name.split(".")[1] for name in loaded if name.startswith("headgate.")}
    assert not {"api", "building", "profiles", "sizing", "studies", "trials"} & rooms


@pytest.mark.parametrize("name", hg.__all__)
def test_every_public_name_is_there_and_listed(name: str) -> None:
    assert getattr(hg, name) is not None
    assert name in dir(hg)


@pytest.mark.parametrize("package", ["models", "models.cost", "models.heeb", "models.process"])
def test_no_module_takes_the_place_of_a_name_that_is_loaded_when_used(package: str) -> None:
    loaded = import_module(f"headgate.{package}")
    assert not {path.stem for path in Path(str(loaded.__file__)).parent.iterdir()} & set(
        loaded.__all__
    )
    assert all(getattr(loaded, name) is not None for name in loaded.__all__)


def test_no_package_takes_the_place_of_a_public_name() -> None:
    """Python sets a package's attribute to a submodule as soon as somebody imports it."""
    import_module("headgate.api.join_group")
    modules = {name for name in hg.__all__ if (Path(hg.__file__).parent / name).is_dir()}
    assert modules == {"policies"}
    assert callable(hg.whatif)


def test_type_checkers_are_told_of_the_same_names() -> None:
    tree = ast.parse(Path(hg.__file__).read_text())
    imported = [
        alias.name
        for block in tree.body
        if isinstance(block, ast.If)
        for line in block.body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    ]
    assert sorted(imported) == sorted(hg.__all__)


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Sieve'"):
        _ = hg.Sieve  # type: ignore[attr-defined]
