"""Streaming results are written in batches: the triggers that have none are refused at the call.

Spark refuses them as well, once the query starts, by whatever it looks at first: the sink, the
source or the watermark.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from pyspark.sql import DataFrame

from headgate.spec import SpecError

WITHOUT_BATCHES = ("realTime", "continuous")
"""Arguments of ``trigger`` that keep a batch open, or have none."""
ROW_BY_ROW = (
    *("alias", "drop", "filter", "select", "selectExpr", "toDF", "where", "withColumn"),
    *("withColumnRenamed", "withColumns", "withColumnsRenamed"),
)
"""Methods after which a row still depends on one row of the result alone."""


def in_batches(writer: Any) -> Any:
    """The same ``DataStreamWriter``, which takes no trigger without batches."""
    plain: Any = type(writer)
    writer.__class__ = _batch_writer(plain)
    return writer


@cache
def _batch_writer(plain: Any) -> type:
    def trigger(self: Any, *given: Any, **named: Any) -> Any:
        for name in WITHOUT_BATCHES:
            if named.get(name) is not None:
                raise SpecError(
                    f"trigger({name}={named[name]!r}) has no batches that end, and Headgate puts "
                    f"the rows of a batch in event order before it joins them: use "
                    f'processingTime="1 second", availableNow=True, or no trigger, which starts '
                    f"the next batch when the last one ends"
                )
        return plain.trigger(self, *given, **named)

    trigger.__doc__ = plain.trigger.__doc__
    return type("BatchWriter", (plain,), {"trigger": trigger})


def batched_frame(frame: DataFrame) -> DataFrame:
    """The same rows, and a ``writeStream`` that takes no trigger without batches."""
    plain: Any = type(frame)
    batched: DataFrame = object.__new__(_batched_kind(plain))
    # Either kind of session has DataFrames that are their attributes and nothing else.
    batched.__dict__.update(frame.__dict__)
    return batched


@cache
def _batched_kind(plain: Any) -> type[DataFrame]:
    methods: dict[str, Any] = {name: _still_batched(plain, name) for name in ROW_BY_ROW}
    methods["writeStream"] = property(lambda self: in_batches(plain.writeStream.fget(self)))
    methods["__doc__"] = "Rows that are written in batches."
    return type("BatchedFrame", (plain,), methods)


def _still_batched(plain: Any, name: str) -> Callable[..., DataFrame]:
    method = getattr(plain, name)

    def still_batched(self: Any, *given: Any, **named: Any) -> DataFrame:
        return batched_frame(method(self, *given, **named))

    still_batched.__name__, still_batched.__doc__ = name, method.__doc__
    return still_batched
