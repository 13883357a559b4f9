"""Where the versions of Spark differ, and only here: 4.0 to 4.3, classic and Connect.

What an older version names differently is translated; what it lacks is refused where it is asked
for, with what is needed (docs/reference/spark-versions.md has the table).
"""

from dataclasses import replace
from inspect import signature
from typing import Any

import pyarrow as pa
import pyspark
from pyspark.sql.pandas import types as spark_types
from pyspark.sql.types import DataType, StructType

from headgate.engine.observed_figures import by_name
from headgate.spark.installed_package import PROTOBUF, InstalledPackage, Version, numbers
from headgate.spark.session_access import is_connect
from headgate.spec import SpecError

PROTOBUFS: tuple[tuple[Version, Version], ...] = (
    ((4, 2), (6, 33, 5)),
    ((4, 1), (6, 33, 0)),
    ((4, 0), (5, 28, 3)),
)
"""From which version of Spark on, the oldest protobuf that its messages to workers load with."""
PYTHON_SOURCES: Version = (4, 2)
"""Before, a source written in Python cannot say how much to read, nor end with what is there."""
STREAMS_ON_CONNECT: Version = (4, 1)
"""Before, a client of Connect has no transformWithState."""
UTC = "UTC"
"""State must not depend on the session's time zone, which a restart may change."""


def to_arrow_type(kind: DataType) -> pa.DataType:
    """The Arrow type in which Spark hands a column to Python, with times in UTC."""
    return spark_types.to_arrow_type(kind, **_in_utc())


def to_arrow_schema(schema: StructType) -> pa.Schema:
    """The same of all columns."""
    return spark_types.to_arrow_schema(schema, **_in_utc())


def from_arrow_type(kind: pa.DataType) -> DataType:
    """Spark's type for an Arrow type; times without a zone stay without."""
    return spark_types.from_arrow_type(kind, prefer_timestamp_ntz=True)


def _in_utc() -> dict[str, Any]:
    """From 4.2 on the zone is named; before, times are in UTC unless one says otherwise."""
    named = "timezone" in signature(spark_types.to_arrow_type).parameters
    return {"timezone": UTC} if named else {}


def figures_of(observed: Any) -> dict[str, Any]:
    """Observed metrics by name, from a row of them.

    Examples
    --------
    >>> figures_of({"pairs": 7})
    {'pairs': 7}
    """
    return by_name(observed.asDict() if hasattr(observed, "asDict") else observed)


def protobuf_for(spark: str) -> InstalledPackage:
    """The protobuf that streams need on a version of Spark.

    Examples
    --------
    >>> [protobuf_for(version).wanted for version in ("4.0.5", "4.3.0")]
    ['protobuf>=5.28.3', 'protobuf>=6.33.5']
    """
    version = numbers(spark)
    oldest = next((old for since, old in PROTOBUFS if version >= since), PROTOBUF.oldest)
    return replace(PROTOBUF, oldest=oldest)


def protobuf_here() -> InstalledPackage:
    """The protobuf that streams need on the installed PySpark."""
    return protobuf_for(pyspark.__version__)


def check_streams(session: Any) -> None:
    """Raise unless stateful Python streams run on this version of Spark, in this kind of session.

    On Connect the client and the server may be of different versions, and both must have them.
    """
    if not is_connect(session):
        protobuf_here().check()
        return
    versions = {"client": pyspark.__version__, "server": session.version}
    for which, found in versions.items():
        if numbers(found)[:2] < STREAMS_ON_CONNECT:
            raise SpecError(
                f"streams on Spark Connect need Spark 4.1 or newer, and the {which} is Spark "
                f"{found}: use a classic session, or join.batch over bounded DataFrames"
            )


def check_python_sources(what: str) -> None:
    """Raise unless this Spark has sources in Python that bound their batches, for ``what``."""
    if numbers(pyspark.__version__)[:2] < PYTHON_SOURCES:
        raise SpecError(
            f"{what} needs Spark 4.2 or newer, and this is Spark {pyspark.__version__}: "
            f'pip install "pyspark>=4.2,<5"'
        )
