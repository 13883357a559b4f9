"""What-ifs on Spark: samples keys, reads checkpoints, and tries policies on all cores."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from headgate.columns.row_sizes import row_bytes
from headgate.engine.inputs import is_spark
from headgate.engine.request import Request
from headgate.learning import Estimate
from headgate.sizing.grid import Cell, Report, Run, try_cell, try_cells
from headgate.sizing.needs import Arriving, Needs, needs_of, part_us
from headgate.sizing.repeated_buffers import material_of_buffers
from headgate.sizing.trial_material import (
    OPTIMUM_ROWS,
    OPTIMUM_WINDOWS,
    TrialMaterial,
    kind_notes,
    material_of_tables,
    needs_of_kind,
)
from headgate.spark.carried_columns import numbered
from headgate.spark.column_types import compared_keys, time_in_micros
from headgate.spark.requirements import bind_frames, check_inputs, check_session, needed_columns
from headgate.spark.session_access import ClassicAccess, is_connect
from headgate.spark.worker_check import check_workers
from headgate.spec import How, RowWindow, SpecError
from headgate.trials.draw import BUCKET_BITS, BUCKETS, Draw, draw_rows
from headgate.trials.sampled_trace import SampledTrace, WholeTrace, stores
from headgate.trials.stretches import Stretches, choose_stretches
from headgate.trials.trace import Trace

HASH, BUCKET, COIN, LOOKS, STORED, TIME = ("hash", "bucket", "coin", "looks", "stored", "time")
"""Columns beside those of the frame, which go by numbers here."""
SIGN = 1 << 63


def try_on_spark(session: Any) -> Run:
    """Run trials as Spark tasks, some at a time so that progress shows."""
    check_session(session)
    if is_connect(session):
        # Connect has no broadcast variables: the client tries its sample itself, on its own cores.
        return try_cells
    check_workers(session)
    context: Any = ClassicAccess(session).context

    def run(
        material: TrialMaterial, cells: Sequence[Cell], jobs: int, report: Report
    ) -> list[Estimate | None]:
        traces = [material.keys] + ([] if material.times is None else [material.times])
        for trace in traces:
            _ = trace.met  # computed once, before traces are shipped
        which = [0 if material.trace_for(cell.policy) is traces[0] else 1 for cell in cells]
        shipped = context.broadcast(traces)
        asked = list(zip(which, cells, strict=True))
        done: list[Estimate | None] = []
        report(0, len(asked))
        at_once = 2 * context.defaultParallelism
        for start in range(0, len(asked), at_once):
            part = asked[start : start + at_once]
            found = context.parallelize(part, len(part)).map(
                lambda one: try_cell(shipped.value[one[0]], one[1])
            )
            done += found.collect()
            report(len(done), len(asked))
        shipped.destroy()
        return done

    return run


def material_of_checkpoint(
    request: Request,
    path: str,
    operator: int,
    session: Any,
    most_rows: int,
    seed: int,
    optimum: bool,
) -> TrialMaterial:
    """Build a trace from the rows buffered by Spark's own stream-stream join, in its checkpoint."""
    if not is_spark(session):
        raise SpecError(
            f"spark={session!r}: a checkpoint is read by Spark, give the session (spark=spark)"
        )
    check_session(session)
    check_workers(session)
    buffers = [_buffer(session, path, operator, side) for side in ("left", "right")]
    frames = needed_columns(request, (buffers[0], buffers[1]))
    bind_frames(request, frames, shows_result=False)
    tables = []
    for side, frame in zip(("left", "right"), frames, strict=True):
        with _reading(path, operator, side):
            tables.append(_named(numbered(frame).toArrow(), frame))
    return material_of_buffers(request, (tables[0], tables[1]), most_rows, seed, optimum)


def _buffer(session: SparkSession, path: str, operator: int, side: str) -> DataFrame:
    reader = session.read.format("statestore").option("operatorId", operator)
    with _reading(path, operator, side):
        return reader.option("joinSide", side).load(path).select("value.*")


@contextmanager
def _reading(path: str, operator: int, side: str) -> Iterator[None]:
    try:
        yield
    except PySparkException as error:
        raise SpecError(
            f"{path} cannot be read as the checkpoint of a stream-stream join (operator "
            f"{operator}, {side} side): {str(error).splitlines()[0]}"
        ) from error


