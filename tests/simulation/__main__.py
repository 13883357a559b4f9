"""Run simulated schedules: `python -m tests.simulation FIRST:END`, by number of workload.

Prints a line now and then; a failing one is told as a short story after it was made small. Ends
with status 1 if any fails. With --out, what was run is added to a JSON file of campaigns.
"""

import argparse
import os
import sys
import time
from pathlib import Path

from tests.campaigns import add_campaign
from tests.simulation.shrinking import Schedule, shrunk
from tests.simulation.simulation import SCHEDULES, faults_of, prepared

WHOLE = 6
"""Of so many schedules, one is run from the first batch to the last."""


def run_workload(number: int, schedules: int = SCHEDULES) -> list[tuple[str, Schedule]]:
    """Run a workload and its schedules; which of them fail, by name."""
    ready = prepared(number)
    plain = Schedule(ready.workload, ready.switches, ())
    try:
        ready.check()
        ready.check_plain()
    except Exception:
        return [(str(number), plain)]
    failed = []
    for place in range(schedules):
        faults = faults_of(number, place, ready.undisturbed.ticks)
        try:
            ready.disturbed(faults, whole=place % WHOLE == 0)
        except Exception:
            found = Schedule(ready.workload, ready.switches, faults)
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


def main() -> None:
    """Run the schedules that the arguments say."""
    parser = argparse.ArgumentParser(prog="make simulate", description=__doc__)
    parser.add_argument("seeds", help="workloads, as FIRST:END, or one as NUMBER")
    parser.add_argument("--out", type=Path, help="JSON file of campaigns to add to")
    parser.add_argument("--most-failures", type=int, default=5)
    asked = parser.parse_args()
    first, _, end = asked.seeds.partition(":")
    numbers = range(int(first), int(end) if end else int(first) + 1)
    began, cpu, at_first = time.time(), time.process_time(), None
    failed: list[str] = []
    done = 0
    for number in numbers:
        for name, schedule in run_workload(number):
            failed.append(name)
            sys.stdout.write(told(name, schedule))
            sys.stdout.flush()
        done += 1
        if done == 20:
            at_first = handles()
        if done % 100 == 0 or number == numbers[-1]:
            spent = time.process_time() - cpu
            sys.stdout.write(
                f"{done * SCHEDULES:,} schedules of {done:,} workloads, {len(failed)} failed, "
                f"{spent:,.0f} CPU s, {1000 * spent / (done * SCHEDULES):.1f} ms each\n"
            )
            sys.stdout.flush()
        if len(failed) >= asked.most_failures:
            break
    if at_first is not None and handles() > at_first + 10:
        failed.append("handles")
        sys.stdout.write(f"FAILED: open files grew from {at_first} to {handles()}\n")
    if asked.out:
        add_campaign(
            asked.out,
            "simulation",
            seeds=f"{numbers[0]}:{numbers[0] + done}",
            counts={"schedules": done * SCHEDULES, "workloads": done},
            failed=failed,
            seconds=time.time() - began,
        )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
