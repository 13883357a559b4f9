"""Run simulated schedules: `python -m tests.simulation FIRST:END`, by number of workload.

Prints a line now and then; a failing one is told as a short story after it was made small. Ends
with status 1 if any fails. With --out, what was run is added to a JSON file of campaigns.
"""

import argparse
import math
import os
import sys
from pathlib import Path

from headgate.compiling.kernel_mode import MODE, PYTHON
from tests.campaigns import add_campaign
from tests.simulation.shrinking import Schedule, shrunk
from tests.simulation.simulation import SCHEDULES, faults_of, prepared
from tests.slices import Bounds, Slice, run_slices, within
from tests.uncompiled import run_uncompiled

MOST_SECONDS = 120
"""Of a schedule, of processor time: most take a thirtieth of a second."""
WHOLE = 48
"""Of so many schedules, one is run from the first batch to the last."""


def run_workload(number: int, schedules: int = SCHEDULES) -> list[tuple[str, Schedule]]:
    """Run a workload and its schedules; which of them fail, by name."""
    ready = prepared(number)
    plain = Schedule(ready.workload, ready.switches, ())
    try:
        with within(MOST_SECONDS):
            ready.check()
            ready.check_plain()
            ready.check_cut()
    except Exception:
        return [(str(number), plain)]
    failed = []
    for place in range(schedules):
        faults = faults_of(number, place, ready.undisturbed.ticks)
        try:
            with within(MOST_SECONDS):
                ready.disturbed(faults, whole=place % WHOLE == 0)
        except Exception:
            found = Schedule(ready.workload, ready.switches, faults, whole=place % WHOLE == 0)
            failed.append((f"{number}/{place}", found))
    return failed


def told(name: str, schedule: Schedule) -> str:
    """A failing schedule as a short story."""
    small = shrunk(schedule) if schedule.failure() is not None else schedule
    error = small.failure()
    notes = "\n".join(getattr(error, "__notes__", ()))
    return f"FAILED seed {name}: {error!r}\n{small.story}\nwhat happened:\n{notes}\n"


def handles() -> int:
    """Open files of this process."""
    return len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0


def run_workloads(numbers: range) -> Slice:
    """Run some workloads; those that fail are made small and told."""
    found = Slice()
    for number in numbers:
        for name, schedule in run_workload(number):
            found.failed.append((name, told(name, schedule)))
        found.counts.update(schedules=SCHEDULES, workloads=1)
        if number == numbers[0]:
            before = handles()
    if handles() > before + 30:
        found.failed.append((f"{numbers}", f"FAILED: open files grew to {handles()}\n"))
    return found


def main() -> None:
    """Run the schedules that the arguments say."""
    parser = argparse.ArgumentParser(prog="make simulate", description=__doc__)
    parser.add_argument("seeds", help="workloads, as FIRST:END, or one as NUMBER")
    parser.add_argument("--minutes", type=float, default=math.inf, help="so long at most")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", type=Path, help="JSON file of campaigns to add to")
    parser.add_argument("--most-failures", type=int, default=5)
    asked = parser.parse_args()
    first, _, end = asked.seeds.partition(":")
    numbers = range(int(first), int(end) if end else int(first) + 1)
    bounds = Bounds(asked.minutes, asked.most_failures, asked.processes, size=5)
    total, done = run_slices(run_workloads, numbers, bounds, _tell)
    count = total.counts["schedules"]
    sys.stdout.write(
        f"{count:,} schedules of {len(done):,} workloads, {len(total.failed)} failed, "
        f"{total.cpu_s:,.0f} CPU s, {1000 * total.cpu_s / count:.1f} ms each\n"
    )
    if asked.out:
        add_campaign(
            asked.out,
            "simulation",
            seeds=f"{done.start}:{done.stop}",
            counts=dict(total.counts),
            failed=[name for name, _ in total.failed],
            seconds=total.cpu_s,
        )
    sys.exit(1 if total.failed else 0)


def _tell(more: Slice, done: range) -> None:
    sys.stdout.write("".join(story for _, story in more.failed))
    if len(done) % 100 == 0:
        sys.stdout.write(f"{len(done):,} workloads\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if MODE == PYTHON:
        run_uncompiled()
    main()
