"""Fuzz for so many minutes: `python -m tests.fuzzing --minutes 5 [--first SEED]`.

Seeds ascend from the first one: of ten cases six are of the kernel, two of whole joins and two of
damaged inputs. A failure is printed with the seed that repeats it (`--seed "kernel 7"`); it belongs
into tests/fuzzing/kept.json once it is mended. With --out, what was run is added to a JSON file of
campaigns.
"""

import argparse
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from tests.campaigns import add_campaign
from tests.fuzzing import hostile_inputs, join_cases, kernel_cases

RUNNERS = {
    "kernel": kernel_cases.run_case,
    "join": join_cases.run_case,
    "input": hostile_inputs.run_case,
}
TURNS = ("kernel",) * 6 + ("join", "join", "input", "input")


def run_named(seed: str) -> str:
    """Run a case by its name, such as "kernel 7"."""
    kind, number = seed.split()
    return RUNNERS[kind](int(number))


def main() -> None:
    """Fuzz as the arguments say."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--cases", type=int, default=1 << 62, help="so many at most")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", help='one case, such as "kernel 7"')
    parser.add_argument("--out", type=Path, help="JSON file of campaigns to add to")
    parser.add_argument("--most-failures", type=int, default=5)
    asked = parser.parse_args()
    if asked.seed:
        sys.stdout.write(f"{run_named(asked.seed)}: passed\n")
        return
    began, cpu = time.time(), time.process_time()
    done: Counter[str] = Counter()
    failed: list[str] = []
    number = asked.first
    while time.time() - began < 60 * asked.minutes and number - asked.first < asked.cases:
        seed = f"{TURNS[number % len(TURNS)]} {number}"
        try:
            done[run_named(seed)] += 1
        except Exception:
            failed.append(seed)
            sys.stdout.write(f"FAILED seed {seed!r}\n{traceback.format_exc()[-2000:]}\n")
        number += 1
        if number % 5_000 == 0 or len(failed) >= asked.most_failures:
            _tell(number - asked.first, len(failed), time.process_time() - cpu)
        if len(failed) >= asked.most_failures:
            break
    _tell(number - asked.first, len(failed), time.process_time() - cpu)
    sys.stdout.write(", ".join(f"{name} {count:,}" for name, count in sorted(done.items())) + "\n")
    if asked.out:
        add_campaign(
            asked.out,
            "fuzzing",
            seeds=f"{asked.first}:{number}",
            counts={"cases": number - asked.first, **dict(sorted(done.items()))},
            failed=failed,
            seconds=time.time() - began,
        )
    sys.exit(1 if failed else 0)


def _tell(cases: int, failed: int, seconds: float) -> None:
    each = 1000 * seconds / max(cases, 1)
    sys.stdout.write(
        f"{cases:,} cases, {failed} failed, {seconds:,.0f} CPU s, {each:.1f} ms each\n"
    )
    sys.stdout.flush()


if __name__ == "__main__":
    main()
