"""Estimates counts, sums and averages of a join from a sample, with confidence intervals.

Examples
--------
>>> import headgate as hg
>>> import pyarrow as pa
>>> sample = pa.table({
...     "price": [10.0, 12.0, 9.0], "weight": [2.0, 2.0, 4.0], "cluster": [1, 1, 2]})
>>> hg.estimate.avg(sample, "price").estimate
10.0
>>> hg.estimate.count(sample).estimate
8.0
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from headgate.engine.inputs import as_arrow, is_spark
from headgate.sampling.estimators import (
    Estimated,
    EstimateError,
    EstimateRequest,
    over_table,
    with_contract,
)
from headgate.sampling.sql import query
from headgate.spec import Sample, SpecError

if TYPE_CHECKING:
    import pandas as pd

    from headgate.spark import DataFrame

    Rows: TypeAlias = pa.Table | pd.DataFrame | DataFrame

__all__ = ["EstimateError", "Estimated", "avg", "count", "sql", "sum"]


def count(
    rows: "Rows",
    column: str | None = None,
    *,
    by: str | Sequence[str] = (),
    goal: Sample | None = None,
) -> Any:
    """Estimate the number of rows in the exact result, or of non-null values in a column.

    Parameters
    ----------
    rows
        A sampled join: an Arrow table, a pandas frame, or a Spark DataFrame, streaming or not.
    column
        Count only rows with a value in this column.
    by
        Columns to group by; for a stream, one of them a time window.
    goal
        The join's goal. Needed if it renames the sample's columns, asks for a confidence other
        than 95 %, or sets a target error.

    Returns
    -------
    An `Estimated` for a table without groups; otherwise a table, or a DataFrame on Spark, with one
    row per group: estimate, standard_error, low, high, rows, clusters, and, if the goal sets a
    target error, within and error.

    Examples
    --------
    >>> rows = pa.table({"kind": ["a", "a", "b"], "weight": [1.0, 1.0, 3.0]})
    >>> count(rows, by="kind").select(["kind", "estimate"]).to_pylist()
    [{'kind': 'a', 'estimate': 2.0}, {'kind': 'b', 'estimate': 3.0}]
    """
    return _estimate("count", rows, column, by, goal)


def sum(
    rows: "Rows",
    column: str,
    *,
    by: str | Sequence[str] = (),
    goal: Sample | None = None,
) -> Any:
    """Estimate the sum of a column over the exact result; see `count`.

    Examples
    --------
    >>> rows = pa.table({"price": [1.0, 2.0], "weight": [3.0, 3.0]})
    >>> sum(rows, "price").estimate
    9.0
    """
    return _estimate("sum", rows, column, by, goal)


def avg(
    rows: "Rows",
    column: str,
    *,
    by: str | Sequence[str] = (),
    goal: Sample | None = None,
) -> Any:
    """Estimate the average of a column over the exact result; see `count`.

    Examples
    --------
    >>> rows = pa.table({"price": [1.0, 2.0], "weight": [3.0, 3.0]})
    >>> avg(rows, "price").estimate
    1.5
    """
    return _estimate("avg", rows, column, by, goal)


def sql(
    aggregate: str,
    column: str | None = None,
    *,
    source: str,
    by: str | Sequence[str] = (),
    goal: Sample | None = None,
    clustered: bool = True,
) -> str:
    """Return the SQL query that computes the estimate, for Spark SQL, DuckDB or another engine.

    Parameters
    ----------
    aggregate
        "count", "sum" or "avg".
    column, by, goal
        As for `count`.
    source
        The table or view that holds the sample.
    clustered
        Whether it has a cluster column; `Sample("uniform")` makes none.

    Examples
    --------
    >>> print(sql("sum", "price", source="joined")[:40])
    select a as estimate, sqrt(greatest(aa -
    """
    if aggregate not in ("count", "sum", "avg"):
        raise SpecError(f'aggregate {aggregate!r} is unknown: give "count", "sum" or "avg"')
    return query(
        EstimateRequest(aggregate, column, _names(by), goal or Sample()), source, clustered
    )


def _estimate(
    kind: str,
    rows: Any,
    column: str | None,
    by: str | Sequence[str],
    goal: Sample | None,
) -> Any:
    asked = EstimateRequest(kind, column, _names(by), goal or Sample())
    if is_spark(rows):
        from headgate.spark.spark_estimates import over_frame

        return over_frame(rows, asked)
    table = with_contract(
        over_table(as_arrow(rows, "sample", "an estimate", " (or a Spark DataFrame)"), asked),
        asked.goal,
    )
    if asked.by:
        return table
    if table.num_rows == 0:
        raise EstimateError("the sample is empty, and says nothing of the result")
    return Estimated(**table.to_pylist()[0])


def _names(by: str | Sequence[str]) -> tuple[str, ...]:
    return (by,) if isinstance(by, str) else tuple(by)
