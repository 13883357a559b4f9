"""Where the time of a batch goes: its phases on the driver, and its stages by Spark's event log."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from headgate.bench.batch_sizes import CONTENDERS, PHASES, SIZES, first_files, in_a_process
from headgate.bench.bench_workload import BenchWorkload

PROFILED = ("Spark's join", "Headgate", "Headgate after hg.configure", "no join: state in Python")
ROWS = (10_000, 100_000, 800_000)
STAGES = Path("out/stages.md")
"""Where the profile is written."""
COUNTED = {
    "Python": "time to execute Python code",
    "start Python": "time to start Python workers",
    "commit state": "time to commit changes",
    "scan": "scan time",
}
"""What tasks report, by the name that Spark gives it; the longest of a stage's tasks counts."""
TASKS, JAVA = "tasks", "processor time of Java"
"""What is added up over a stage's tasks: how many there are, and what they took of a processor."""
SHOWN = (TASKS, JAVA, *COUNTED)


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


class Profiled(NamedTuple):
    """A contender's batches: the first, a steady one, and one without rows if there was one."""

    rows: int
    name: str
    first: BatchTime
    steady: BatchTime
    empty: BatchTime | None


def measure_stages(sizes: Sequence[int] | None = None) -> Iterator[Profiled]:
    """Profile each contender with batches of each size."""
    with tempfile.TemporaryDirectory(prefix="headgate-bench-") as folder:
        for rows in sizes or ROWS:
            place = Path(folder) / str(rows)
            BenchWorkload((rows // 2,) * SIZES[rows]).write(place)
            for name in PROFILED:
                events = Path(tempfile.mkdtemp(dir=folder))
                count = CONTENDERS[name].batches[rows]
                in_a_process(name, first_files(place, count), events)
                batches = read_batches(events)
                empty = batches[count] if len(batches) > count else None
                yield Profiled(rows, name, batches[0], _usual(batches[count // 2 : count]), empty)


def stage_page(profiles: Sequence[Profiled]) -> str:
    """The profiles as a Markdown page."""
    parts = [
        "# Where the time of a batch goes\n\nMilliseconds, by `headgate bench --part stages`: "
        "phases on the driver, stages of the batch's job, and of what its tasks report the "
        "longest; tasks are counted, and their processor time in Java is added up. Steady "
        "batches are those of the second half of the run (median).\n"
    ]
    for each in profiles:
        lines = [f"## {each.rows:,} rows of both sides in a batch: {each.name}\n"]
        lines += ["| | first | steady |", "|---|--:|--:|"]
        for part, took, usually in stage_lines(each.first, each.steady):
            lines.append(f"| {part} | {took:,.0f} | {usually:,.0f} |")
        if each.empty is not None:
            lines += ["", "| without rows | |", "|---|--:|"]
            for part, took, _ in stage_lines(each.empty, each.empty):
                lines.append(f"| {part} | {took:,.0f} |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def stage_lines(first: BatchTime, usual: BatchTime) -> Iterator[tuple[str, float, float]]:
    """Each part of a batch, and what it took in the first batch and usually."""
    for name in sorted(usual.phases):
        yield name, first.phases.get(name, 0.0), usual.phases[name]
    for stage, usually in zip(first.stages, usual.stages, strict=False):
        yield stage.name, stage.took, usually.took
        for name in SHOWN:
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
            busy = (event.get("Task Metrics") or {}).get("Executor CPU Time", 0) / 1e6
            stage.spent[JAVA] = stage.spent.get(JAVA, 0.0) + busy
            stage.spent[TASKS] = stage.spent.get(TASKS, 0.0) + 1
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
        spent = {name: median(stage.spent.get(name, 0.0) for stage in same) for name in SHOWN}
        stages.append(StageTime(same[0].name, median(stage.took for stage in same), spent))
    return BatchTime(phases, tuple(stages))
