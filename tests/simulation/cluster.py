"""A simulated cluster: a driver with its logs, two executors, a state store, and a sink.

It does what Spark does with a stateful query. A batch is planned, its tasks read one version of
the state and commit the next, the sink takes the batch once, and the batch is noted as done. What
is killed in between is made again from what was noted. A fault may come between any two calls of
the state store.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from headgate.spark.join.join_processor import JoinProcessor
from headgate.spark.shards import CONTROL
from headgate.spec import SpecError
from tests.simulation.damage import Damages
from tests.simulation.executors import DAY, Executor, forget_verified
from tests.simulation.faults import Fault, Killed, Refused
from tests.simulation.inputs import BatchInput
from tests.simulation.outputs import BatchOutput, Failure, read_output
from tests.simulation.state_store import Handle, StateStore
from tests.simulation.workload import Workload

ATTEMPTS = 4
"""Of a task, before Spark gives up the query."""


class Timers:
    """What a processor is told of time."""

    def __init__(self, watermark_ms: int) -> None:
        self._watermark_ms = watermark_ms

    def getCurrentWatermarkInMs(self) -> int:
        """As of Spark's."""
        return self._watermark_ms

    def getExpiryTimeInMs(self) -> int:
        """As of Spark's; set for the timer at hand."""
        return self.expiry

    expiry = -1


class Moment(NamedTuple):
    """Where a query was after a batch, besides its state store."""

    at: dict[int, int]
    ran_at: dict[int, int]
    run_number: int
    files: list[dict[str, bytes]]
    """Local copies of each executor."""


