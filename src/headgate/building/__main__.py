"""Build the library of machine code: ``python -m headgate.building``.

With ``--if-needed`` only if the one at hand is made from other sources; with ``--portable`` linked
for all Linux systems, as in wheels; ``--machine aarch64`` for another kind of machine.
"""

import argparse
import sys
import time

from headgate.building.library_build import build, is_current


def main() -> int:
    """Build, and say what is being compiled."""
    options = argparse.ArgumentParser("python -m headgate.building", description=__doc__)
    options.add_argument("--if-needed", action="store_true")
    options.add_argument("--portable", action="store_true")
    options.add_argument("--machine", choices=("x86_64", "aarch64"))
    given = options.parse_args()
    if given.if_needed and is_current():
        return 0
    began = time.perf_counter()
    say("Compiling the kernel, once for these sources (half a minute or so)")
    build(given.machine, given.portable, say=lambda line: say(f"  {line}"))
    say(f"Compiled in {time.perf_counter() - began:.0f} s")
    return 0


def say(line: str) -> None:
    """Print a line now, also through a pipe."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
