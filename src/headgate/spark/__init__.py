"""Joins on Spark: feeds the same kernel from DataFrames, independent of the policy.

The only package that imports PySpark; reached through `WindowJoin.stream` and `WindowJoin.batch`.
"""

from typing import TYPE_CHECKING

from headgate.lazy_names import lazy_names
from headgate.spark.installed_package import check_installed

# First, before importing anything that another version of PySpark may lack.
check_installed()

if TYPE_CHECKING:
    from pyspark.sql import DataFrame as DataFrame

    from headgate.spark.join.join_stream import batch as batch
    from headgate.spark.join.join_stream import stream as stream

_MODULES = {
    "DataFrame": "pyspark.sql",
    "batch": "headgate.spark.join.join_stream",
    "stream": "headgate.spark.join.join_stream",
}
"""Where each name is: workers need none of them."""

__all__ = [*_MODULES]

if not TYPE_CHECKING:  # a checker that saw __getattr__ would let any name pass
    __getattr__, __dir__ = lazy_names(__name__, _MODULES)
