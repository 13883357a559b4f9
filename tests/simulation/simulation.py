"""Runs schedules: a workload, switches and faults from one seed, held to the rules."""

import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from headgate.metrics import names_of
from headgate.metrics.metric_groups import ExpectedFigures
from headgate.spec import SpecError
from tests.simulation import rules
from tests.simulation.cluster import Cluster
from tests.simulation.executors import forget_verified
from tests.simulation.faults import Fault, drawn_faults
from tests.simulation.inputs import BatchInput, packed_inputs
from tests.simulation.outputs import BatchOutput, Failure
from tests.simulation.switches import ALTERS, drawn_switches, switched
from tests.simulation.workload import FAR, Workload, drawn_workload, in_order

SCHEDULES = 48
"""Of one workload."""
ON_MEMORY = Path("/dev/shm")


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for a simulated cluster, in memory where there is such a disk."""
    folder = tempfile.mkdtemp(prefix="simulated-", dir=ON_MEMORY if ON_MEMORY.is_dir() else None)
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class Prepared:
    """A workload with its packed input, and what it puts out when nothing goes wrong."""

    workload: Workload
    switches: tuple[str, ...]

    @cached_property
    def inputs(self) -> list[BatchInput]:
        """Its packed input."""
        return packed_inputs(self.workload)

    @cached_property
    def undisturbed(self) -> Cluster:
        """The query to which nothing happens."""
        forget_verified()
        with scratch() as root, switched(self.switches):
            cluster = Cluster(self.workload, self.inputs, root, moments=[])
            cluster.run()
            rules.check_leaks(cluster)
        return cluster

    def check(self) -> None:
        """The undisturbed run is held to the definition."""
        sink = self.undisturbed.sink
        rules.check_definition(self.workload, sink)
        rules.check_counts(self.workload, sink)
        rules.check_budget(self.workload, sink)
        rules.check_kept(self.workload, sink)

    def check_plain(self) -> None:
        """Without the switches that alter nothing the output is the same."""
        kept = tuple(name for name in self.switches if name in ALTERS)
        if kept == self.switches:
            return
        plain = Prepared(self.workload, kept).undisturbed
        rules.check_same(plain, _without_layout(self.undisturbed.sink))

    def check_cut(self) -> None:
        """Rows that come in order give the same result in one batch as in many.

        What shards keep between batches, such as how often a row met a partner, is then compared
        with what one step knows by itself. With little room, and a policy that does not learn;
        for half of the workloads, because it takes as long as four schedules.
        """
        work = self.workload
        rng = random.Random(f"{work.asked}")
        if rng.random() < 0.5:
            return
        policy, rows = rng.choice(("lfu", "lfu", "lru", "random")), rng.choice((3, 5, 8))
        policy = "random" if work.asked.how == "anti" else policy
        asked = replace(work.asked, policy=policy, goal="subset", rows=rows, memory=None)
        work = replace(work, asked=replace(asked, monitor=None), shared=False)
        cut, whole = (
            Prepared(replace(work, batches=batches, delay=FAR), self.switches).undisturbed
            for batches in in_order(work)
        )
        one, other = (
            Counter(repr(row) for output in each.sink.values() for row in output.rows)
            for each in (cut, whole)
        )
        if one != other:
            raise Failure(
                f"cut into batches the result has {list((one - other).elements())[:3]} more and "
                f"lacks {list((other - one).elements())[:3]}"
            )

    def disturbed(self, faults: tuple[Fault, ...], whole: bool = False) -> Cluster:
        """The query with these faults, held to the undisturbed one.

        It begins with the batch of the first fault, where the undisturbed query was then, with its
        local copies or without; and it ends with the batch of the last fault, or the next: what
        comes after follows from the state, which must be the same. With ``whole`` all batches are
        run.
        """
        forget_verified()
        first = 0 if whole else faults[0].batch
        end = (
            len(self.inputs)
            if whole
            else min(faults[-1].batch + 1 + faults[-1].seed % 2, len(self.inputs))
        )
        with scratch() as root, switched(self.switches):
            cluster = Cluster(self.workload, self.inputs, root, list(faults))
            if first:
                cluster.begin_at(first, self.undisturbed, with_copies=faults[0].seed % 4 > 0)
            try:
                cluster.run(end)
                rules.check_same(cluster, self.undisturbed.sink)
                rules.check_leaks(cluster)
                rules.check_state(cluster, self.undisturbed)
            except Exception as error:
                error.add_note("\n".join(cluster.story))
                raise
        return cluster


LAYOUT = (
    *("segments", "compacted", "held_bytes", "dead_bytes", "switched"),
    *names_of(ExpectedFigures),
)
"""Figures that tell how rows are laid out, which switches change; and what a batch ended with,
where its steps are others.
"""


def _without_layout(sink: dict[int, BatchOutput]) -> dict[int, BatchOutput]:
    return {
        batch: output._replace(
            figures={
                name: value
                for name, value in output.figures.items()
                if name not in LAYOUT and not name.startswith("shards_")
            }
        )
        for batch, output in sink.items()
    }


def prepared(number: int) -> Prepared:
    """The workload of this number; another is drawn where a join cannot be asked so."""
    for attempt in range(20):
        seed = number * 1000 + attempt
        found = Prepared(drawn_workload(seed), drawn_switches(random.Random(f"switches {seed}")))
        try:
            assert found.inputs
        except SpecError:
            continue
        return found
    raise AssertionError(f"no join for workload {number}")


def faults_of(number: int, schedule: int, ticks: list[int]) -> tuple[Fault, ...]:
    """The faults of a schedule."""
    return drawn_faults(random.Random(f"faults {number} {schedule}"), ticks)
