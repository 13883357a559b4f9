"""Conversion and checks of bounded in-process inputs."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from headgate.columns.carried_types import uncarried
from headgate.columns.plain_form import plain
from headgate.engine.table_files import read_table
from headgate.spec import SpecError

TAKEN = "Arrow tables, pandas, Polars or DuckDB frames, and paths of Parquet or CSV files"
SPARK_ON_BOTH = " (or Spark DataFrames, on both sides)"


def is_spark(given: Any) -> bool:
    """Whether an object belongs to Spark, without importing Spark.

    Examples
    --------
    >>> is_spark(pa.table({}))
    False
    """
    return any(kind.__module__.startswith("pyspark.") for kind in type(given).__mro__)


def as_arrow(given: Any, which: str, caller: str, spark: str = "") -> pa.Table:
    """An Arrow table from a side; errors name the caller, and say where Spark DataFrames go.

    A side is an Arrow table, a pandas frame, the path of Parquet or CSV files, or anything that
    hands out Arrow data by itself, such as a Polars frame or a DuckDB relation. Views and runs come
    out as what they stand for (`plain`).

    Examples
    --------
    >>> as_arrow(7, "left", "run")
    Traceback (most recent call last):
    ...
    headgate.spec.errors.SpecError: the left side is a int: run takes Arrow tables, pandas, Polars \
or DuckDB frames, and paths of Parquet or CSV files
    """
    if isinstance(given, pa.Table):
        return carried_table(given, f"the {which} side")
    if type(given).__module__.startswith("pandas") and hasattr(given, "columns"):
        try:
            table = pa.Table.from_pandas(given, preserve_index=False)
        except (ValueError, TypeError, pa.ArrowException) as error:
            raise SpecError(f"the {which} side cannot be read as a table: {error}") from error
        return carried_table(table, f"the {which} side")
    if isinstance(given, str | os.PathLike):
        return carried_table(read_table(Path(given), which), f"the {which} side")
    if hasattr(given, "__arrow_c_stream__") and not is_spark(given):
        return carried_table(pa.table(given), f"the {which} side")
    raise SpecError(f"the {which} side is a {type(given).__name__}: {caller} takes {TAKEN}{spark}")


def carried_table(table: pa.Table, which: str) -> pa.Table:
    """The table with columns of types that rows can carry; raises where it has others.

    Columns of views and run-end encoded ones come out as the plain columns they stand for.

    Examples
    --------
    >>> carried_table(pa.table([[1], [2]], names=["a", "a"]), "the left side")
    Traceback (most recent call last):
    ...
    headgate.spec.errors.SpecError: the left side has several columns named a: rename them first
    """
    check_names(which, table.column_names)
    table = plain(table)
    for field in table.schema:
        part = uncarried(field.type)
        if part is not None:
            inside = "" if part is field.type else f", with {part} inside"
            raise SpecError(
                f'column "{field.name}" of {which} is {field.type}{inside}, which rows cannot '
                f"carry: cast it to a plain type, or leave it out"
            )
    return table


def check_names(which: str, names: Sequence[str]) -> None:
    """Raise where two columns have the same name."""
    counts = Counter(names)
    several = ", ".join(sorted(name or '""' for name in counts if counts[name] > 1))
    if several:
        raise SpecError(f"{which} has several columns named {several}: rename them first")
