"""Put faults into a copy of the code, one at a time: simulation or fuzzing must find each.

The test suite is not run. Prints which seed found a fault, by which rule, and after how long. Ends
with status 1 if one is not found within the seeds and minutes that are tried.

Usage: seed_mutants.py [NAME ...]
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from seed_faults import FAULTS, ROOT, Fault, seeded

MOST_SECONDS = 900
STATE_FIRST = ("spark/", "learning/", "engine/")
"""What the simulator is likelier to find than the fuzzer."""
MUTANTS: dict[str, Fault] = {
    **{
        name: FAULTS[name]
        for name in (
            "a window ends an instant early",
            "one row more than the budget",
            "bytes of a removed row are kept",
            "partners at the end of the window are missed",
            "ties go to the newer row",
            "a refused row counts as evicted",
            "null keys are equal",
            "the second key column is not looked at",
            "a restart forgets the clock",
            "dead rows come back",
            "histories of stored rows are lost",
            "segments that are all dead are kept",
        )
    },
    "a filter forgets to be read": Fault(
        "spark/state/shard_state.py",
        "given_up=self.filters.read()",
        "given_up=(None, None)",
    ),
    "the watermark is that of this batch": Fault(
        "spark/state/shard_state.py",
        "        self.watermark_us = now_us\n        return before",
        "        self.watermark_us = now_us\n        return now_us",
    ),
    "a copy's checksum is not looked at": Fault(
        "spark/state/local_copy.py",
        "return bool(mark == _MARK and noted == _checksum(whole.slice(0, end), name, checksum))",
        "return bool(mark == _MARK)",
    ),
    "a table's checksum is not looked at": Fault(
        "spark/state/stored_tables.py",
        "if stored.checksum is not None and found != stored.checksum:",
        "if False:",
    ),
    "fates are lost when segments are merged": Fault(
        "spark/state/shard_state.py",
        "fresh = replace(fresh, fate=live_fates(mine[first:end]))",
        "fresh = replace(fresh, fate=live_fates(mine[first:end]) * 0)",
    ),
    "old parts of tables stay": Fault(
        "spark/state/stored_tables.py",
        "        for part in range(stored.parts):\n            self.variable.removeKey",
        "        for part in range(1, stored.parts):\n            self.variable.removeKey",
    ),
    "late rows are not counted": Fault(
        "engine/table_rows.py", "len(time) - len(rows) - null_times, null_times", "0, null_times"
    ),
    "totals of pairs begin anew in every batch": Fault(
        "spark/state/shard_state.py", "monitor.pairs += stats.pairs", "monitor.pairs = stats.pairs"
    ),
    "a limit is forgotten at a restart": Fault(
        "spark/state/shard_state.py",
        "            state.restore_limit(head.limit)",
        "            pass",
    ),
}


def found_in(tree: Path, state: bool) -> str | None:
    """What finds the fault in a tree: a seed with its rule."""
    environment = os.environ | {"PYTHONPATH": f"{tree / 'src'}", "PYSPARK_PYTHON": sys.executable}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=2 * MOST_SECONDS,
        )
        return done.stdout + done.stderr

    said = run("headgate.building", "--if-needed")
    if "Error" in said:
        return f"does not build: {said[-200:]}"
    minutes = str(MOST_SECONDS / 60)
    fuzz = ("tests.fuzzing", "--minutes", minutes, "--cases", "20000", "--most-failures", "1")
    simulate = ("tests.simulation", "0:400", "--most-failures", "1")
    for program in (simulate, fuzz) if state else (fuzz, simulate):
        said = run(*program)
        found = re.search(r"FAILED seed '?([\w/ ]+)'?:?(.*)", said)
        if found:
            rule = found[2].strip() or re.findall(r"^\w*(?:Error|Failure).*$", said, re.M)[-1]
            return f"{program[0].removeprefix('tests.')} seed {found[1]}: {rule[:110]}"
        if " failed" not in said:
            return f"{program[0]} ended: {said[-300:]}"
    return None


def main(names: list[str]) -> None:
    """Try the faults of these names, or all."""
    missed = []
    for name in names or MUTANTS:
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder) / "tree"
            ignored = shutil.ignore_patterns(".git", ".venv*", ".matrix", "__pycache__")
            shutil.copytree(ROOT, tree, ignore=ignored)
            seeded(MUTANTS[name], tree)
            began = time.monotonic()
            found = found_in(tree, MUTANTS[name].file.startswith(STATE_FIRST))
        spent = time.monotonic() - began
        print(f"{name:50} {spent:5.0f} s  {found or 'NOT FOUND'}", flush=True)
        missed += [] if found else [name]
    if missed:
        sys.exit(f"not found: {', '.join(missed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
