"""The result of a streaming join: a DataFrame that has a delayed watermark where one is needed.

Operators after the join, such as an aggregation, need a watermark behind that of the inputs, and
that costs another stateful operator (`output_watermark`): as much again as the join, in small
batches. A query that writes the rows away does not need it. So the result is two plans: with the
delay, for all that is built on it, and without, for a query that is started on the rows themselves.
"""

from collections.abc import Callable
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter

ROW_BY_ROW = (
    *("alias", "drop", "filter", "select", "selectExpr", "toDF", "where", "withColumn"),
    *("withColumnRenamed", "withColumns", "withColumnsRenamed"),
)
"""Methods after which a row still depends on one row alone, so that no watermark is needed."""


class JoinedFrame(ClassicDataFrame):
    """A plan with a delayed watermark, and the same rows without."""

    def __init__(self, held_back: DataFrame, at_once: DataFrame) -> None:
        super().__init__(held_back._jdf, held_back.sparkSession)
        self._at_once = at_once

    @property
    def writeStream(self) -> DataStreamWriter:
        """Start a query on these rows: nothing after it looks at the watermark."""
        return self._at_once.writeStream


def _on_both(name: str) -> Callable[..., DataFrame]:
    method = getattr(ClassicDataFrame, name)

    def on_both(self: JoinedFrame, *given: Any, **named: Any) -> DataFrame:
        held_back: DataFrame = method(self, *given, **named)
        try:
            at_once = getattr(self._at_once, name)(*given, **named)
        except AnalysisException:
            # A column taken from this very frame, as in ``joined["key"]``, is of the first plan.
            return held_back
        return JoinedFrame(held_back, at_once)

    on_both.__name__, on_both.__doc__ = name, method.__doc__
    return on_both


for _name in ROW_BY_ROW:
    setattr(JoinedFrame, _name, _on_both(_name))
