"""Writes docs/measured/: the output of commands that pages quote, one file per command.

tests/test_numbers.py looks numbers up in these files. Run it:  python tools/measured.py [NAME...]
Without names it runs `COMMANDS`. Studies and benchmarks take minutes each and are run by name.
"""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "measured"
FLIGHTS = (
    "headgate whatif out/flights/landings out/flights/departures --on plane --left-time landed_at "
    '--left-window "7 days" --left-importance minutes_late --right-time departed_at '
    '--right-window "0 seconds"'
)
COMMANDS = {
    "whatif-flights": ("python examples/flight_files.py", FLIGHTS),
}
"""Commands a reader could type; the last one's output is kept."""
BENCHES = {
    "bench-kernel": ("headgate bench --part kernel",),
    "bench-learning": ("headgate bench --part learning",),
    "bench-features": ("headgate bench --part features --rounds 2",),
    "bench-budgets": ("headgate bench --part budgets",),
    "bench-cpu": ("headgate bench --part cpu",),
    "bench-shards": ("headgate bench --part shards",),
    "bench-promised": ("headgate bench --part promised",),
    "bench-uniform": ("headgate bench --part uniform --rounds 1 --rows 8000000",),
    "bench-skew": ("headgate bench --part skew --rounds 1",),
    "bench-outer": ("headgate bench --part outer --rounds 1 --rows 8000000",),
    "demo": ("headgate demo",),
    "reshard": ("pytest -q -s -m slow tests/spark/test_resharding_at_scale.py",),
    "watch-cost": ("python tools/watch_cost.py --query 3",),
}
"""Commands that measure this machine, so that they print other numbers each time."""
STUDIES = {
    "learned-intervals": (),
    "planned-intervals": (),
    "sampled-learned": (),
    "sampled-estimates": (),
    "kinds-intervals": (),
    "policies-intervals": (),
    "auto-bands": (),
    "auto-sampled": (),
    "ijoin-rivals": ("--seeds", "1,2"),
}
"""Studies whose verdicts are kept, with their options."""


def written(commands: tuple[str, ...], folder: Path, columns: int = 80) -> str:
    """Run them there; the last one, and what it printed on so many columns."""
    printed = ""
    for command in commands:
        program, *rest = shlex.split(command)
        if program == "python" and rest[0].startswith("examples/"):
            rest[0] = str(ROOT / rest[0])
        done = subprocess.run(
            [Path(sys.executable).with_name(program), *rest],
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"COLUMNS": str(columns)},
        )
        printed = "\n".join(line.rstrip() for line in done.stdout.splitlines())
    return f"$ {commands[-1]}\n{printed.rstrip()}\n"


def keep_verdicts(name: str) -> None:
    """Run a study; keep its verdicts, or for rivals their importance relative to FIFO."""
    program = Path(sys.executable).with_name("headgate")
    with TemporaryDirectory() as folder:
        # Its exit code is 1 if a claim fails, which the verdicts say too.
        subprocess.run([program, "reproduce", name, *STUDIES[name], "--out", folder], check=False)
        if name == "ijoin-rivals":
            relative_to_fifo(Path(folder) / f"{name}.csv", FOLDER / f"{name}.csv")
        else:
            shutil.copyfile(Path(folder) / "verdicts.csv", FOLDER / f"{name}.csv")


def relative_to_fifo(results: Path, to: Path) -> None:
    """Importance by stream and policy, where importance depends on the value; FIFO is 1."""
    found = pd.read_csv(results).query("by == 'by value'")
    table = found.groupby(["stream", "scheme"])["importance"].mean().unstack()
    table.div(table["FIFO"], axis=0).round(3).to_csv(to)


def main(names: list[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in names:
        if name in STUDIES:
            keep_verdicts(name)
            print(f"docs/measured/{name}.csv")
            continue
        found = BENCHES.get(name)
        said = written(found, ROOT, 120) if found else written(COMMANDS[name], ROOT)
        (FOLDER / f"{name}.txt").write_text(said)
        print(f"docs/measured/{name}.txt")


if __name__ == "__main__":
    main(sys.argv[1:] or list(COMMANDS))
