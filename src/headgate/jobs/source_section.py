"""A source of a job: where a side's rows come from, and what is done to them before the join."""

from dataclasses import dataclass
from pathlib import Path

from headgate.jobs.environment import Environment, Settings
from headgate.jobs.job_section import JobSection
from headgate.jobs.shaping_section import ShapingSection, read_shaping
from headgate.jobs.source_columns import columns_of_parquet, columns_of_schema
from headgate.spec.quantity import parse_duration_us

FILES = frozenset({"avro", "csv", "json", "orc", "parquet", "text", "xml"})
"""Formats that are folders of files; what is there can be read as bounded data as well."""
TABLES = frozenset({"delta"})
"""Formats that can be read as bounded data and know their schema."""
_PATTERN = frozenset("*?[{")


@dataclass(frozen=True)
class SourceSection:
    """Where a side's rows come from.

    ``options`` includes the path, as in Spark.
    """

    format: str
    options: Settings
    schema: str | None
    shaping: ShapingSection
    watermark_us: int

    @property
    def is_bounded(self) -> bool:
        """Whether the data there now can be read to its end."""
        return self.format in FILES | TABLES

    @property
    def wants_schema(self) -> bool:
        """Whether Spark must be given a schema, since the files may not exist yet."""
        return self.format in FILES and self.format != "text"

    def known_columns(self) -> frozenset[str] | None:
        """The columns that reach the join, if they are known without Spark."""
        before = None
        if self.schema is not None:
            before = columns_of_schema(self.schema)
        elif self.format == "parquet" and "path" in self.options:
            before = columns_of_parquet(Path(self.options["path"].value))
        return self.shaping.known(before)


def read_source(
    section: JobSection, environment: Environment, spark_is_here: bool = True
) -> SourceSection | None:
    """Read the source part of a side; return None if it is invalid.

    Whether a path is there is checked only if Spark runs on this machine.
    """
    kind = section.text("format", 'a Spark format, such as "parquet" or "kafka"', required=True)
    options = environment.options(section, "options")
    path = environment.text(section, "path", "the folder or file to read", required=False)
    if path is not None and "path" in options:
        section.problems.note(section.at("path"), "the path is given here and among the options")
    if path is not None:
        options["path"] = path
        if spark_is_here:
            _check_there(section, path.value)
    elif kind in FILES and "path" not in options:
        section.missing("path", f"the folder that the {kind} files are in")
    schema = section.text("schema", 'names and types, such as "id long, at timestamp"')
    shaping = read_shaping(section)
    late = section.text(
        "watermark", 'the longest a row may come late, such as "10 seconds"', required=True
    )
    delay = None
    if late is not None:
        delay = section.problems.attempt(
            section.at("watermark"), lambda: parse_duration_us(late, "a watermark of")
        )
    if kind is None or delay is None:
        return None
    return SourceSection(kind, options, schema, shaping, delay)


def _check_there(section: JobSection, path: str) -> None:
    """Check that a local path exists; remote paths and patterns are left to Spark."""
    if "://" in path or _PATTERN & set(path) or not path:
        return
    if not Path(path.removeprefix("file:")).exists():
        section.problems.note(
            section.at("path"),
            f"{section.name}.path: {path} is not there (looked from {Path.cwd()}): make it before "
            f"the job starts, or give another",
        )
