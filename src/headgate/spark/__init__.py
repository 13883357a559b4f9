"""The join on Spark: the same kernel, fed from DataFrames. Knows no policy.

The only package that imports PySpark; reached through `WindowJoin.stream` and `WindowJoin.batch`.
"""

from pyspark.sql import DataFrame

from headgate.spark.operator import batch, stream

__all__ = ["DataFrame", "batch", "stream"]
