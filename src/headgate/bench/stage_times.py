"""Where the time of a batch goes: its phases on the driver, and its stages by Spark's event log."""

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from headgate.bench.batch_sizes import PHASES, SIZES, WARM_UP, in_a_process
from headgate.bench.bench_workload import BenchWorkload

PROFILED = ("Spark's join", "Headgate", "no join: state in Python")
ROWS = (10_000, 800_000)
COUNTED = {
    "Python": "time to execute Python code",
    "start Python": "time to start Python workers",
    "commit state": "time to commit changes",
    "scan": "scan time",
}
"""What tasks report, by the name that Spark gives it; the longest of a stage's tasks counts."""


@dataclass
class StageTime:
    """A stage of a batch: its length and what its tasks spent, in milliseconds."""

    name: str
    took: float
    spent: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class BatchTime:
    """The phases of a batch by the names that Spark gives them, and its stages in order."""

    phases: dict[str, float]
    stages: tuple[StageTime, ...]


def measure_stages() -> Iterator[tuple[int, str, BatchTime, BatchTime]]:
    """Rows a batch, contender, its first batch and its usual one."""
    with tempfile.TemporaryDirectory(prefix="headgate-bench-") as folder:
        for rows in ROWS:
            place = Path(folder) / str(rows)
            BenchWorkload((rows // 2,) * SIZES[rows]).write(place)
            for name in PROFILED:
                events = Path(tempfile.mkdtemp(dir=folder))
                in_a_process(name, place, events)
                batches = read_batches(events)
                yield rows, name, batches[0], _usual(batches[WARM_UP : SIZES[rows]])


def stage_lines(first: BatchTime, usual: BatchTime) -> Iterator[tuple[str, float, float]]:
    """Each part of a batch, and what it took in the first batch and usually."""
    for name in sorted(usual.phases):
        yield name, first.phases.get(name, 0.0), usual.phases[name]
    for stage, usually in zip(first.stages, usual.stages, strict=False):
        yield stage.name, stage.took, usually.took
        for name in COUNTED:
            spent = stage.spent.get(name, 0.0), usually.spent.get(name, 0.0)
            if any(spent):
                yield f"{stage.name}: {name}", *spent


def read_batches(events: Path) -> list[BatchTime]:
    """The batches of the only query in a folder with an event log."""
    phases = json.loads((events / PHASES).read_text())
    batches: dict[int, list[int]] = {}
    stages: dict[int, StageTime] = {}
    for event in _events(events):
        kind = event["Event"]
        if kind == "SparkListenerJobStart":
            batch = event["Properties"].get("streaming.sql.batchId")
            if batch is not None:
                batches.setdefault(int(batch), []).extend(event["Stage IDs"])
        elif kind == "SparkListenerStageCompleted":
            info = event["Stage Info"]
            took = info["Completion Time"] - info["Submission Time"]
            stages.setdefault(info["Stage ID"], StageTime("", 0.0)).took = took
        elif kind == "SparkListenerTaskEnd":
            stage = stages.setdefault(event["Stage ID"], StageTime("", 0.0))
            for name, reported in COUNTED.items():
                spent = _reported(event, reported)
                stage.spent[name] = max(stage.spent.get(name, 0.0), spent)
    return [
        BatchTime(phases[batch], tuple(_named(batches.get(batch, []), stages)))
        for batch in range(len(phases))
    ]


def _events(folder: Path) -> Iterator[dict[str, Any]]:
    """The events of all files of an event log."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != PHASES and "appstatus" not in path.name:
            with path.open() as lines:
                yield from map(json.loads, lines)


def _reported(event: dict[str, Any], name: str) -> float:
    figures = event["Task Info"]["Accumulables"]
    return float(sum(int(each["Update"]) for each in figures if each.get("Name") == name))


def _named(numbers: list[int], stages: dict[int, StageTime]) -> Iterator[StageTime]:
    ran = [stages[number] for number in sorted(numbers) if number in stages and stages[number].took]
    for place, stage in enumerate(ran, start=1):
        yield StageTime(f"stage {place}", stage.took, stage.spent)


def _usual(batches: list[BatchTime]) -> BatchTime:
    """The medians of some batches."""
    phases = {name: median(b.phases.get(name, 0.0) for b in batches) for name in batches[0].phases}
    depth = min(len(batch.stages) for batch in batches)
    stages = []
    for place in range(depth):
        same = [batch.stages[place] for batch in batches]
        spent = {name: median(stage.spent.get(name, 0.0) for stage in same) for name in COUNTED}
        stages.append(StageTime(same[0].name, median(stage.took for stage in same), spent))
    return BatchTime(phases, tuple(stages))
