"""A Spark session for tests: what a streaming join needs, and quick to start."""

from pyspark.sql import SparkSession

from tests.spark.needed_spark import ON_CONNECT
from tests.spark.quick_settings import QUICK_TO_START

NEEDED = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}


def quick_session(master: str, settings: dict[str, str]) -> SparkSession:
    """A session at that master, classic or Connect, with further settings."""
    start = SparkSession.builder
    builder = start.remote(master) if ON_CONNECT else start.master(master)
    for name, value in (NEEDED | QUICK_TO_START | settings).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    if not ON_CONNECT:
        session.sparkContext.setLogLevel("ERROR")
    return session
