"""The files of a checkpoint beside its state: which batches are done, offsets, operators.

Spark writes them as lines of JSON behind a version. They are read here without Spark, and a
checkpoint is never written to: another one is made of copies.
"""

import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from headgate.spec import SpecError

PARTITIONS = "spark.sql.shuffle.partitions"
OFFSETS, COMMITS, SOURCES, STATE, METADATA = "offsets", "commits", "sources", "state", "metadata"
JOIN, PROCESSOR = "symmetricHashJoin", "transformWithStateInPandasExec"
"""Spark's names for its own stream-stream join, and for a processor in Python."""
MOST_BYTES = 1 << 28
"""Of a file of a log; a source of files lists them all in one now and then."""
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)


class Logged(NamedTuple):
    """What a log says of a batch: the version of its form, facts, and a line for each source."""

    version: str
    facts: dict[str, Any]
    lines: tuple[str, ...] = ()

    @classmethod
    def read(cls, file: Path) -> "Logged":
        """Read one file of a log; raises `SpecError` where it is none."""
        try:
            if file.stat().st_size > MOST_BYTES:
                raise ValueError(f"it has more than {MOST_BYTES:,} bytes")
            version, facts, *lines = file.read_text().split("\n")
            told = json.loads(facts or "{}")
            if not isinstance(told, dict) or not isinstance(told.get("conf", {}), dict):
                raise ValueError("its second line is no JSON object with settings")
        except (ValueError, RecursionError) as error:
            raise SpecError(
                f"{file} is not a log of a checkpoint: {error}. Restore the checkpoint from a copy"
            ) from error
        return cls(version, told, tuple(line for line in lines if line))

    def write(self, file: Path) -> None:
        """Write it as Spark does."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join([self.version, json.dumps(self.facts), *self.lines]))

    @property
    def conf(self) -> dict[str, str]:
        """The settings with which the query began."""
        return dict(self.facts.get("conf", {}))

    @property
    def watermark_ms(self) -> int:
        """The watermark of the batch."""
        given = self.facts.get("batchWatermarkMs", 0)
        if not isinstance(given, int):
            raise SpecError(f"a log of the checkpoint has a watermark of {given!r:.80}, no number")
        return given

    def with_conf(self, **changed: str) -> "Logged":
        """The same with other settings."""
        return self._replace(facts=self.facts | {"conf": self.conf | changed})


@dataclass(frozen=True)
class Operator:
    """A stateful operator, as its metadata describes it."""

    number: int
    name: str
    partitions: int
    variables: tuple[str, ...] = ()
    """Names of its state variables, if it is a processor."""

    @classmethod
    def of(cls, number: int, facts: dict[str, Any]) -> "Operator":
        """The operator of which Spark's metadata tells this."""
        try:
            stores = facts.get("stateStoreInfo", [])
            told = json.loads(facts.get("operatorPropertiesJson") or "{}")
            return cls(
                number,
                str(facts["operatorInfo"]["operatorName"]),
                max((int(store["numPartitions"]) for store in stores), default=0),
                tuple(str(each["stateName"]) for each in told.get("stateVariables", ())),
            )
        except (*(LookupError, TypeError, ValueError), AttributeError, RecursionError) as error:
            raise SpecError(
                f"the metadata of stateful operator {number} are not as Spark writes them "
                f"({error!r:.80}): restore the checkpoint from a copy"
            ) from error

    @property
    def is_headgate(self) -> bool:
        """Whether it is a join of Headgate's."""
        return self.name == PROCESSOR and {"head", "segments", "control"} <= set(self.variables)


