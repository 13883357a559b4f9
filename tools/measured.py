"""Writes docs/measured/: what commands print that pages quote, one file a command.

tests/test_numbers.py holds pages to these files. Run it:  python tools/measured.py [NAME...]
"""

import shlex
import subprocess
import sys
from pathlib import Path

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


def written(commands: tuple[str, ...], folder: Path) -> str:
    """Run them there; the last one, and what it printed."""
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
        )
        printed = "\n".join(line.rstrip() for line in done.stdout.splitlines())
    return f"$ {commands[-1]}\n{printed.rstrip()}\n"


def main(names: list[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in names:
        (FOLDER / f"{name}.txt").write_text(written(COMMANDS[name], ROOT))
        print(f"docs/measured/{name}.txt")


if __name__ == "__main__":
    main(sys.argv[1:] or list(COMMANDS))
