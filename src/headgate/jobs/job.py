"""Reads a job (two sources, their join and a sink) from a TOML file and checks all of it."""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from headgate.api.window_join import WindowJoin
from headgate.jobs.environment import Environment, Settings
from headgate.jobs.job_section import JobSection
from headgate.jobs.join_section import read_join, redefined_from
from headgate.jobs.lines import Lines
from headgate.jobs.problems import JobError, Problem, Problems
from headgate.jobs.sink_section import SinkSection, read_sink
from headgate.jobs.source_section import SourceSection, read_source
from headgate.spec import SpecError

_AT = re.compile(r"\s*\(at line (\d+), column \d+\)|\s*\(at end of document\)")
LONGEST_FILE = 1_000_000
"""Characters of a job file."""


@dataclass(frozen=True)
class Job:
    """A whole pipeline: what is read, joined and written."""

    file: str
    name: str
    left: SourceSection
    right: SourceSection
    join: WindowJoin
    shards: int | None
    redefined: str | None
    sink: SinkSection
    spark: Settings
    lines: Lines

    @property
    def settings(self) -> Settings:
        """All options and paths of the job, used to remove secrets from messages."""
        parts = (self.spark, self.left.options, self.right.options, self.sink.options)
        return {
            f"{number}.{name}": setting
            for number, part in enumerate(parts)
            for name, setting in part.items()
        }


def read_job(file: str | os.PathLike[str], environment: Mapping[str, str] | None = None) -> Job:
    """Read the job that a TOML file describes.

    Raises a `JobError` that lists every problem in the file with its line. Spark is not consulted:
    errors that only it can find (such as an expression with an unknown column) show when the job
    starts.

    Parameters
    ----------
    file
        The path of the file.
    environment
        The variables that ``${NAME}`` refers to; by default those of this process.
    """
    path = Path(file)
    try:
        with path.open(encoding="utf-8") as opened:
            text = opened.read(LONGEST_FILE + 1)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise SpecError(f"{path} cannot be read: {why}") from None
    if len(text) > LONGEST_FILE:
        raise SpecError(f"{path} is not a job: at most {LONGEST_FILE:,} characters are read")
    try:
        values = tomllib.loads(text)
    except RecursionError:
        raise SpecError(f"{path} is not a job: its lists and tables are too deep") from None
    except tomllib.TOMLDecodeError as error:
        raise JobError(str(path), [_misspelled(error, text)]) from None
    lines = Lines(text)
    problems = Problems(str(path), lines)
    job = _read(
        str(path),
        JobSection(values, (), problems),
        Environment(os.environ if environment is None else environment),
        lines,
    )
    problems.raise_if_any()
    assert job is not None
    return job


def _read(file: str, top: JobSection, environment: Environment, lines: Lines) -> Job | None:
    name = top.text("name", "a name for the job, as text") or Path(file).stem
    left = top.section("left", "the left side: where its rows come from, time, window, key", True)
    right = top.section("right", "the right side, likewise", True)
    joined = top.section("join", "the join, and at least its budget", True)
    target = top.section("sink", "where result rows go, and a checkpoint", True)
    conf = top.section("spark", "settings of Spark")
    top.close()
    spark = {} if conf is None else _read_conf(conf, environment)
    here = _spark_is_here(spark, environment)
    sources = [
        None if side is None else read_source(side, environment, here) for side in (left, right)
    ]
    join = shards = redefined = None
    if joined is not None:
        shards = joined.whole("shards", "how many shards, one or more", least=1)
        # Missing sides are already reported; empty ones let the rest be checked.
        quiet = Problems(file, lines)
        sides = [
            side or JobSection({}, (which,), quiet)
            for which, side in (("left", left), ("right", right))
        ]
        join = read_join(joined, (sides[0], sides[1]), (sources[0], sources[1]))
        redefined = redefined_from(joined, None if join is None else join.goal)
        joined.close()
    for side in (left, right):
        if side is not None:
            side.close()
    sink = None if target is None else read_sink(target, environment)
    if not (sources[0] and sources[1] and join and sink):
        return None
    return Job(
        file=file,
        name=name,
        left=sources[0],
        right=sources[1],
        join=join,
        shards=shards,
        redefined=redefined,
        sink=sink,
        spark=spark,
        lines=lines,
    )


def _read_conf(section: JobSection, environment: Environment) -> Settings:
    found = environment.flat(section)
    for name in found:
        if not name.startswith("spark."):
            path = section.at(name) if section.has(name) else section.at(name.split(".")[0])
            section.problems.note(
                path, f'"{name}" is not a setting of Spark: their names begin with "spark."'
            )
    return found


def _spark_is_here(spark: Settings, environment: Environment) -> bool:
    """Whether Spark reads the files of this machine: a cluster or a Connect server has its own."""
    told = {name: setting.value for name, setting in spark.items()}
    remote = told.get("spark.remote") or environment.variables.get("SPARK_REMOTE")
    return (remote or told.get("spark.master", "local")).startswith("local")


def _misspelled(error: tomllib.TOMLDecodeError, text: str) -> Problem:
    """Turn tomllib's error into a problem at its line."""
    said = str(error)
    found = _AT.search(said)
    last = text.count("\n") + (not text.endswith("\n"))
    line = int(found.group(1)) if found and found.group(1) else max(last, 1)
    return Problem(line, f"not valid TOML: {_AT.sub('', said)}")
