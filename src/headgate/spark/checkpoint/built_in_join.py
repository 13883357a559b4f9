"""Spark's own stream-stream join that makes what a Headgate join makes."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headgate.engine.request import Request
from headgate.spark.carried_columns import quoted
from headgate.spark.requirements import bind_frames
from headgate.spec import How, SpecError, TimeWindow

LEFT, RIGHT = "headgate_left", "headgate_right"
SPARKS = {
    How.INNER: "inner",
    How.LEFT: "leftouter",
    How.RIGHT: "rightouter",
    How.FULL: "fullouter",
    How.SEMI: "leftsemi",
}


def built_in_join(join: Request, left: DataFrame, right: DataFrame) -> DataFrame:
    """Spark's own join of two streams, with the columns of Headgate's; see `headgate.built_in`."""
    if join.how not in SPARKS:
        raise SpecError(f'Spark has no stream-stream join with how="{join.how}"')
    if join.where is not None or not join.keys.left:
        raise SpecError(
            "a join with where= is written in Spark by hand: give release(query=...) a function "
            "of both streams"
        )
    shape = bind_frames(join, (left, right)).shape
    spans = []
    for window in join.windows:
        if not isinstance(window, TimeWindow):
            raise SpecError("Spark's own join has no windows of the last n rows")
        spans.append(_interval(window.us))
    times = (_of(LEFT, shape.times[0]), _of(RIGHT, shape.times[1]))
    condition = (times[1] >= times[0] - spans[1]) & (times[1] <= times[0] + spans[0])
    for ours, others in zip(join.keys.left, join.keys.right, strict=True):
        condition &= _of(LEFT, ours) == _of(RIGHT, others)
    both = left.alias(LEFT).join(right.alias(RIGHT), condition, SPARKS[join.how])
    shown = []
    for name, side, column in shape.output:
        value = _of((LEFT, RIGHT)[side], column)
        if join.how == How.FULL and side == 0 and column in shape.keys.shared:
            value = F.coalesce(value, _of(RIGHT, column))
        shown.append(value.alias(name))
    return both.select(*shown)


def _of(side: str, column: str) -> Column:
    return F.col(f"{side}.{quoted(column)}")


def _interval(micros: int) -> Column:
    return F.expr(f"INTERVAL '{micros // 1_000_000}.{micros % 1_000_000:06d}' SECOND")
