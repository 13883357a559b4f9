"""The README's quick start, pasted: in process, and on this version of Spark, from a wheel."""

import os
import re
import subprocess
import venv
from pathlib import Path

import pytest

from tests.spark.needed_spark import ON_CONNECT, OWN_PORT
from tests.spark.quick_settings import QUICK_MACHINE
from tests.spark.wheel_environment import wheel_environment

README = Path(__file__).parents[2] / "README.md"


def blocks(section: str) -> list[str]:
    """The code of a section, block by block."""
    return re.findall(r"```python\n(.*?)```", section, re.DOTALL)


TEXT = README.read_text()
IN_PROCESS, ON_SPARK = blocks(TEXT.split("## Quick start", 1)[1].split("\n## ", 1)[0])
"""What runs on Spark goes on with the join of the first."""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has a wheel of Headgate, and no repository."""
    return wheel_environment(tmp_path_factory.mktemp("wheel"))


def said_by(command: list[str | Path], folder: Path) -> str:
    """What it prints where the first python3 on the path has nothing installed."""
    venv.create(folder / "bare", with_pip=False, symlinks=True)
    unset = ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "PYTHONPATH")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    environment["PATH"] = f"{folder / 'bare' / 'bin'}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment | OWN_PORT | QUICK_MACHINE,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_the_command_runs_from_a_wheel(python: Path, tmp_path: Path) -> None:
    command = python.with_name("headgate")
    assert said_by([command, "--version"], tmp_path).startswith("headgate ")
    assert "--left-window" in said_by([command, "whatif", "--help"], tmp_path)


def test_the_quick_start_in_process_runs_as_it_is(python: Path, tmp_path: Path) -> None:
    said = said_by([python, "-c", f"{IN_PROCESS}\nprint(hg.__file__)"], tmp_path)
    assert "0.902 of the importance" in said
    assert str(python.parents[1]) in said


@pytest.mark.spark
def test_the_quick_start_on_spark_runs_as_it_is(python: Path, tmp_path: Path) -> None:
    code = IN_PROCESS + ON_SPARK.replace("print(", 'spark.table("joined").show(1)\nprint(')
    assert "hg.session()" in code
    if ON_CONNECT:
        code = code.replace("hg.session()", 'hg.session(remote="local[2]")')
    said = said_by([python, "-c", code], tmp_path)
    assert re.search(r"results since the query began +[1-9]", said)
    assert re.search(r"recall 0\.\d+ \(0\.\d+ to [01]\.\d+\) since the query began", said)
    assert "departed_at" in said
