"""Runs a whole join in process: two bounded tables in, an `Outcome` out."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from time import process_time
from typing import Any

import pyarrow as pa

from headgate.columns.plain_form import no_rows
from headgate.columns.row_source import CHUNK_BYTES
from headgate.engine.bound_columns import BoundColumns
from headgate.engine.inputs import as_arrow
from headgate.engine.key_columns import hashes_by_code, key_bytes
from headgate.engine.limits import terms_for
from headgate.engine.outcome import ExactCounts, Outcome
from headgate.engine.placed_rows import Screened
from headgate.engine.replay import Replay, observed_rates
from headgate.engine.request import Request
from headgate.engine.rows_at_end import RowsAtEnd, without_time
from headgate.engine.shape import Shape
from headgate.engine.stats import Stats
from headgate.engine.table_coding import coded, hashes_of, with_traits
from headgate.engine.table_rows import TableRows, check_times, screen, without_times
from headgate.kernel.terms import Terms
from headgate.learning import Estimate, Evidence
from headgate.learning.learner import Learner, new_monitor
from headgate.models.cost.structure import Pair
from headgate.pacing.event_pacing import EventPacing
from headgate.spec import How, MaxImportance
from headgate.spec.importance import Redefinition


def run(
    request: Request, left: Any, right: Any, redefined: Iterable[tuple[Any, MaxImportance]] = ()
) -> Outcome:
    """The in-process form of `WindowJoin`; see there."""
    began = process_time()
    spark = " (Spark DataFrames go to batch or stream)"
    tables = request.needed_columns(
        (as_arrow(left, "left", "run", spark), as_arrow(right, "right", "run", spark))
    )
    changes = [Redefinition.of(at, goal) for at, goal in redefined]
    bound = request.bind((tables[0].schema, tables[1].schema), changes)
    arriving = _screened(request, bound.shape, tables)
    held = (arriving[0].rows, arriving[1].rows)
    (left_rows, right_rows), codes = coded(bound.shape, held, bound.definitions)
    rates = request.rates or observed_rates(left_rows, right_rows)
    terms = _terms(request, bound, request.indexes(rates, codes))
    learner = _learner(request, bound.shape, key_bytes(bound.shape, tables))
    if learner is not None:
        left_rows, right_rows = with_traits(bound.shape, (left_rows, right_rows), held)
    if learner is not None and request.policy.counts_keys:
        sides = [rows.only(rows.table) for rows in held]
        coded_keys = (left_rows.code, right_rows.code)
        learner.hashes = hashes_by_code(bound.shape, sides, coded_keys, codes)
    pacing = _pacing(request, process_time() - began, len(held[0]) + len(held[1]))
    hashes = hashes_of(bound.shape, held, (left_rows.code, right_rows.code), codes)
    replay = Replay(
        terms, left_rows, right_rows, codes, learner=learner, pacing=pacing, hashes=hashes
    )
    untimed = _untimed(terms, bound.shape, arriving)
    results = list(_results(replay, bound.shape, held, untimed))
    null_times = (arriving[0].null_times, arriving[1].null_times)
    stats = _with_null_times(replay.stats, null_times, untimed)

    def exact() -> ExactCounts:
        """What the exact result has."""
        worth = None if bound.definitions is None else stats.importance
        if not (stats.lost_rows or request.policy.samples):
            return ExactCounts(stats.pairs, worth, stats.unmatched)
        whole = Replay(terms.exact(), left_rows, right_rows, codes)
        if bound.definitions is None and request.how == How.INNER:
            return ExactCounts(whole.count_pairs())
        every = _with_null_times(whole.total(), null_times, untimed)
        worth = None if bound.definitions is None else every.importance
        return ExactCounts(every.pairs, worth, every.unmatched)

    return Outcome(
        pa.concat_tables([no_rows(bound.result), *results]),
        stats,
        exact,
        _estimate(request, learner, untimed),
        dict(replay.followed),
    )


def _screened(
    request: Request, shape: Shape, tables: tuple[pa.Table, pa.Table]
) -> tuple[Screened[TableRows], Screened[TableRows]]:
    """The rows that can take part, with the policy's weights of their keys."""
    policy = request.policy
    left, right = (
        screen(
            table,
            shape.times[side],
            policy.weigh(shape.key_columns(table, side), side)
            if policy.weighs_keys and table.num_rows
            else None,
        )
        for side, table in enumerate(tables)
    )
    check_times("left", shape.times[0], left)
    check_times("right", shape.times[1], right)
    return left, right


def _terms(request: Request, bound: BoundColumns, indexes: Pair | None) -> Terms:
    """The kernel's terms for the whole join."""
    terms = terms_for(
        request.budget,
        request.windows,
        request.policy,
        monitor=request.monitor_share(live=True),
        where=bound.shape.relation,
        indexes=indexes,
        kept=request.filters(shards=1, live=False),
        follows_keys=request.follows_keys,
    )
    terms = request.weighed(terms)
    return terms if bound.definitions is None else bound.definitions.applied(terms)


def _learner(request: Request, shape: Shape, most_key_bytes: int) -> Learner | None:
    """The learner of the join; None where nothing is learned."""
    room = request.room(request.policy, shards=1, live=False)
    if room is None:
        return None
    monitor = new_monitor(request.windows, room, are_numbers=shape.are_numbers)
    return Learner(monitor, key_bytes=most_key_bytes)


def _estimate(
    request: Request, learner: Learner | None, untimed: list[RowsAtEnd]
) -> Estimate | None:
    """Recall as the monitor estimates it; None where watched rows do not tell it."""
    if learner is None or request.policy.samples or not learner.result.are_known:
        return None
    alone = float(sum(len(decided.place) for decided in untimed))
    return (learner.evidence_at_end + Evidence(met=alone, made=alone)).recall()


def _untimed(
    terms: Terms, shape: Shape, arriving: tuple[Screened[TableRows], Screened[TableRows]]
) -> list[RowsAtEnd]:
    """Rows without a time that come out as rows without a partner."""
    found = []
    for side, came in enumerate(arriving):
        if came.null_times and terms.how.outer[side]:
            found += without_time(terms, side, without_times(came.rows.table, shape.times[side]))
    return found


def _pacing(request: Request, before_s: float, rows: int) -> EventPacing | None:
    """Pacing within the CPU budget; ``before_s`` seconds were already spent on ``rows`` rows."""
    pacer = request.pacer()
    return None if pacer is None else EventPacing(pacer, before_s / max(rows, 1))


def _results(
    replay: Replay, shape: Shape, held: tuple[TableRows, TableRows], untimed: list[RowsAtEnd]
) -> Iterator[pa.Table]:
    """Result rows, piece by piece."""
    sources = [shape.source(rows.table, side) for side, rows in enumerate(held)]
    for block in replay.pairs():
        pairs = block.placed(held[0].place, held[1].place).of_shard()
        yield from shape.results(sources[0], sources[1], pairs, CHUNK_BYTES)
    for decided in untimed:
        for pairs in decided.shown(undecided=False):
            yield from shape.results(sources[0], sources[1], pairs, CHUNK_BYTES)


def _with_null_times(stats: Stats, null_times: tuple[int, int], untimed: list[RowsAtEnd]) -> Stats:
    """The stats with rows of each side that have no time."""
    for decided in untimed:
        stats = decided.counted(stats)
    return replace(
        stats,
        left_rows=stats.left_rows + null_times[0],
        right_rows=stats.right_rows + null_times[1],
        null_times=sum(null_times),
    )
