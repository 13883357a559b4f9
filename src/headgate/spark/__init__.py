"""The join on Spark: the same kernel, fed from DataFrames. Knows no policy.

The only package that imports PySpark; reached through `WindowJoin.stream` and `WindowJoin.batch`.
"""

from headgate.spark.installed_packages import check_installed

# Before anything that another version of it might not have.
check_installed()

from pyspark.sql import DataFrame  # noqa: E402

from headgate.spark.join.join_stream import batch, stream  # noqa: E402

__all__ = ["DataFrame", "batch", "stream"]
