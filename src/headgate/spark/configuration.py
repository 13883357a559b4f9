"""Sets in a session what Headgate needs on Spark, and what makes it faster."""

from collections.abc import Iterable
from typing import NamedTuple

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from headgate.spark.arrow_batches import ARROW_BYTES, NO_ARROW_BYTES
from headgate.spark.checkpoint_writer import CHECKPOINT_WRITER, local_writer
from headgate.spark.requirements import CHANGELOG, PARTITIONS, PROVIDER, ROCKSDB, check_session
from headgate.spark.session_access import access_to


class SparkSetting(NamedTuple):
    """A setting, the value it gets, why, and whether nothing runs without."""

    name: str
    value: str
    why: str
    is_needed: bool = False


class Changed(NamedTuple):
    """A setting that `configure` has changed."""

    name: str
    before: str | None
    after: str
    why: str

    def __str__(self) -> str:
        before = "unset" if self.before is None else self.before
        return f"{self.name}: {before} -> {self.after} ({self.why})"


class Configured(tuple[Changed, ...]):
    """What `configure` has changed; prints as one line each, and can be undone."""

    session: SparkSession

    def __new__(cls, changed: Iterable[Changed], session: SparkSession) -> "Configured":
        self = super().__new__(cls, changed)
        self.session = session
        return self

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "nothing to change"

    __repr__ = __str__

    def undo(self) -> None:
        """Unset what was set, for queries started from now on; what was changed since stays."""
        for each in self:
            if self.session.conf.get(each.name, None) == each.after:
                self.session.conf.unset(each.name)


def settings_for(session: SparkSession) -> list[SparkSetting]:
    """What Headgate needs or gains from in a session."""
    cores = str(access_to(session).cores)
    return [
        SparkSetting(PROVIDER, ROCKSDB, "Python state on Spark needs RocksDB", is_needed=True),
        SparkSetting(CHANGELOG, "true", "a batch then uploads what changed, not a snapshot"),
        SparkSetting(PARTITIONS, cores, "every partition opens a state store in every batch"),
        SparkSetting(
            ARROW_BYTES, NO_ARROW_BYTES, "else Spark weighs every row, a third of the time"
        ),
    ]


def configure(session: SparkSession, local_checkpoints: bool = False) -> Configured:
    """Set what Headgate needs on Spark and what makes it faster, for queries started from now on.

    Settings that you have set yourself, in the session or its builder, stay as they are.

    Parameters
    ----------
    session
        The session, classic or of Spark Connect; its other queries are affected too.
    local_checkpoints
        Whether the checkpoints of all its queries are on local disks of this machine, where Spark
        then writes them without starting a process for each step. Not for any other file system:
        files of a batch that is made again would not be replaced there.

    Returns
    -------
    Configured
        What was changed, and why; prints as one line each. Its ``undo()`` unsets it again.

    Examples
    --------
    >>> def ready(spark):
    ...     print(hg.configure(spark))  # ... shuffle.partitions: 200 -> 8 (every partition ...)
    """
    check_session(session)
    settings = settings_for(session)
    if local_checkpoints:
        writer = local_writer(access_to(session))
        why = "else a batch starts 48 processes to rename its files on a local disk"
        settings.append(SparkSetting(CHECKPOINT_WRITER, writer, why))
    given = session.conf.getAll
    changed = []
    for setting in settings:
        if setting.name not in given:
            before = value_of(session, setting.name)
            session.conf.set(setting.name, setting.value)
            changed.append(Changed(setting.name, before, setting.value, setting.why))
    return Configured(changed, session)


def value_of(session: SparkSession, name: str) -> str | None:
    """A setting's value or Spark's default; None if there is neither."""
    try:
        return session.conf.get(name)
    except PySparkException:
        return None
