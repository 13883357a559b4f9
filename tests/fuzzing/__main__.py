"""Fuzz for so many minutes: `python -m tests.fuzzing --minutes 5 [--first SEED]`.

Seeds ascend from the first one: of twenty, fifteen are of the kernel, two of whole joins and three
of damaged inputs; with --on-spark all are of whole joins on Spark. A seed generates one join, which
is compared in several ways: each is a case. A failure is printed with the seed that repeats it
(`--seed "kernel 7"`); it belongs into tests/fuzzing/kept.json once it is mended. With --out, what
was run is added to a JSON file of campaigns.
"""

import argparse
import sys
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from headgate.compiling.kernel_mode import MODE, PYTHON
from tests.campaigns import add_campaign
from tests.fuzzing import hostile_inputs, join_cases, kernel_cases
from tests.slices import Bounds, Slice, run_slices, within
from tests.uncompiled import run_uncompiled


def _on_spark(seed: int) -> Counter[str]:
    from tests.fuzzing import spark_cases

    return spark_cases.run_case(seed)


RUNNERS: dict[str, Callable[[int], Counter[str]]] = {
    "kernel": kernel_cases.run_case,
    "join": join_cases.run_case,
    "input": hostile_inputs.run_case,
    "parser": hostile_inputs.run_later_case,
    "spark": _on_spark,
}
MOST_SECONDS = 30
"""Of a seed, of processor time: most take a hundredth of a second."""
TURNS = ("kernel",) * 15 + ("join",) * 2 + ("input", "input", "parser")


def run_named(seed: str) -> Counter[str]:
    """Run the cases of a seed by its name, such as "kernel 7"."""
    kind, number = seed.split()
    return RUNNERS[kind](int(number))


def run_seeds(numbers: range) -> Slice:
    """Run some seeds, each of the kind whose turn it is."""
    return _run_named_seeds([f"{TURNS[number % len(TURNS)]} {number}" for number in numbers])


def run_spark_seeds(numbers: range) -> Slice:
    """Run some seeds on Spark."""
    return _run_named_seeds([f"spark {number}" for number in numbers])


def _run_named_seeds(seeds: list[str]) -> Slice:
    found = Slice()
    for seed in seeds:
        try:
            with within(MOST_SECONDS):
                passed = run_named(seed)
            found.counts.update({"cases": passed.total(), "seeds": 1}, **passed)
        except Exception as error:
            story = f"FAILED seed {seed!r}\n{traceback.format_exc()[-2000:]}\n"
            found.failed.append((seed, story))
            if isinstance(error, TimeoutError):
                break
    return found


def main() -> None:
    """Fuzz as the arguments say."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seeds", type=int, default=1 << 40, help="so many at most")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--on-spark", action="store_true", help="whole joins on Spark alone")
    parser.add_argument("--seed", help='one alone, such as "kernel 7"')
    parser.add_argument("--out", type=Path, help="JSON file of campaigns to add to")
    parser.add_argument("--most-failures", type=int, default=5)
    asked = parser.parse_args()
    if asked.seed:
        sys.stdout.write(f"{dict(run_named(asked.seed))}: passed\n")
        return
    numbers = range(asked.first, asked.first + asked.seeds)
    size, run = (10, run_spark_seeds) if asked.on_spark else (200, run_seeds)
    bounds = Bounds(asked.minutes, asked.most_failures, asked.processes, size=size)
    total, done = run_slices(run, numbers, bounds, _tell)
    counts = total.counts
    names = sorted(set(counts) - {"cases", "seeds"})
    cases = counts["cases"]
    sys.stdout.write(
        f"{cases:,} cases of {len(done):,} seeds, {len(total.failed)} failed, "
        f"{total.cpu_s:,.0f} CPU s, {1000 * total.cpu_s / max(cases, 1):.2f} ms each\n"
        + ", ".join(f"{name} {counts[name]:,}" for name in names)
        + "\n"
    )
    if asked.out:
        add_campaign(
            asked.out,
            "fuzzing",
            seeds=f"{done.start}:{done.stop}",
            counts={name: counts[name] for name in ("cases", "seeds", *names)},
            failed=[name for name, _ in total.failed],
            seconds=total.cpu_s,
        )
    sys.exit(1 if total.failed else 0)


def _tell(more: Slice, done: range) -> None:
    sys.stdout.write("".join(story for _, story in more.failed))
    sys.stdout.flush()


if __name__ == "__main__":
    if MODE == PYTHON:
        run_uncompiled()
    main()