@dataclass(frozen=True)
class CheckpointFiles:
    """A checkpoint in a local folder.

    Examples
    --------
    >>> CheckpointFiles.of("no/such/folder")
    Traceback (most recent call last):
    ...
    headgate.spec.errors.SpecError: no/such/folder is not the checkpoint of a query: there is no \
folder "offsets" in it. Give the query's checkpointLocation
    """

    path: Path

    @classmethod
    def of(cls, given: "str | os.PathLike[str]") -> "CheckpointFiles":
        """The checkpoint at a place; raises unless one is there."""
        path = local_path(given)
        for folder in (OFFSETS, COMMITS, STATE):
            if not (path / folder).is_dir():
                raise SpecError(
                    f'{path} is not the checkpoint of a query: there is no folder "{folder}" in '
                    f"it. Give the query's checkpointLocation"
                )
        return cls(path)

    @property
    def last_batch(self) -> int:
        """The last batch that is done."""
        done = _numbers(self.path / COMMITS)
        if not done:
            raise SpecError(
                f"{self.path} has no finished batch, so there is no state in it yet: let the query "
                f"run for a batch"
            )
        return done[-1]

    @property
    def begun(self) -> list[int]:
        """Batches that were planned and did not end: a restart runs them again."""
        last = self.last_batch
        return [batch for batch in _numbers(self.path / OFFSETS) if batch > last]

    def offsets(self, batch: int) -> Logged:
        """Where sources stand at the end of a batch, its watermark and settings."""
        return Logged.read(self.path / OFFSETS / str(batch))

    def commit(self, batch: int) -> Logged:
        """What the end of a batch left for the next."""
        return Logged.read(self.path / COMMITS / str(batch))

    def operators(self) -> list[Operator]:
        """All stateful operators, by number."""
        folder = self.path / STATE
        numbers = sorted(int(each.name) for each in folder.iterdir() if each.name.isdigit())
        return [self._operator(number) for number in numbers]

    def join(self) -> Operator:
        """Headgate's join; raises where there is none."""
        found = [operator for operator in self.operators() if operator.is_headgate]
        if len(found) != 1:
            names = ", ".join(operator.name for operator in self.operators()) or "none"
            raise SpecError(
                f"{self.path} has {len(found)} joins of Headgate's (stateful operators: {names}): "
                f"give the checkpoint of a query with one"
            )
        return found[0]

    def operator_folder(self, number: int) -> Path:
        """Where the state of an operator is."""
        return self.path / STATE / str(number)

    def _operator(self, number: int) -> Operator:
        file = operator_file(self.operator_folder(number))
        if file is None:
            return Operator(number, "unknown", 0)
        return Operator.of(number, Logged.read(file).facts)

    def copy_progress(self, to: Path, conf: dict[str, str]) -> None:
        """Copy all but the state: the query's id, its sources, and the batches it stands at.

        Settings given here replace those with which the query began.
        """
        shutil.copy2(self.path / METADATA, to / METADATA)
        if (self.path / SOURCES).is_dir():
            shutil.copytree(self.path / SOURCES, to / SOURCES, dirs_exist_ok=True)
        last = self.last_batch
        # A restart also looks at the batch before, for the watermark by which rows were late.
        done = [batch for batch in _numbers(self.path / COMMITS) if batch >= last - 1]
        for batch in (*done, *self.begun):
            self.offsets(batch).with_conf(**conf).write(to / OFFSETS / str(batch))
        for batch in done:
            self.commit(batch).write(to / COMMITS / str(batch))


def operator_file(folder: Path) -> Path | None:
    """The newest file of metadata of an operator; None where Spark wrote none."""
    for place in (folder / "_metadata" / "v2", folder / "_metadata"):
        if place.is_dir() and (found := _numbers(place)):
            return place / str(found[-1])
        if (place / METADATA).is_file():
            return place / METADATA
    return None


def local_path(given: "str | os.PathLike[str]") -> Path:
    """A local folder, from a path or a ``file:`` address.

    Examples
    --------
    >>> local_path("file:///data/a%20b").as_posix()
    '/data/a b'
    >>> local_path("s3a://bucket/checkpoint")
    Traceback (most recent call last):
    ...
    headgate.spec.errors.SpecError: s3a://bucket/checkpoint is not a local folder: copy the \
checkpoint to this machine first, and copy the new checkpoint back
    """
    text = os.fspath(given)
    if not _SCHEME.match(text):
        return Path(text)
    parts = urlsplit(text)
    if parts.scheme != "file":
        raise SpecError(
            f"{text} is not a local folder: copy the checkpoint to this machine first, and copy "
            f"the new checkpoint back"
        )
    return Path(unquote(parts.path))


def check_place(to: Path, checkpoint: Path) -> None:
    """Raise unless a new checkpoint can be made there."""
    if to.resolve() == checkpoint.resolve() or checkpoint.resolve() in to.resolve().parents:
        raise SpecError(f"{to} is the old checkpoint, which stays as it is: give another folder")
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise SpecError(f"{to} is there already: give a folder that does not exist")


def _numbers(folder: Path) -> list[int]:
    return sorted(int(file.name) for file in folder.iterdir() if file.name.isdigit())
