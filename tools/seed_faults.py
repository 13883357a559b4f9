"""Seed faults into a copy of the code, one at a time, and show which test of the usual round fails.

A suite that was made shorter must still find what the longer one found. Each fault is one line that
a person could write by mistake. The files where it is likely to be found run first, then all tests
without Spark, then those on Spark. A fault in the kernel is first looked for with compilation off:
the same tests on the same input, without a minute of compiling. Ends with status 1 if a fault is
not found.

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
    likely: str = ""
    """Files of tests to run first, below tests/."""

    @property
    def is_compiled(self) -> bool:
        return self.file.startswith("kernel/")


FAULTS = {
    "a window ends an instant early": Fault(
        "kernel/departure.py",
        "(1 if own.side == LEFT else 0)",
        "(0 if own.side == LEFT else 0)",
        "checks/test_every_policy.py",
    ),
    "one row more than the budget": Fault(
        "kernel/admission.py",
        "pool.rows >= pool.most_rows",
        "pool.rows > pool.most_rows",
        "checks/test_every_policy.py",
    ),
    "bytes of a removed row are kept": Fault(
        "kernel/departure.py",
        "    pool.bytes -= own.size\n",
        "    pool.bytes -= 0\n",
        "checks/test_byte_budgets.py",
    ),
    "partners at the end of the window are missed": Fault(
        "kernel/probe/chains.py",
        "            if mark <= limit:\n                if not count_only",
        "            if mark < limit:\n                if not count_only",
        "checks/test_every_policy.py",
    ),
    "ties go to the newer row": Fault(
        "kernel/admission.py",
        "own_order < order or",
        "own_order > order or",
        "checks/test_every_policy.py",
    ),
    "a refused row counts as evicted": Fault(
        "kernel/admission.py",
        "if leaving == NONE:\n            arrays.tally[RETIRED if past else REFUSED",
        "if leaving == NONE:\n            arrays.tally[SHED",
        "checks/test_every_policy.py",
    ),
    "a pair that is taken back stays counted": Fault(
        "kernel/probe/chains.py",
        "note_met(arrays, partner, row, TAKEN_BACK)",
        "pass",
        "checks/test_every_policy.py checks/test_observing.py checks/test_kinds_of_join.py",
    ),
    "null keys are equal": Fault(
        "columns/key_codes.py",
        "pc.fill_null(encoded.indices, NULL)",
        "pc.fill_null(encoded.indices, 0)",
        "test_little_to_join.py test_inputs.py test_columns.py test_types.py",
    ),
    "the second key column is not looked at": Fault(
        "columns/key_codes.py",
        "* more_count + more",
        "* more_count + 0 * more",
        "test_columns.py test_types.py test_kinds_of_join.py",
    ),
    "evidence of recall is not scaled up": Fault(
        "learning/evidence.py",
        "                met * stands_for,\n",
        "                met,\n",
        "test_learning.py",
    ),
    "an interval of recall is half as wide": Fault(
        "learning/evidence.py",
        "CONFIDENCE = 1.96",
        "CONFIDENCE = 0.98",
        "test_learning.py test_studies.py",
    ),
    "weights of a sample are not inverted": Fault(
        "sampling/cluster.py",
        "np.maximum(threshold / weight, 1.0)",
        "np.maximum(weight / threshold, 1.0)",
        "test_sampling.py",
    ),
    "a restart forgets the clock": Fault(
        "spark/state/shard_head.py",
        'clock=facts["clock"]',
        "clock=0",
        "spark/test_cut_anywhere.py spark/test_restart_changes.py",
    ),
    "a restart forgets what was counted of keys": Fault(
        "spark/state/learned_state.py",
        "monitor.counts = known[:",
        "monitor.counts = 0 * known[:",
        "spark/test_cut_anywhere.py",
    ),
    "dead rows come back": Fault(
        "spark/state/segments.py",
        "physical[held.place[alive]] = True",
        "physical[held.place] = True",
        "spark/test_cut_anywhere.py",
    ),
    "histories of stored rows are lost": Fault(
        "spark/state/history_log.py",
        'rows.matches[at[at_hand]] = log.column("matches").to_numpy()[mine][at_hand]',
        "pass",
        "spark/test_budget.py spark/test_cut_anywhere.py",
    ),
    "results are late for who comes after": Fault(
        "spark/join/output_watermark.py",
        "longest // 1_000_000}",
        "0}",
        "spark/test_output_watermark.py",
    ),
    "segments that are all dead are kept": Fault(
        "spark/state/shard_state.py",
        "mine = [segment for segment in mine if segment.alive.any()]",
        "mine = list(mine)",
        "spark/test_state.py",
    ),
}


def seeded(fault: Fault, tree: Path) -> None:
    """Put a fault into the code of a tree."""
    file = tree / "src" / "headgate" / fault.file
    text = file.read_text()
    if text.count(fault.old) != 1:
        sys.exit(f"{fault.file} has {text.count(fault.old)} times: {fault.old!r}")
    file.write_text(text.replace(fault.old, fault.new))


def found_by(fault: Fault, tree: Path) -> str | None:
    """The first test that fails in a tree with a fault."""
    environment = os.environ | {
        "PYTHONPATH": f"{tree / 'src'}",
        "PYSPARK_PYTHON": sys.executable,
        "HEADGATE_TESTS": "first failure",
    }

    def run(*arguments: str, **more: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=tree,
            env=environment | more,
            capture_output=True,
            text=True,
            check=False,
        ).stdout

    def first_failed(*arguments: str, **more: str) -> str | None:
        said = run("pytest", "-q", "-x", *arguments, **more)
        failed = re.findall(r"^(?:FAILED|ERROR) (\S.*?)(?: - |$)", said, re.MULTILINE)
        if not failed and " passed" not in said:
            sys.exit(said)
        return str(failed[0]) if failed else None

    likely = [f"tests/{name}" for name in fault.likely.split()]
    if fault.is_compiled:
        found = first_failed("-m", ROUNDS[0], *likely, HEADGATE_KERNEL="python")
        if found:
            return f"{found} (not compiled)"
        run("headgate.building", "--if-needed")
    return (
        first_failed(*likely)
        or first_failed("-n", "2", "-m", ROUNDS[0], "tests")
        or first_failed("-n", "2", "-m", ROUNDS[1], "tests")
    )


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
            test = found_by(FAULTS[name], tree)
        print(f"{name:50} {time.monotonic() - began:5.0f} s  {test or 'NOT FOUND'}", flush=True)
        missed += [] if test else [name]
    if missed:
        sys.exit(f"not found: {', '.join(missed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
