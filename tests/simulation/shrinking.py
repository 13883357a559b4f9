"""Makes a failing schedule small: fewer faults, switches, batches and rows, as long as it fails."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from headgate.spec import SpecError
from tests.simulation.faults import Fault
from tests.simulation.simulation import Prepared
from tests.simulation.workload import Workload

MOST_TRIES = 300


@dataclass(frozen=True)
class Schedule:
    """A workload with its switches and faults; none is the undisturbed run by itself."""

    workload: Workload
    switches: tuple[str, ...]
    faults: tuple[Fault, ...]
    whole: bool = True
    """Whether all batches are run."""

    def failure(self) -> Exception | None:
        """What goes wrong; None where nothing does, or the join cannot be asked so."""
        prepared = Prepared(self.workload, self.switches)
        try:
            if not prepared.inputs:
                return None
        except SpecError:
            return None
        try:
            if self.faults:
                prepared.disturbed(self.faults, self.whole)
            else:
                prepared.check()
                prepared.check_plain()
                prepared.check_cut()
        except Exception as error:
            return error
        return None

    @property
    def story(self) -> str:
        """The schedule in a few lines."""
        work = self.workload
        lines = [
            f"{work.asked}",
            f"{work.shards} shards in {work.partitions} partitions, delay {work.delay} s"
            + (", limits may come" if work.shared else "")
            + (f"; {', '.join(self.switches)}" if self.switches else ""),
        ]
        for number, batch in enumerate(work.batches):
            rows = ", ".join(
                f"{'left' if row.side == 0 else 'right'} {row.number} key {row.key} at {row.second}"
                for row in batch.rows
            )
            news = "".join(
                f"; {name} {given}"
                for name, given in (
                    ("limits", batch.limits),
                    ("definitions", batch.definitions),
                    ("changes", batch.changes),
                )
                if given
            )
            lines.append(f"batch {number}: {rows or 'no rows'}{news}")
        return "\n".join([*lines, *map(str, self.faults)])


def shrunk(schedule: Schedule) -> Schedule:
    """The smallest that was found to fail."""
    tries = 0
    progress = True
    while progress and tries < MOST_TRIES:
        progress = False
        for smaller in _smaller(schedule):
            tries += 1
            if smaller.failure() is not None:
                schedule, progress = smaller, True
                break
            if tries >= MOST_TRIES:
                break
    return schedule


def _smaller(schedule: Schedule) -> Iterator[Schedule]:
    for place in range(len(schedule.faults)):
        faults = (*schedule.faults[:place], *schedule.faults[place + 1 :])
        if faults:
            yield replace(schedule, faults=faults)
    for name in schedule.switches:
        yield replace(schedule, switches=tuple(n for n in schedule.switches if n != name))
    work = schedule.workload
    for smaller in (replace(work, shards=1, partitions=1), replace(work, partitions=1)):
        if smaller != work:
            yield replace(schedule, workload=smaller)
    for place in range(len(work.batches) - 2):
        batch = work.batches[place]
        without = (*work.batches[:place], *work.batches[place + 1 :])
        if not any(fault.batch >= place for fault in schedule.faults):
            yield replace(schedule, workload=replace(work, batches=without))
        for row in range(len(batch.rows)):
            fewer = replace(batch, rows=(*batch.rows[:row], *batch.rows[row + 1 :]))
            cut = (*work.batches[:place], fewer, *work.batches[place + 1 :])
            yield replace(schedule, workload=replace(work, batches=cut))