def material_of_frames(
    request: Request,
    left: Any,
    right: Any,
    most_rows: int,
    share: float | None,
    seed: int,
    optimum: bool,
) -> TrialMaterial:
    """Build traces from two bounded DataFrames; only sampled rows leave Spark."""
    session = check_inputs(left, right, streaming=False)
    check_workers(session)
    left, right = needed_columns(request, (left, right))
    shape = bind_frames(request, (left, right), shows_result=False).shape
    keys = (request.keys.left, request.keys.right)
    frames = tuple(
        _told(frame, compared_keys(frame, names, shape.key_types), time, seed)
        for frame, names, time in zip((left, right), keys, shape.times, strict=True)
    )
    facts = [
        frame.agg(F.count(F.lit(1)), F.min(TIME), F.max(TIME)).first() or (0, None, None)
        for frame in frames
    ]
    total = sum(int(fact[0]) for fact in facts)
    wanted = min(1.0, most_rows / max(total, 1)) if share is None else share
    if wanted >= 1.0:
        tables = (_named(numbered(left).toArrow(), left), _named(numbered(right).toArrow(), right))
        return material_of_tables(request, *tables, max(total, 1), None, seed, optimum)
    times = [int(us) for fact in facts for us in fact[1:] if us is not None]
    first, last = min(times, default=0), max(times, default=0)
    source = _Source(request, (frames[0], frames[1]), (left, right), seed)
    trace = source.trace(wanted, None)
    stretches = None
    if request.how == How.INNER:
        stretches = _stretches(request, first, last, wanted, seed)
    by_time = None if stretches is None else source.trace(wanted, stretches)
    small = None
    if optimum and request.where is None and request.keys.left and request.how == How.INNER:
        length = OPTIMUM_WINDOWS * max(window.span for window in request.windows)
        begin = np.array([max((first + last - length) // 2, first)])
        middle = Stretches(begin, begin, begin + length, 1.0)
        small = source.trace(OPTIMUM_ROWS, middle, evenly=True)
    needs = needs_of_kind(source.needs(trace, first, last), trace)
    return TrialMaterial(trace, by_time, small, needs, kind_notes(request, optimum))


class _Source:
    """Two DataFrames from which traces are sampled."""

    def __init__(
        self,
        request: Request,
        frames: tuple[DataFrame, DataFrame],
        given: tuple[DataFrame, DataFrame],
        seed: int,
    ) -> None:
        self._request, self._frames, self._given, self._seed = request, frames, given, seed

    def trace(self, wanted: float, stretches: Stretches | None, evenly: bool = False) -> Trace:
        """Sample a trace of a number or share of all rows, within stretches of time."""
        frames = self._frames
        if stretches is not None:
            inside = [
                (F.col(TIME) >= int(begin)) & (F.col(TIME) < int(end))
                for begin, end in zip(stretches.begin, stretches.end, strict=True)
            ]
            kept = reduce(lambda one, other: one | other, inside)
            frames = (frames[0].where(kept), frames[1].where(kept))
        counts = np.stack([_counts(frame) for frame in frames])
        share = wanted if wanted <= 1.0 else wanted / max(float(counts.sum()), 1.0)
        if stretches is not None and wanted <= 1.0:
            share = 1.0 if share > 0.5 * stretches.part else share / stretches.part
        draw = draw_rows(counts, min(share, 1.0), stores(self._request), evenly=evenly)
        drawn = []
        for side, (frame, given) in enumerate(zip(frames, self._given, strict=True)):
            table, *beside = _drawn(frame, draw, side, self._seed)
            drawn.append((_named(table, given), *beside))
        whole = tuple(int(side.sum()) for side in counts)
        sizes = [_mean_bytes(table) for table, *_ in drawn]
        rows = WholeTrace(
            (whole[0], whole[1]), (round(whole[0] * sizes[0]), round(whole[1] * sizes[1]))
        )
        sampled = SampledTrace(
            (drawn[0][0], drawn[1][0]),
            draw,
            None if draw.is_whole else (drawn[0][1], drawn[1][1]),
            None if draw.is_whole else (drawn[0][2], drawn[1][2]),
        )
        narrowed = stretches if stretches is not None and stretches.part < 1.0 else None
        return Trace.of_sample(self._request, sampled, rows, rows, narrowed)

    def needs(self, trace: Trace, first: int, last: int) -> Needs:
        """The most that the exact join stores, counted on Spark."""
        part = part_us(self._request.windows, first, last)
        sides = []
        for frame, table in zip(self._frames, trace.tables, strict=True):
            found = (
                frame.where(F.col(TIME).isNotNull())
                .groupBy(F.floor((F.col(TIME) - first) / part).alias("part"))
                .count()
                .toArrow()
            )
            counts = np.zeros((last - first) // part + 1, np.int64)
            counts[found.column("part").to_numpy()] = found.column("count").to_numpy()
            sides.append(Arriving(counts, _mean_bytes(table)))
        return needs_of((sides[0], sides[1]), self._request.windows, part)


def _told(given: DataFrame, keys: Sequence[Column], time: str, seed: int) -> DataFrame:
    """Number the frame's columns; add each row's time and key hash; drop rows with no key."""
    frame = numbered(given).withColumn(TIME, time_in_micros(given, time))
    for key in keys:
        frame = frame.where(key.isNotNull())
    # Without key columns all rows hash alike; another seed samples other keys.
    frame = frame.withColumn(HASH, F.xxhash64(F.lit(seed), *keys) if keys else F.lit(0))
    return frame.withColumn(BUCKET, _bucket(F.col(HASH).cast("long")))


def _named(table: pa.Table, given: DataFrame) -> pa.Table:
    """Collect the rows of a numbered frame under their original names."""
    return table.rename_columns(given.columns)


def _bucket(hashed: Column) -> Column:
    """The first bits of a hash, with Spark's signed hashes mapped to unsigned ones."""
    return F.shiftright(hashed, 64 - BUCKET_BITS) + F.lit(BUCKETS // 2)


def _counts(frame: DataFrame) -> np.ndarray:
    found = frame.groupBy(BUCKET).count().toArrow()
    counts = np.zeros(BUCKETS, np.int64)
    counts[found.column(BUCKET).to_numpy()] = found.column("count").to_numpy()
    return counts


def _drawn(
    frame: DataFrame, draw: Draw, side: int, seed: int
) -> tuple[pa.Table, np.ndarray, np.ndarray]:
    """The rows in a sample, with whether each is stored, and its hash."""
    if draw.looking is None:
        table = frame.drop(BUCKET, TIME, HASH).toArrow()
        return table, np.empty(0, np.bool_), np.empty(0, np.uint64)
    heavy = np.flatnonzero(draw.looking[side])
    # A client of Connect infers no schema from a table without rows.
    looks = frame.sparkSession.createDataFrame(
        pa.table({BUCKET: pa.array(heavy, pa.int64()), LOOKS: draw.looking[side][heavy]}),
        f"{BUCKET} long, {LOOKS} double",
    )
    light = F.col(LOOKS).isNull()
    below = F.col(HASH).cast("long") < F.lit(int(draw.share * 2.0**64) - SIGN)
    table = (
        frame.join(F.broadcast(looks), BUCKET, "left")
        .withColumn(COIN, F.rand(2 * seed + side))
        .where((light & below) | (F.col(COIN) < F.col(LOOKS)))
        .withColumn(STORED, light | (F.col(COIN) < draw.share))
        .drop(BUCKET, TIME, LOOKS, COIN)
        .toArrow()
    )
    stored = table.column(STORED).to_numpy(zero_copy_only=False).astype(np.bool_)
    signed = table.column(HASH).to_numpy().astype(np.int64)
    hashes = signed.view(np.uint64) ^ np.uint64(SIGN)
    return table.drop_columns([STORED, HASH]), stored, hashes


def _mean_bytes(table: pa.Table) -> float:
    return float(row_bytes(table).mean()) if table.num_rows else 0.0


def _stretches(
    request: Request, first: int, last: int, share: float, seed: int
) -> Stretches | None:
    if any(isinstance(window, RowWindow) and window.span for window in request.windows):
        return None
    window = max(window.span for window in request.windows)
    return choose_stretches(first, last, window, share, seed)
