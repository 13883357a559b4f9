"""Soak of the real processor in one process: three joins take turns on the chunks of a stream."""

import math
import random
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa

import headgate as hg
from headgate.engine.observed_figures import ABOUT, SHARDS, by_name
from headgate.engine.shard_layout import join_layout
from headgate.spark.join.join_processor import JoinProcessor
from headgate.spark.join.published_changes import CHANGES, PackChanges
from headgate.spark.join.shard_plan import shard_plan
from headgate.spark.packing import SHARD_COLUMN, Packing
from tests.simulation.cluster import Timers
from tests.simulation.executors import Executor
from tests.simulation.state_store import Handle, copied, nothing
from tests.soak.curve import Curve, files_in, recall_of
from tests.soak.soaked_stream import SCHEMAS, SoakedStream

LABELS = (0,)
REDEFINED_EVERY = 9
DEFINITIONS = (hg.MaxImportance("price"), hg.MaxImportance("1 - price"))
WINDOW = "10 minutes"
HERE: dict[str, dict[str, Any]] = {
    "random": {"policy": "random"},
    "auto": {"policy": "auto"},
    "importance": {"policy": "prob", "goal": DEFINITIONS[0]},
}


@dataclass
class Soaked:
    """One join of the soak, with its state, as a shard on a worker has it."""

    name: str
    rows: int
    root: Path
    content: dict[str, Any] = field(default_factory=nothing)
    batches: int = 0

    def __post_init__(self) -> None:
        self.join = hg.WindowJoin(
            on="key",
            left=hg.Side(time="at", window=WINDOW),
            right=hg.Side(time="bt", window=WINDOW),
            budget=hg.Budget(rows=self.rows),
            **HERE[self.name],
        )
        bound = self.join.bind(SCHEMAS)
        self.plan = shard_plan(
            self.join, bound, LABELS, live=True, partitions=1, operator=self.name
        )
        self.executor = Executor(self.root / self.name, 0)
        self._names = random.Random(7)

    def take(self, tables: tuple[pa.Table, pa.Table], until_us: int) -> dict[str, Any]:
        """Run a batch, and return its figures; its result rows are counted and dropped."""
        packed = [each for side in (0, 1) for each in self._packed(side, tables[side])]
        if self.name == "importance" and self.batches % REDEFINED_EVERY == REDEFINED_EVERY - 1:
            goal = DEFINITIONS[self.batches // REDEFINED_EVERY % 2]
            packed += PackChanges(LABELS, CHANGES)([_told(goal, self.batches)])
        whole = pa.Table.from_batches(packed).to_pandas()
        frame = whole[whole["shard"] == 0]
        handle = Handle(lambda what: None)
        handle.contents = {0: copied(self.content)}
        processor, timers = JoinProcessor(self.plan), Timers(until_us // 1000)
        processor.init(handle)
        figures: list[list[Any]] = []
        with self.executor.at_work(f"{1:036d}-{1:036d}", self._names):
            self._drain(processor.handleInputRows((0,), iter([frame]), timers), figures)
            for due in handle.content["timers"]:
                timers.expiry = due
                self._drain(processor.handleExpiredTimer((0,), timers, timers), figures)
                left = (at for at in handle.content["timers"] if at != due)
                handle.content["timers"] = tuple(left)
        self.content, self.batches = handle.contents[0], self.batches + 1
        return by_name({"left_rows": 0, SHARDS: figures, ABOUT: ""}, join_layout())

    def _packed(self, side: int, table: pa.Table) -> list[pa.RecordBatch]:
        if not table.num_rows:
            return []
        shard = pa.array([0], pa.int32()).take(pa.array([0] * table.num_rows))
        pack = Packing(side, LABELS, tuple(table.column_names), ("key",), self.join.policy)
        return list(pack(table.add_column(0, SHARD_COLUMN, shard).to_batches()))

    def _drain(self, frames: Any, figures: list[list[Any]]) -> None:
        for frame in frames:
            figures += [
                list(told)
                for blob, told in zip(frame["blob"], frame["figures"], strict=True)
                if blob is None
            ]

    @property
    def state_bytes(self) -> int:
        """Bytes in its state store."""
        maps = (
            value for name in ("segments", "histories") for value in self.content[name].values()
        )
        values = (self.content[name] for name in ("head", "lessons") if self.content[name])
        return sum(len(value[0]) for value in (*maps, *values))


def _told(goal: hg.MaxImportance, number: int) -> pa.RecordBatch:
    return pa.record_batch(
        {
            "definition": [goal.to_json()],
            "at": pa.array([None], pa.int64()),
            "name": [f"{number:06d}"],
        }
    )


def soak(
    arrivals: int,
    percent: float,
    stream: SoakedStream,
    report: Callable[[str], None],
    deadline: float = math.inf,
) -> tuple[Curve, list[str]]:
    """Run the joins over so many arrivals together; the curve, and what went wrong.

    It ends earlier at the deadline, by the clock.
    """
    in_windows = stream.rows * 10
    curve, wrong = Curve("In process"), []
    own = psutil.Process()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        joins = [Soaked(name, round(in_windows * percent / 100), Path(folder)) for name in HERE]
        chunk = 0
        while not curve.arrivals or (curve.arrivals[-1] < arrivals and time.time() < deadline):
            tables = stream.chunk(chunk)
            until = stream.begin_us(chunk + 1)
            began, told = time.perf_counter(), {}
            for join in joins:
                figures = join.take(tables, until)
                told[f"{join.name}_rows"] = figures["stored_rows"]
                told[f"{join.name}_recall"] = recall_of(figures)
                if figures["peak_rows"] > join.rows:
                    wrong.append(f"{join.name} stored {figures['peak_rows']:,} of {join.rows:,}")
            files, megabytes = files_in(Path(folder))
            curve.add(
                len(joins) * stream.rows,
                batch_s=time.perf_counter() - began,
                process_MB=own.memory_full_info().uss / 1e6,
                state_MB=sum(join.state_bytes for join in joins) / 1e6,
                state_files=sum(len(join.content["segments"]) for join in joins),
                local_MB=megabytes,
                local_files=files,
                open_handles=own.num_fds(),
                python_threads=own.num_threads(),
                **told,
            )
            chunk += 1
            if chunk % 20 == 0:
                report(f"{curve.arrivals[-1]:,} arrivals, {curve.figures['batch_s'][-1]:.1f} s")
    return curve, wrong + curve.grown()
