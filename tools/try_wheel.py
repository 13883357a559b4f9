"""Installs a wheel into an empty environment, far from the repository, and tries what readers do.

The README's quick start in process, the command line, and with ``--spark`` its query on Spark.
Run it:  python tools/try_wheel.py dist/headgate-*.whl [--spark]
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.lock"
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
"""The README's quick start: in process, then the same join on Spark."""
NO_REPOSITORY = """
assert "site-packages" in hg.__file__, hg.__file__
assert round(join.run(flights.landings, flights.departures).importance_recall, 3) == 0.902
"""
ANSWERED = """
assert hg.progress(query).recall is not None
assert spark.table("joined").count() > 1_000
spark.stop()
"""


def program(spark: bool) -> str:
    """What a reader of the README would paste, and what must hold then."""
    in_process, on_spark = BLOCKS
    further = on_spark.replace("spark.stop()\n", ANSWERED) if spark else ""
    return f"{in_process}{NO_REPOSITORY}{further}"


def tried(wheel: Path, spark: bool, folder: Path) -> None:
    """Raise where something that readers do does not work."""
    uv = Path(sys.executable).with_name("uv")
    python = folder / "empty" / "bin" / "python"
    wanted = f"headgate[{'spark,cli' if spark else 'cli'}] @ {wheel.as_uri()}"
    run = {"check": True, "cwd": folder}
    subprocess.run([uv, "venv", "-q", "--python", sys.executable, "empty"], **run)
    subprocess.run(
        [uv, "pip", "install", "-q", "--python", python, "--constraint", LOCK, wanted],
        **run,
    )
    (folder / "program.py").write_text(program(spark))
    unset = ("PYTHONPATH", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")
    own = {name: value for name, value in os.environ.items() if name not in unset}
    for command in (
        [python, "program.py"],
        [python.with_name("headgate"), "--version"],
        [python.with_name("headgate"), "whatif", "--help"],
    ):
        print("$", *[Path(part).name for part in map(str, command)], flush=True)
        done = subprocess.run(
            command, env=own, capture_output=True, text=True, **run | {"check": False}
        )
        if done.returncode:
            raise SystemExit(
                f"{done.stdout[-2000:]}\n{done.stderr[-3000:]}\nexit {done.returncode}"
            )
        print("\n".join(done.stdout.splitlines()[:8]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--spark", action="store_true", help="also run a query on Spark")
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        tried(given.wheel.resolve(), given.spark, Path(folder))
    print(f"{given.wheel.name}: installs and works without the repository")


if __name__ == "__main__":
    main()
