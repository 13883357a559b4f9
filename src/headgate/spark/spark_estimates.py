"""Estimates over a sampled join on Spark, streaming or not."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from headgate.sampling.estimators import EstimateRequest, not_within
from headgate.sampling.sql import TOTALS, figures, per_cluster
from headgate.spark.carried_columns import quoted
from headgate.spec import SpecError


def over_frame(frame: DataFrame, asked: EstimateRequest) -> DataFrame:
    """Estimate one row per group: aggregate within each cluster, then over the clusters.

    On a stream both are aggregates by time window, so a group is emitted once its window has
    passed.
    """
    asked.check_columns(frame.columns)
    if frame.isStreaming and not asked.by:
        raise SpecError(
            "an estimate over a whole stream never ends: group by a time window, for example "
            'sample.withColumn("window", F.window("bid_at", "5 minutes")) and by="window"'
        )
    clustered = asked.is_clustered(frame.columns)
    if asked.column is not None:
        frame = frame.where(F.col(quoted(asked.column)).isNotNull())
    parts = [F.expr(text).alias(name) for name, text in per_cluster(asked, clustered).items()]
    groups = [F.col(quoted(name)) for name in asked.by]
    if clustered:
        per = frame.groupBy(*groups, F.col(quoted(asked.goal.cluster))).agg(*parts)
    else:
        per = frame.select(*groups, *parts)
    totals = per.groupBy(*groups).agg(*(F.expr(text).alias(n) for n, text in TOTALS.items()))
    shown = [F.expr(text).alias(name) for name, text in figures(asked).items()]
    return _with_contract(totals.select(*groups, *shown), asked)


def _with_contract(frame: DataFrame, asked: EstimateRequest) -> DataFrame:
    goal = asked.goal
    if goal.error is None:
        return frame
    reach = F.col("high") - F.col("estimate")
    relative = F.when(reach == 0, F.lit(0.0)).otherwise(
        F.coalesce(F.try_divide(reach, F.abs("estimate")), F.lit(float("inf")))
    )
    asked_for = F.lit(goal.error)
    wider = F.greatest(relative, asked_for) if goal.otherwise == "widen" else asked_for
    frame = frame.withColumn("within", relative <= wider).withColumn("error", wider)
    if goal.otherwise != "fail":
        return frame
    before, after = not_within(goal)
    text = F.concat(F.lit(before), F.format_number(100 * relative, 1), F.lit(f"%{after}"))
    # The condition must stay part of the row, or the optimizer drops it.
    checked = F.when(F.col("within"), F.col("within")).otherwise(
        F.raise_error(text).cast("boolean")
    )
    return frame.withColumn("within", checked)
