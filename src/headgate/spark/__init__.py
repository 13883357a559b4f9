"""Joins on Spark: feeds the same kernel from DataFrames, independent of the policy.

The only package that imports PySpark; reached through `WindowJoin.stream` and `WindowJoin.batch`.
"""

from headgate.spark.installed_packages import check_installed

# First, before importing anything that another version of PySpark may lack.
check_installed()

from pyspark.sql import DataFrame  # noqa: E402

from headgate.spark.join.join_stream import batch, stream  # noqa: E402

__all__ = ["DataFrame", "batch", "stream"]
