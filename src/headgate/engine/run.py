"""A whole join in process: two bounded tables in, an outcome out."""

from collections.abc import Iterable
from time import process_time
from typing import Any

import pyarrow as pa

from headgate.columns.pieces import CHUNK_BYTES, RowSource
from headgate.columns.plain_form import no_rows
from headgate.engine.definitions import Definitions, nothing_to_redefine
from headgate.engine.inputs import as_arrow
from headgate.engine.limits import room_for, terms_for
from headgate.engine.outcome import Outcome
from headgate.engine.replay import Replay, observed_rates
from headgate.engine.request import Request
from headgate.engine.shape import Shape
from headgate.engine.stats import Stats
from headgate.engine.table_rows import check_times, coded, key_bytes, screen
from headgate.learning.learner import new_monitor
from headgate.spec import MaxImportance
from headgate.spec.importance import Change

TAKES = "run takes Arrow tables or pandas frames (Spark DataFrames go to batch or stream)"


def run(
    request: Request, left: Any, right: Any, redefined: Iterable[tuple[Any, MaxImportance]] = ()
) -> Outcome:
    """The in-process form of `WindowJoin`; see there."""
    began = process_time()
    tables = (as_arrow(left, "left", TAKES), as_arrow(right, "right", TAKES))
    shape = _shape(request, tables)
    definitions = _definitions(request, tables, redefined)
    arriving = [
        screen(
            table,
            shape.times[side],
            request.policy.weigh(shape.key_columns(table, side), side)
            if request.policy.weighs_keys and table.num_rows
            else None,
        )
        for side, table in enumerate(tables)
    ]
    held = [screened.rows for screened in arriving]
    for which, time, screened in zip(("left", "right"), shape.times, arriving, strict=True):
        check_times(which, time, screened)
    batches, count = coded(shape, held, definitions)
    share = request.monitor_share(live=False)
    terms = terms_for(
        request.budget,
        request.windows,
        request.policy,
        monitor=share,
        where=shape.relation,
        indexes=request.indexes(request.rates or observed_rates(batches[0], batches[1]), count),
    )
    terms = request.weighed(terms)
    if definitions is not None:
        terms = definitions.applied(terms)
    room = room_for(request.budget, request.policy, 1, share, request.seed)
    monitor = new_monitor(request.windows, room) if share else None
    replay = Replay(
        terms,
        batches[0],
        batches[1],
        count,
        monitor,
        key_bytes(shape, tables),
        request.pacer(),
        process_time() - began,
    )
    rows = [RowSource(side.table) for side in held]
    results = [
        piece
        for block in replay.pairs()
        for piece in shape.results(
            rows[0], rows[1], block.made_of(held[0].place, held[1].place), CHUNK_BYTES
        )
    ]
    schema = shape.schema(tables[0].schema, tables[1].schema)
    stats = replay.stats.then(
        Stats(
            left_rows=arriving[0].null_times,
            right_rows=arriving[1].null_times,
            null_times=arriving[0].null_times + arriving[1].null_times,
            stored_rows=replay.stats.stored_rows,
            stored_bytes=replay.stats.stored_bytes,
        )
    )

    def exact() -> tuple[int, float | None]:
        """Of the exact result: how many rows, and what they are worth."""
        if not (stats.lost_rows or request.policy.samples):
            return stats.pairs, None if definitions is None else stats.importance
        whole = Replay(terms.exact(), batches[0], batches[1], count)
        if definitions is None:
            return whole.count_pairs(), None
        importance = whole.total_importance()
        return whole.stats.pairs, importance

    return Outcome(
        pa.concat_tables([no_rows(schema), *results]),
        stats,
        exact,
        None if replay.evidence is None or request.policy.samples else replay.evidence.recall(),
        dict(replay.followed),
    )


def _shape(request: Request, tables: tuple[pa.Table, pa.Table]) -> Shape:
    columns = (tables[0].column_names, tables[1].column_names)
    shape = Shape.of(request.keys, request.sides, columns, request.suffix, request.where)
    shape = shape.sampled(request.drawn).weighed(request.importance_column)
    return shape.checked(request.where, tables)


def _definitions(
    request: Request,
    tables: tuple[pa.Table, pa.Table],
    redefined: Iterable[tuple[Any, MaxImportance]],
) -> Definitions | None:
    """What is important, and from when on; None where all rows count alike."""
    changes = list(redefined)
    if not isinstance(request.goal, MaxImportance):
        if changes:
            raise nothing_to_redefine(request.goal)
        return None
    definitions = Definitions.of(request.goal, [Change.of(at, goal) for at, goal in changes])
    definitions.check((tables[0].schema, tables[1].schema))
    return definitions
