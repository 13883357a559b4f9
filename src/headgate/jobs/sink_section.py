"""The sink of a job: where result rows go, how often, and the checkpoint location."""

from dataclasses import dataclass
from typing import Literal

from headgate.jobs.environment import Environment, JobSetting, Settings
from headgate.jobs.job_section import JobSection
from headgate.jobs.shaping_section import ShapingSection, read_shaping
from headgate.jobs.source_section import FILES, TABLES
from headgate.spec.quantity import format_duration, parse_duration_us

AVAILABLE_NOW = "available-now"
ALWAYS = "always"
TRIGGERS = f'"{ALWAYS}", "{AVAILABLE_NOW}" or a duration such as "10 seconds"'


@dataclass(frozen=True)
class Trigger:
    """When batches start: as soon as the last ends, at an interval, or until all input is read."""

    kind: Literal["always", "available-now", "every"] = "always"
    every_us: int = 0

    def __str__(self) -> str:
        if self.kind == "every":
            return f"a batch every {format_duration(self.every_us)}"
        if self.kind == AVAILABLE_NOW:
            return "all that is there now, then the job ends"
        return "a batch as soon as the one before is done"


@dataclass(frozen=True)
class SinkSection:
    """Where result rows go; ``options`` includes the path, as in Spark."""

    format: str
    options: Settings
    shaping: ShapingSection
    partition_by: tuple[str, ...]
    trigger: Trigger
    checkpoint: JobSetting


def read_sink(section: JobSection, environment: Environment) -> SinkSection | None:
    """Read the sink; return None if it is invalid."""
    kind = section.text("format", 'a Spark format, such as "parquet" or "kafka"', required=True)
    options = environment.options(section, "options")
    path = environment.text(section, "path", "the folder to write to", required=False)
    if path is not None and "path" in options:
        section.problems.note(section.at("path"), "the path is given here and among the options")
    if path is not None:
        options["path"] = path
    elif kind in FILES | TABLES and "path" not in options:
        section.missing("path", f"the folder for the {kind} files")
    if "checkpointLocation" in options:
        section.problems.note(
            (*section.at("options"), "checkpointLocation"),
            "checkpointLocation is given among the options: give it as checkpoint = instead",
        )
    shaping = read_shaping(section)
    partition_by = section.texts("partition_by", 'columns, such as ["day"]')
    trigger = _read_trigger(section)
    checkpoint = environment.text(
        section,
        "checkpoint",
        "a folder where the job keeps its place, so that it can be started again",
        required=True,
    )
    section.close()
    if kind is None or trigger is None or checkpoint is None:
        return None
    return SinkSection(kind, options, shaping, partition_by or (), trigger, checkpoint)


def _read_trigger(section: JobSection) -> Trigger | None:
    given = section.text("trigger", TRIGGERS)
    if given is None:
        return None if section.has("trigger") else Trigger()
    if given == AVAILABLE_NOW:
        return Trigger("available-now")
    if given == ALWAYS:
        return Trigger("always")
    if given == "once":
        section.problems.note(
            section.at("trigger"),
            f'sink.trigger = "once" would take all rows in one batch: give "{AVAILABLE_NOW}", '
            f"which ends as well",
        )
        return None
    every = section.problems.attempt(
        section.at("trigger"), lambda: parse_duration_us(given, "a trigger of")
    )
    if every is None:
        return None
    if every < 1000:
        section.problems.note(
            section.at("trigger"),
            f'sink.trigger = "{given}" is less than a millisecond: give "{ALWAYS}" for a batch as '
            f"soon as the one before is done",
        )
        return None
    return Trigger("every", every)
