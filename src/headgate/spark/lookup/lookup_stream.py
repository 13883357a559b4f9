"""A lookup on Spark: pack, shuffle by shard, look up, observe, unpack."""

import json
import uuid
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkTypeError
from pyspark.sql import DataFrame
from pyspark.sql.types import StructField, StructType

from headgate.engine.limits import most_dead_bytes
from headgate.engine.shape import Shape
from headgate.lookup.lookup_request import LookupRequest
from headgate.policies.policy import Policy
from headgate.spark.arrow_batches import bytes_a_row
from headgate.spark.batch_writer import batched_frame
from headgate.spark.carried_columns import (
    ResultColumn,
    arrow_schema,
    check_carried,
    column_of,
    numbered,
    restored,
    travelling,
)
from headgate.spark.column_types import check_char_types, compared_types
from headgate.spark.join.join_description import describe_others
from headgate.spark.join.join_metrics import observe
from headgate.spark.join.join_stream import shard_column
from headgate.spark.lookup import lookup_metrics
from headgate.spark.lookup.lookup_processor import LookupPlan, LookupProcessor
from headgate.spark.lookup.spark_table import SparkTable
from headgate.spark.packing import PACKED, SHARD_COLUMN, Packing, Unpacking
from headgate.spark.requirements import (
    WATERMARK,
    check_session,
    check_state_store,
    shuffle_partitions,
)
from headgate.spark.session_access import access_to
from headgate.spark.shard_output import SCHEMA
from headgate.spark.shards import shard_labels
from headgate.spark.spark_versions import from_arrow_type, to_arrow_schema
from headgate.spark.state.ended_queries import forget_when_queries_end
from headgate.spark.warm_kernel import warm_kernel
from headgate.spark.worker_check import check_stream_workers
from headgate.spark.worker_environment import own_workers, start_workers
from headgate.spec import SpecError
from headgate.spec.budget import RESERVE

WIDER = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64()}
"""Spark has no unsigned numbers."""


def stream(request: LookupRequest, frame: Any, shards: int | None, name: str) -> DataFrame:
    """The streaming form of `CachedLookup`; see there."""
    _check_input(request, frame)
    session = frame.sparkSession
    check_state_store(session)
    check_stream_workers(session)
    start_workers(session)
    columns = _spark_columns(request)
    schema = to_arrow_schema(columns)
    stream_schema = arrow_schema(frame)
    shape = request.shape(stream_schema)
    _check_keys(request, frame)
    count = _shards(request, access_to(session).cores, shards)
    partitions = shuffle_partitions(session, count, stores=1)
    labels = shard_labels(count, partitions)
    terms = request.terms(count, RESERVE)
    facts = _facts(request, frame, columns, terms.policy)
    plan = LookupPlan(
        terms=terms,
        shape=shape,
        schemas=(schema, stream_schema),
        most_dead_bytes=most_dead_bytes(terms, RESERVE),
        room=None,
        labels=labels,
        description=describe_others(count, partitions, facts),
        operator=uuid.uuid4().hex[:16],
        table=request.table.for_workers(request.keys.left),
        how=request.how,
        row_bytes=bytes_a_row(session),
    )
    forget_when_queries_end(session)
    warm_kernel(terms)
    # Key weights, if used, are for the rows to be stored: those of the table.
    keys, names = request.keys.right, tuple(frame.columns)
    shard = shard_column([column_of(frame, name) for name in keys], labels)
    pack = Packing(0, labels, names, keys, request.policy, row_bytes=plan.row_bytes)
    with own_workers(session):
        packed = numbered(frame).select(shard.alias(SHARD_COLUMN), "*").mapInArrow(pack, PACKED)
        looked_up = packed.groupBy("shard").transformWithStateInPandas(
            statefulProcessor=LookupProcessor(plan),
            outputStructType=SCHEMA,
            outputMode="append",
            # Only for the timers; the stream need not have a watermark.
            timeMode="EventTime",
        )
        shown = _shown(shape, frame, columns)
        results = (
            observe(looked_up, name, lookup_metrics.observed(_about(request, count)))
            .select("blob")
            .mapInArrow(Unpacking(), travelling(shown))
        )
        return batched_frame(restored(results, shown))


