"""Where the versions of Spark differ, and only here: 4.0 to 4.3, classic and Connect.

What an older version names differently is translated; what it lacks is refused where it is asked
for, with what is needed (docs/spark-versions.md has the table).
"""

from inspect import signature
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas import types as spark_types
from pyspark.sql.types import DataType, StructType

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
    """Observed metrics by name.

    A classic session gives a row with a field a metric. A client of Connect gives one with the
    values and their schema as two fields, which the documentation does not mention.

    Examples
    --------
    >>> figures_of({"values": [7], "schema": {"fields": [{"name": "pairs"}]}})
    {'pairs': 7}
    >>> figures_of({"pairs": 7})
    {'pairs': 7}
    """
    found = observed.asDict() if hasattr(observed, "asDict") else dict(observed)
    if set(found) != {"values", "schema"}:
        return found
    names = [field["name"] for field in found["schema"]["fields"]]
    return dict(zip(names, found["values"], strict=True))
