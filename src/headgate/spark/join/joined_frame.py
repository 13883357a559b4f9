"""The result of a streaming join: a DataFrame that has a delayed watermark where one is needed.

Operators after the join, such as an aggregation, need a watermark behind that of the inputs, and
that costs another stateful operator (`output_watermark`): as much again as the join, in small
batches. A query that writes the rows away does not need it. So the result is two plans: with the
delay, for all that is built on it, and without, for a query that is started on the rows themselves.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame

from headgate.spark.batch_writer import ROW_BY_ROW, in_batches


def joined_frame(held_back: DataFrame, at_once: DataFrame) -> DataFrame:
    """A DataFrame of the first plan, whose rows are written by the second."""
    plain: Any = type(held_back)
    kind = _joined_kind(plain)
    frame: DataFrame = object.__new__(kind)
    # Either kind of session has DataFrames that are their attributes and nothing else.
    frame.__dict__.update(held_back.__dict__)
    frame.__dict__["_at_once"] = at_once
    return frame


@cache
def _joined_kind(plain: Any) -> type[DataFrame]:
    """The class of such frames, derived from a session's own: classic or Connect."""
    methods: dict[str, Any] = {name: _on_both(plain, name) for name in ROW_BY_ROW}
    methods["writeStream"] = property(_write_stream(plain))
    methods["__doc__"] = "A plan with a delayed watermark, and the same rows without."
    return type("JoinedFrame", (plain,), methods)


def _on_both(plain: type[DataFrame], name: str) -> Callable[..., DataFrame]:
    method = getattr(plain, name)

    def on_both(self: Any, *given: Any, **named: Any) -> DataFrame:
        held_back: DataFrame = method(self, *given, **named)
        try:
            at_once = getattr(self._at_once, name)(*given, **named)
        except AnalysisException:
            # A column taken from this very frame, as in ``joined["key"]``, is of the first plan.
            return held_back
        return joined_frame(held_back, at_once)

    on_both.__name__, on_both.__doc__ = name, method.__doc__
    return on_both


def _write_stream(plain: type[DataFrame]) -> Callable[[Any], Any]:
    usual: Any = plain.writeStream

    def write_stream(self: Any) -> Any:
        """Start a query on these rows: nothing after it looks at the watermark."""
        try:
            _ = self._at_once.schema  # Connect looks at columns here, not where they are named
        except AnalysisException:
            return in_batches(usual.fget(self))
        return in_batches(self._at_once.writeStream)

    return write_stream
