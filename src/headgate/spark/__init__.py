"""The join on Spark: the same kernel, fed from DataFrames. Knows no policy.

The only package that imports PySpark; reached through `WindowJoin.stream` and `WindowJoin.batch`.
"""

from headgate.spark.operator import DataFrame, batch, stream

__all__ = ["DataFrame", "batch", "stream"]