@dataclass
class Cluster:
    """A query on a cluster, and what happened to it."""

    workload: Workload
    inputs: list[BatchInput]
    root: Path
    faults: list[Fault] = field(default_factory=list)
    story: list[str] = field(default_factory=list)
    sink: dict[int, BatchOutput] = field(default_factory=dict)
    ticks: list[int] = field(default_factory=list)
    """Of each batch, over all its attempts."""
    moments: list[Moment] | None = None
    """After each batch, if they are to be noted, for other queries to begin there."""

    def __post_init__(self) -> None:
        self.store = StateStore()
        self.damages = Damages(self.store)
        self.executors = [Executor(self.root, number) for number in (0, 1)]
        self.at = dict.fromkeys(range(self.workload.partitions), 0)
        self.done, self.run_number, self.batch = -1, 0, 0
        self.names = random.Random(7)
        self.overtake = False
        self.ran_at: dict[int, int] = {}
        """By partition, the executor whose attempt was committed last."""
        self.graves: list[Any] = []
        """What was killed: nothing of it may run, not even what would clean up."""
        self._task: tuple[int, Handle] | None = None
        self._of_this_key = 0
        """Frames that were put out for the key at hand."""

    def begin_at(self, batch: int, other: "Cluster", with_copies: bool) -> None:
        """Go on from where another query was before this batch, in workers that are new."""
        assert other.moments is not None
        moment = other.moments[batch - 1]
        self.store = other.store.up_to(batch - 1)
        self.damages = Damages(self.store)
        self.done, self.ticks, self.run_number = batch - 1, [0] * batch, moment.run_number
        self.at, self.names = dict(moment.at), random.Random(1_000 + batch)
        if with_copies:
            self.ran_at = dict(moment.ran_at)
            for executor, files in zip(self.executors, moment.files, strict=True):
                executor.restore(files)

    def run(self, until: int | None = None) -> None:
        """Run all batches, or those before one."""
        end = len(self.inputs) if until is None else until
        while self.done + 1 < end:
            self.batch = self.done + 1
            if len(self.ticks) == self.batch:
                self.ticks.append(0)
            changed = self.workload.batches[self.batch].changes and self.ticks[-1] == 0
            if changed:
                self._restart()
            try:
                self._attempt(self.batch)
            except Killed:
                self._restart()

    def keys(self, partition: int) -> list[int]:
        """The keys of a partition; the control shard is in the first."""
        own = [s for s in range(self.workload.shards) if s % self.workload.partitions == partition]
        return [CONTROL, *own] if partition == 0 else own

    def tick(self, what: str) -> None:
        """Time passes: whatever was to go wrong by now does."""
        self.ticks[self.batch] += 1
        while self.faults and self.faults[0][:2] <= (self.batch, self.ticks[self.batch]):
            self._fire(self.faults.pop(0), what)

    def _restart(self) -> None:
        """The driver starts again: another run, new workers, tasks wherever."""
        self.run_number += 1
        self.at = {
            place: (place + self.run_number) % len(self.executors)
            for place in range(self.workload.partitions)
        }
        for executor in self.executors:
            executor.disk_is_full = False
        self.overtake = False
        forget_verified()

    def _attempt(self, batch: int) -> None:
        frames = []
        for partition in range(self.workload.partitions):
            frames += self._task_tried(batch, partition)
        output = read_output(frames)
        self.tick("the sink takes the batch")
        before = self.sink.setdefault(batch, output)
        if before.rows != output.rows:
            raise Failure(f"batch {batch} was made again and puts out other rows")
        self.tick("the batch is noted as done")
        self.done = batch
        for executor in self.executors:
            executor.disk_is_full = False
        if self.moments is not None:
            files = [executor.files() for executor in self.executors]
            self.moments.append(Moment(dict(self.at), dict(self.ran_at), self.run_number, files))

    def _task_tried(self, batch: int, partition: int) -> list[pd.DataFrame]:
        for _ in range(ATTEMPTS):
            try:
                return self._task_run(batch, partition)
            except Killed as killed:
                if killed.who == "driver":
                    raise
            except Refused:
                pass
            except SpecError as error:
                if not self.damages.done:
                    raise
                if self._of_this_key:
                    raise Failure(
                        f"rows were put out before damage was noticed: {error}"
                    ) from error
                self.story.append(f"  the query ends: {str(error)[:100]}…; restored from a copy")
                self.damages.undo()
                raise Killed("driver") from error
            finally:
                self._task = None
        self.story.append("  the task has failed too often: the query ends, and is started again")
        raise Killed("driver")

    def _task_run(self, batch: int, partition: int) -> list[pd.DataFrame]:
        """Run a task, commit its state, and return what it has put out."""
        handle, frames, number = Handle(self.tick), [], self.at[partition]
        handle.contents = {key: self.store.load(key, batch - 1) for key in self.keys(partition)}
        self._task = (partition, handle)
        executor = self.executors[number]
        run = f"{1:036d}-{self.run_number:036d}"
        is_overtaken = False
        with executor.at_work(run, self.names):
            produced = self._produced(batch, handle)
            self.graves.append(produced)
            for frame in produced:
                frames.append(frame)
                self._of_this_key += 1
                self.tick("rows are put out")
                if self.overtake and not is_overtaken:
                    self.overtake, is_overtaken = False, True
                    self.at[partition] = 1 - self.at[partition]
                    second = self._task_tried(batch, partition)
                    # The first goes on where it was; its store takes nothing from it any more.
                    handle.tick = lambda what: None
        if is_overtaken:
            return second
        self.tick("the state is committed")
        for key, content in handle.contents.items():
            self.store.commit(key, batch, content)
        self.ran_at[partition] = number
        self.tick("the task is done")
        return frames

    def _produced(self, batch: int, handle: Handle) -> Iterator[pd.DataFrame]:
        """Everything that a task puts out: for its rows, then for its timers."""
        plan, inputs = self.inputs[batch]
        processor = JoinProcessor(plan)
        processor.init(handle)
        timers = Timers(self.workload.watermarks_ms[batch])
        for key in handle.contents:
            if key in inputs:
                handle.key, self._of_this_key = key, 0
                yield from processor.handleInputRows((key,), iter([inputs[key]]), timers)
        for key, content in handle.contents.items():
            for due in [at for at in content["timers"] if at <= timers.getCurrentWatermarkInMs()]:
                handle.key, self._of_this_key = key, 0
                timers.expiry = due
                yield from processor.handleExpiredTimer((key,), timers, timers)
                content["timers"] = tuple(at for at in content["timers"] if at != due)

    def _fire(self, fault: Fault, what: str) -> None:
        rng, kind = random.Random(fault.seed), fault.kind
        partition, handle = self._task or (0, None)
        executor = self.executors[self.at[partition]]
        note: str | None = ""
        if kind == "lose the local copies":
            executor.lose_files()
        elif kind == "cut a local copy short":
            note = executor.cut_a_file(rng)
        elif kind == "flip a bit of a local copy":
            note = executor.flip_a_bit(rng)
        elif kind == "swap two local copies":
            note = executor.swap_two(rng)
        elif kind == "the local disk is full":
            executor.disk_is_full = True
        elif kind == "move to another executor":
            self.at = {place: 1 - number for place, number in self.at.items()}
        elif kind == "a second attempt overtakes the first":
            self.overtake = True
        elif kind == "the clock jumps":
            executor.clock_off = rng.choice((-400, -2, 2, 400)) * DAY
        elif kind.endswith("in the state store"):
            working = [] if handle is None else list(handle.contents.values())
            note = self.damages.do(rng, working, cut=kind.startswith("cut"))
        if note is None:
            return
        said = "" if not note else f" ({note})"
        self.story.append(f"{fault}{said}, before {what!r}")
        if kind == "the store refuses a call" and handle is not None:
            raise Refused
        if kind == "kill the executor":
            if rng.random() < 0.5:
                executor.lose_files()
            self.at[partition] = 1 - self.at[partition]
        if kind.startswith("kill"):
            forget_verified()
            # Between tasks nothing runs but the driver.
            raise Killed(kind.split()[-1] if handle is not None else "driver")
