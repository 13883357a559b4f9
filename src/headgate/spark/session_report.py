"""Examines a Spark session: what a stream of Headgate finds there, and what that costs."""

from pyspark.sql import SparkSession

from headgate.report.finding import Finding, Verdict
from headgate.spark.arrow_batches import ARROW_BYTES, NO_ARROW_BYTES
from headgate.spark.configuration import value_of
from headgate.spark.requirements import CHANGELOG, MANY, PARTITIONS, PROVIDER, ROCKSDB
from headgate.spark.session_access import access_to, is_connect
from headgate.spark.spark_versions import check_streams
from headgate.spark.worker_check import check_stream_workers
from headgate.spec import SpecError

CONFIGURE = "hg.configure(spark)"


def session_findings(session: SparkSession) -> list[Finding]:
    """What a session has, and what it lacks."""
    return [
        _version(session),
        _workers(session),
        _store(session),
        _changelog(session),
        _partitions(session),
        _arrow(session),
    ]


def _version(session: SparkSession) -> Finding:
    access = access_to(session)
    kind = "Spark Connect" if is_connect(session) else "classic"
    found = f"Spark {session.version}, {kind}, {access.master or 'a cluster'}, {access.cores} cores"
    try:
        check_streams(session)
    except SpecError as error:
        return Finding("session", found, Verdict.MISSING, str(error), "use a classic session")
    return Finding("session", found)


def _workers(session: SparkSession) -> Finding:
    try:
        check_stream_workers(session)
    except SpecError as error:
        return Finding("workers", "do not start", Verdict.MISSING, str(error))
    return Finding("workers", "have Headgate")


def _store(session: SparkSession) -> Finding:
    provider = str(value_of(session, PROVIDER))
    short = provider.rpartition(".")[2]
    if provider == ROCKSDB:
        return Finding("state store", short)
    costs = "a stream is refused: only RocksDB holds Python state"
    return Finding("state store", short, Verdict.UNSET, costs, CONFIGURE)


def _changelog(session: SparkSession) -> Finding:
    if session.conf.get(CHANGELOG, "false") == "true":
        return Finding("changelog", "on")
    costs = "every checkpoint uploads the whole state, not what changed"
    return Finding("changelog", "off", Verdict.SLOW, costs, CONFIGURE)


def _partitions(session: SparkSession) -> Finding:
    partitions, cores = int(value_of(session, PARTITIONS) or 200), access_to(session).cores
    if partitions <= MANY * cores:
        return Finding("shuffle partitions", str(partitions))
    costs = f"every batch opens and writes {partitions} state stores, and {cores} tasks run at once"
    return Finding("shuffle partitions", str(partitions), Verdict.SLOW, costs, CONFIGURE)


def _arrow(session: SparkSession) -> Finding:
    limit = value_of(session, ARROW_BYTES)
    if limit == NO_ARROW_BYTES:
        return Finding("Arrow byte limit", "none")
    costs = "Spark weighs every row on its way to Python: up to a third of the time"
    return Finding("Arrow byte limit", str(limit), Verdict.SLOW, costs, CONFIGURE)
