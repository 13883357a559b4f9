"""Seed faults into a copy of the code, one at a time, and show which test of the usual round fails.

A suite that was made shorter must still find what the longer one found. Each fault is one line that
a person could write by mistake. Tests without Spark run first; those on Spark where they find
nothing. Ends with status 1 if a fault is not found.

Usage: seed_faults.py [NAME ...]
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
ROUNDS = ("not spark and not slow and not long", "spark and not slow and not long")


class Fault(NamedTuple):
    """A line, and what stands there instead."""

    file: str
    old: str
    new: str


FAULTS = {
    "a window ends an instant early": Fault(
        "kernel/departure.py", "last_meeting < arrays", "last_meeting <= arrays"
    ),
    "one row more than the budget": Fault(
        "kernel/admission.py", "pool.rows >= pool.most_rows", "pool.rows > pool.most_rows"
    ),
    "bytes of a removed row are kept": Fault(
        "kernel/departure.py", "    pool.bytes -= own.size\n", "    pool.bytes -= 0\n"
    ),
    "partners at the end of the window are missed": Fault(
        "kernel/probe/chains.py",
        "            if mark <= limit:\n                if not count_only",
        "            if mark < limit:\n                if not count_only",
    ),
    "ties go to the newer row": Fault(
        "kernel/admission.py", "own_order < order or", "own_order > order or"
    ),
    "a refused row counts as evicted": Fault(
        "kernel/admission.py",
        "shed_one(arrays, row, number):\n            arrays.tally[REFUSED",
        "shed_one(arrays, row, number):\n            arrays.tally[SHED",
    ),
    "a pair that is taken back stays counted": Fault(
        "kernel/probe/chains.py", "note_met(arrays, partner, row, TAKEN_BACK)", "pass"
    ),
    "null keys are equal": Fault(
        "columns/key_codes.py",
        "pc.fill_null(encoded.indices, NULL)",
        "pc.fill_null(encoded.indices, 0)",
    ),
    "the second key column is not looked at": Fault(
        "columns/key_codes.py", "* more_count + more", "* more_count + 0 * more"
    ),
    "evidence of recall is not scaled up": Fault(
        "learning/recall.py", "                met * stands_for,\n", "                met,\n"
    ),
    "an interval of recall is half as wide": Fault(
        "learning/recall.py", "CONFIDENCE = 1.96", "CONFIDENCE = 0.98"
    ),
    "weights of a sample are not inverted": Fault(
        "sampling/cluster.py",
        "np.maximum(threshold / weight, 1.0)",
        "np.maximum(weight / threshold, 1.0)",
    ),
    "a restart forgets the clock": Fault(
        "spark/state/shard_head.py", 'clock=facts["clock"]', "clock=0"
    ),
    "a restart forgets what was counted of keys": Fault(
        "spark/state/learned_state.py", "monitor.counts = known[:", "monitor.counts = 0 * known[:"
    ),
    "dead rows come back": Fault(
        "spark/state/segments.py",
        "physical[held.place[alive]] = True",
        "physical[held.place] = True",
    ),
    "histories of stored rows are lost": Fault(
        "spark/state/history_log.py",
        'rows.matches[at[at_hand]] = log.column("matches").to_numpy()[mine][at_hand]',
        "pass",
    ),
    "results are late for who comes after": Fault(
        "spark/join/output_watermark.py", "longest // 1_000_000}", "0}"
    ),
    "segments that are all dead are kept": Fault(
        "spark/state/shard_state.py",
        "mine = [segment for segment in mine if segment.alive.any()]",
        "mine = list(mine)",
    ),
}


def seeded(fault: Fault, tree: Path) -> None:
    """Put a fault into the code of a tree."""
    file = tree / "src" / "headgate" / fault.file
    text = file.read_text()
    if text.count(fault.old) != 1:
        sys.exit(f"{fault.file} has {text.count(fault.old)} times: {fault.old!r}")
    file.write_text(text.replace(fault.old, fault.new))


def found_by(tree: Path) -> str | None:
    """The first test that fails in a tree."""
    environment = os.environ | {"PYTHONPATH": f"{tree / 'src'}", "PYSPARK_PYTHON": sys.executable}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    run("headgate.building", "--if-needed")
    for marked in ROUNDS:
        said = run("pytest", "-q", "-x", "-n", "2", "-m", marked, "tests").stdout
        failed = re.findall(r"^(?:FAILED|ERROR) (\S.*?)(?: - |$)", said, re.MULTILINE)
        if failed:
            return str(failed[0])
        if " passed" not in said:
            sys.exit(said)
    return None


def main(names: list[str]) -> None:
    """Try the faults of these names, or all."""
    missed = []
    for name in names or FAULTS:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder) / "tree"
            shutil.copytree(
                ROOT,
                tree,
                ignore=shutil.ignore_patterns(".git", ".venv*", ".matrix", "__pycache__"),
            )
            seeded(FAULTS[name], tree)
            test = found_by(tree)
        print(f"{name:50} {time.monotonic() - began:5.0f} s  {test or 'NOT FOUND'}", flush=True)
        missed += [] if test else [name]
    if missed:
        sys.exit(f"not found: {', '.join(missed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
