"""Put faults into a copy of the code, one at a time: simulation or fuzzing must find each.

The test suite is not run. Prints which seed found a fault, by which rule, and after how many CPU
seconds, and with --publish notes it for the docs. Ends with status 1 if one is not found within the
seeds that are tried. A fault in the kernel is looked for with compilation off: the same seeds on
the same inputs, without a minute of compiling.

Usage: seed_mutants.py [--publish] [NAME ...]
"""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))
from seed_faults import FAULTS, ROOT, Fault, seeded

from tests.campaigns import MUTANTS as RECORD
from tests.campaigns import commit, locked

WORKLOADS, SEEDS, MOST_MINUTES = 120, 8_000, 10
"""How much is tried before a fault counts as not found."""
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


def found_in(tree: Path, fault: Fault) -> str | None:
    """What finds the fault in a tree: a seed with its rule."""
    environment = os.environ | {"PYTHONPATH": f"{tree / 'src'}", "PYSPARK_PYTHON": sys.executable}
    if fault.is_compiled:
        environment["HEADGATE_KERNEL"] = "python"
    limits = ("--minutes", str(MOST_MINUTES), "--most-failures", "1")
    fuzz = ("tests.fuzzing", "--seeds", str(SEEDS), *limits)
    simulate = ("tests.simulation", f"0:{WORKLOADS}", *limits)
    for program in (simulate, fuzz) if fault.file.startswith(STATE_FIRST) else (fuzz, simulate):
        said = subprocess.run(
            [sys.executable, "-m", *program],
            cwd=tree,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        ).stdout
        found = re.search(r"FAILED seed '?([\w/ ]+)'?:?(.*)", said)
        if found:
            first = said[found.start() :].partition("\nFAILED")[0]
            errors = re.findall(r"^\w*(?:Error|Failure).*$", first, re.M)
            notes = re.findall(r"^\w+ seed \d+: ([^,]*, [^,]*)", first, re.M)
            rule = found[2].strip() or ", ".join((*errors[-1:], *notes[-1:]))
            return f"{program[0].removeprefix('tests.')} seed {found[1]}: {rule[:110]}"
        if " failed" not in said:
            return f"{program[0]} ended: {said[-300:]}"
    return None


def publish(name: str, by: str | None, seconds: int) -> None:
    """Note what found a fault."""
    with locked(RECORD):
        known = json.loads(RECORD.read_text() or "{}")
        known[name] = {"by": by, "seconds": seconds, "commit": commit()}
        ordered = {each: known[each] for each in MUTANTS if each in known}
        lines = ",\n".join(f"{json.dumps(n)}: {json.dumps(e)}" for n, e in ordered.items())
        RECORD.write_text(f"{{\n{lines}\n}}\n")


def cpu_s() -> float:
    """CPU seconds of programs that were run here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(names: list[str], is_published: bool) -> None:
    """Try the faults of these names, or all."""
    missed = []
    for name in names or MUTANTS:
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder) / "tree"
            ignored = shutil.ignore_patterns(".git", ".venv*", ".matrix", "__pycache__", "docs")
            shutil.copytree(ROOT, tree, ignore=ignored)
            seeded(MUTANTS[name], tree)
            before = cpu_s()
            found = found_in(tree, MUTANTS[name])
        spent = round(cpu_s() - before)
        print(f"{name:50} {spent:5} s  {found or 'NOT FOUND'}", flush=True)
        if is_published:
            publish(name, found, spent)
        missed += [] if found else [name]
    if missed:
        sys.exit(f"not found: {', '.join(missed)}")


if __name__ == "__main__":
    main([name for name in sys.argv[1:] if name != "--publish"], "--publish" in sys.argv)
