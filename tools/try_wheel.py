"""Installs a wheel into an empty environment, far from the repository, and tries what readers do.

The quick start in process, the command line, and with ``--spark`` one query.
Run it:  python tools/try_wheel.py dist/headgate-*.whl [--spark]
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

LOCK = Path(__file__).resolve().parents[1] / "requirements.lock"
IN_PROCESS = """
import headgate as hg
from headgate.demo.flights import new_york_flights
assert "site-packages" in hg.__file__, hg.__file__
flights = new_york_flights()
join = hg.WindowJoin(
    on="plane",
    left=hg.Side(time="landed_at", window="7 days"),
    right=hg.Side(time="departed_at", window="0 seconds"),
    budget=hg.Budget(rows=1_300),
    goal=hg.MaxImportance(left="minutes_late"),
    policy="greedy",
)
if __name__ == "__main__":
    outcome = join.run(flights.landings, flights.departures)
    print(outcome)
    assert round(outcome.importance_recall, 3) == 0.902
"""
ON_SPARK = (
    IN_PROCESS
    + """
    from headgate.demo.flights import write_flight_files

    write_flight_files("flights")
    spark = hg.session()
    streams = [
        spark.readStream.schema(spark.read.parquet(f"flights/{name}").schema)
        .option("maxFilesPerTrigger", 16)
        .parquet(f"flights/{name}")
        .withWatermark(time, "1 hour")
        for name, time in (("landings", "landed_at"), ("departures", "departed_at"))
    ]
    watched = join.within(hg.Budget(rows=1_300, monitor=0.2))
    out = watched.stream(*streams).writeStream.format("memory").queryName("joined")
    query = out.trigger(availableNow=True).start()
    query.awaitTermination()
    print(hg.progress(query))
    assert hg.progress(query).recall is not None
    assert spark.table("joined").count() > 1_000
    spark.stop()
"""
)


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
    (folder / "program.py").write_text(ON_SPARK if spark else IN_PROCESS)
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
