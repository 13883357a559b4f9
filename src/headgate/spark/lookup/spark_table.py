"""A bounded Spark DataFrame as the table of a lookup."""

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import fs
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from headgate.columns.relabelling import relabelled
from headgate.lookup.parquet_table import ParquetTable
from headgate.lookup.table import Table, same_zone
from headgate.spark.carried_columns import (
    arrow_schema,
    check_carried,
    column_of,
    number,
    numbered,
    quoted,
)
from headgate.spark.column_types import compared_types
from headgate.spec import SpecError

TIMES = "spark.sql.parquet.outputTimestampType"
DONE = "_SUCCESS"
"""What Spark puts beside files that are all there."""


@dataclass(frozen=True, eq=False)
class SparkTable(Table):
    """A bounded DataFrame with one row per key.

    `CachedLookup.run` fetches rows with Spark queries from the driver. Workers of a stream cannot:
    only the driver can start a query. So for `CachedLookup.stream` the DataFrame is written once,
    as Parquet files sorted by key, and workers read the rows they need from those. Later changes
    of the DataFrame have no effect; a restart uses the existing snapshot.

    Parameters
    ----------
    frame
        The DataFrame.
    snapshot
        For streams: a folder for the snapshot alone, which the driver and all workers reach under
        this path or URI (hdfs://, s3://, ...). Delete it to have it written again.

    Examples
    --------
    >>> def enriched(spark, orders):
    ...     products = hg.SparkTable(spark.table("products"), snapshot="out/products")
    ...     lookup = hg.CachedLookup(on="product", table=products, budget=hg.Budget(rows=10_000))
    ...     return lookup.stream(orders)
    """

    frame: DataFrame
    snapshot: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.frame, DataFrame):
            raise SpecError(
                f"SparkTable was given a {type(self.frame).__name__}: give a Spark DataFrame"
            )
        if self.frame.isStreaming:
            raise SpecError("SparkTable was given a streaming DataFrame: give a bounded one")
        check_carried("the table's DataFrame", self.frame)
        if self.snapshot is not None:
            if not isinstance(self.snapshot, str | Path) or not str(self.snapshot):
                raise SpecError(f"snapshot={self.snapshot!r} is not a path: give a folder")
            given = str(self.snapshot)
            place = given if "://" in given else str(Path(given).resolve())
            object.__setattr__(self, "snapshot", place)

    @property
    def name(self) -> str:
        """The name used in messages and checkpoints."""
        return "the table's DataFrame" if self.snapshot is None else f"snapshot {self.snapshot}"

    def schema(self) -> pa.Schema:
        """The DataFrame's columns."""
        return same_zone(arrow_schema(self.frame))

    def check_keys(self, keys: tuple[str, ...]) -> None:
        """Raise if keys have a collation or cannot be compared."""
        compared_types(self.frame, "table's DataFrame", keys)

    def fetch(self, keys: pa.Table, schema: pa.Schema) -> pa.Table:
        """Fetch the rows with these keys with a Spark query."""
        places = [number(self.frame.columns.index(name)) for name in keys.column_names]
        numbers = keys.rename_columns(places)
        asked = F.broadcast(self.frame.sparkSession.createDataFrame(numbers))
        wanted = [column_of(self.frame, name) for name in schema.names]
        found = numbered(self.frame).join(asked, places, "left_semi").select(*wanted)
        return relabelled(found.toArrow(), schema)

    def for_workers(self, keys: tuple[str, ...]) -> Table:
        """Return the snapshot, writing it first if it does not exist."""
        if self.snapshot is None:
            raise SpecError(
                "workers cannot ask a DataFrame for rows: give hg.SparkTable(df, snapshot=...) a "
                "folder that driver and workers share, and it is written there once"
            )
        if not _is_complete(self.snapshot):
            self._write(self.snapshot, keys)
        return ParquetTable(self.snapshot, self.schema())

    def _write(self, place: str, keys: tuple[str, ...]) -> None:
        session = self.frame.sparkSession
        by_key = [F.col(quoted(name)) for name in keys]
        before = session.conf.get(TIMES, None)
        # Other readers give times in Spark's default format another precision.
        session.conf.set(TIMES, "TIMESTAMP_MICROS")
        try:
            rows = self.frame.repartitionByRange(*by_key).sortWithinPartitions(*by_key)
            rows.write.mode("overwrite").parquet(place)
        finally:
            if before is None:
                session.conf.unset(TIMES)
            else:
                session.conf.set(TIMES, before)


def _is_complete(place: str) -> bool:
    system, path = fs.FileSystem.from_uri(place)
    found: fs.FileInfo = system.get_file_info(f"{path.rstrip('/')}/{DONE}")
    return bool(found.type == fs.FileType.File)