def _about(request: LookupRequest, shards: int) -> str:
    """What the lookup is, as JSON, for those who watch it; tables have no secret in their name."""
    return json.dumps(
        {
            "kind": "lookup",
            "call": f"on {', '.join(request.keys.right)}, {request.table.name}",
            "policy": request.policy.asked_name,
            "how": request.how,
            "rows": request.budget.rows,
            "memory": request.budget.memory,
            "shards": shards,
        }
    )


def _shards(request: LookupRequest, cores: int, asked: int | None) -> int:
    """The number requested; by default one per core, or one if a policy needs the whole stream."""
    follows = request.policy.kind.follows_values
    count = asked
    if asked is None:
        count = 1 if follows else cores
    if follows and count != 1:
        raise SpecError(
            f"shards={asked!r}: policy {request.policy.label} follows the values of the whole "
            f"stream, which no shard sees: leave shards out, or choose another policy"
        )
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise SpecError(f"shards={asked!r}: give a whole number of shards, one or more")
    return count


def _facts(
    request: LookupRequest, frame: DataFrame, columns: StructType, policy: Policy
) -> dict[str, str]:
    """The facts that must not change when a checkpoint is resumed."""
    return {
        "stream keys": ", ".join(request.keys.right),
        "table keys": ", ".join(request.keys.left),
        "table": request.table.name,
        "how": request.how,
        "policy": repr(policy),
        "stream columns": frame.schema.simpleString(),
        "table columns": columns.simpleString(),
    }


def _check_input(request: LookupRequest, frame: Any) -> None:
    if not isinstance(frame, DataFrame):
        raise SpecError(
            f"the stream is a {type(frame).__name__}: stream takes a streaming Spark DataFrame "
            f"(Arrow tables and pandas frames go to run)"
        )
    check_session(frame.sparkSession)
    if not frame.isStreaming:
        raise SpecError(
            "the stream is a bounded DataFrame: look it up with run(frame.toArrow()), or join it "
            "to the table in Spark"
        )
    if request.policy.is_offline:
        raise SpecError(
            f"policy {request.policy.label} must know the whole stream beforehand, and a "
            f'running one has no end: use it with run, or choose "lru" or "lfu"'
        )
    check_carried("the stream", frame)


def _check_keys(request: LookupRequest, frame: DataFrame) -> None:
    """Check that the stream's keys are compared by value, and as Spark's own join would."""
    compared_types(frame, "stream", request.keys.right)
    if isinstance(request.table, SparkTable):
        for theirs, mine in zip(request.keys.left, request.keys.right, strict=True):
            check_char_types(frame.schema[mine], request.table.frame.schema[theirs])


def _spark_columns(request: LookupRequest) -> StructType:
    """The table's columns with Spark's types."""
    columns = []
    for field in request.schema:
        kind = WIDER.get(field.type, field.type)
        try:
            spark_type = from_arrow_type(kind)
        except PySparkTypeError:
            raise SpecError(
                f'column "{field.name}" of {request.table.name} is {field.type}, which Spark does '
                f"not have: leave it out with columns=, or cast it in a view"
            ) from None
        columns.append(StructField(field.name, spark_type))
    return StructType(columns)


def _shown(shape: Shape, frame: DataFrame, columns: StructType) -> list[ResultColumn]:
    """The result's columns; event times stay marked, so that results can be grouped by them."""
    shown = []
    for name, side, column in shape.output:
        field = (columns, frame.schema)[side][column]
        mark = {WATERMARK: field.metadata[WATERMARK]} if WATERMARK in field.metadata else None
        shown.append(ResultColumn(name, field.dataType, field.nullable, mark))
    return shown
