"""Bounded inputs in process."""

from typing import Any

import pyarrow as pa

from headgate.columns.plain import plain
from headgate.spec import SpecError


def is_spark(given: Any) -> bool:
    """Whether something is Spark's, told without importing it.

    Examples
    --------
    >>> is_spark(pa.table({}))
    False
    """
    return type(given).__module__.startswith("pyspark.")


def as_arrow(given: Any, which: str, takes: str) -> pa.Table:
    """An Arrow table from a side given as one or as a pandas frame; ``takes`` says what is taken.

    Views and runs come out as what they stand for (`plain`).

    Examples
    --------
    >>> as_arrow(7, "left", "run takes Arrow tables")
    Traceback (most recent call last):
    ...
    headgate.spec.errors.SpecError: the left side is a int: run takes Arrow tables
    """
    if isinstance(given, pa.Table):
        return plain(given)
    if type(given).__module__.startswith("pandas") and hasattr(given, "columns"):
        return plain(pa.Table.from_pandas(given, preserve_index=False))
    raise SpecError(f"the {which} side is a {type(given).__name__}: {takes}")
