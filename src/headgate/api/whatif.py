"""`whatif`: recall against memory for every policy, in process or on Spark."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from headgate.api.window_join import WindowJoin
from headgate.engine.inputs import is_spark
from headgate.engine.request import Request
from headgate.policies import Policy
from headgate.report.long_work import Asked, LongWork
from headgate.sizing.answer import answer
from headgate.sizing.grid import Run, try_cells
from headgate.sizing.origin import Origin
from headgate.sizing.trial_material import TrialMaterial, material_of_tables
from headgate.sizing.what_if import WhatIf
from headgate.spec import Budget, Goal, Predicate, Side, SpecError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from headgate.spark import DataFrame

Columns = str | Sequence[str]
MOST_ROWS = 2_000_000
"""Up to this many rows all are used; of more, about this many, by a sample of the keys."""


def whatif(
    left_rows: "pa.Table | pd.DataFrame | DataFrame | str | os.PathLike[str] | None" = None,
    right_rows: "pa.Table | pd.DataFrame | DataFrame | str | os.PathLike[str] | None" = None,
    /,
    *,
    join: Request | None = None,
    left: Side | None = None,
    right: Side | None = None,
    on: Columns | None = None,
    left_on: Columns | None = None,
    right_on: Columns | None = None,
    where: Predicate | None = None,
    goal: Goal | None = None,
    how: str = "inner",
    policies: "Iterable[str | Policy] | str | Policy | None" = None,
    memory: "Sequence[int | float | str] | int | str | None" = None,
    checkpoint: "str | os.PathLike[str] | None" = None,
    operator: int = 0,
    spark: Any = None,
    most_rows: int = MOST_ROWS,
    share: float | None = None,
    optimum: bool = True,
    jobs: int | None = None,
    seed: int = 0,
    progress: Asked = None,
) -> WhatIf:
    """Find out how much memory a join needs: recall against memory for every policy.

    Up to ``most_rows`` rows, the join itself runs for every policy and memory size, and the answer
    is exact. Larger inputs are simulated in miniature: the rows of a sample of the keys, with
    memory scaled down by the same factor; recall then comes with a 95 % interval.

    Parameters
    ----------
    left_rows, right_rows
        Arrow tables, pandas frames, Parquet or CSV files (or folders of them), what hands out Arrow
        data (Polars, DuckDB), or two bounded Spark DataFrames, of which only the sample leaves
        Spark.
    join
        The join to examine; its budget and policy are ignored. Or give its parts:
    left, right, on, left_on, right_on, where, goal, how
        As for `WindowJoin`. Recall is that of the kind's own result: of an anti join, of rows that
        certainly have no partner.
    policies
        Names or policies; by default all that can run the join.
    memory
        Memory sizes to try: rows (whole numbers), sizes ("64 MB") or percentages of what the exact
        join stores ("10 %").
    checkpoint
        Instead of rows: the checkpoint of a query with Spark's own stream-stream join. Its buffers
        hold the rows of one window; the streams are assumed to continue like them.
    operator
        The number of the join among the stateful operators of that query.
    spark
        A session: to read the checkpoint, and to try policies on all its cores.
    most_rows, share
        How many rows to use, or what share of them.
    optimum
        Whether to compute the optimum, which a policy that knew the future would reach.
    jobs
        The most processes to use; one per core by default.
    seed
        Random seed for drawing keys.
    progress
        Where it takes long, a terminal or notebook shows how far it is. False turns that off, True
        shows it anywhere; a function is called with the number of trials done and the number in
        all.

    Examples
    --------
    >>> import headgate as hg
    >>> from headgate.demo.auctions import auction_stream
    >>> stream = auction_stream(rows=64_000, seed=1)
    >>> found = hg.whatif(
    ...     stream.auctions,
    ...     stream.bids,
    ...     left_on="id",
    ...     right_on="auction",
    ...     left=hg.Side(time="opened_at", window="10 minutes"),
    ...     right=hg.Side(time="bid_at", window="0 seconds"),
    ...     policies=["age", "fifo"],
    ...     optimum=False,
    ... )
    >>> found.policies, found.memory_for(0.5, "age").rows < found.memory_for(0.5, "fifo").rows
    (('AGE', 'FIFO'), True)
    >>> found.join(0.5, "age").budget == found.memory_for(0.5, "AGE").budget
    True
    """
    request = join or _join(
        left, right, on, left_on=left_on, right_on=right_on, where=where, goal=goal, how=how
    )
    if checkpoint is not None:
        request.check_inner("a what-if of a checkpoint")
    extent = _Extent(most_rows, share, seed, optimum)
    if checkpoint is not None and (left_rows is not None or right_rows is not None):
        raise SpecError("give either rows or a checkpoint, not both")
    if checkpoint is None and (left_rows is None or right_rows is None):
        raise SpecError("whatif needs the rows of both sides, or checkpoint=: give one of them")
    with LongWork("Looking at the rows", progress) as work:
        if checkpoint is not None:
            origin = Origin.now(checkpoint)
            material, run = _of_checkpoint(request, os.fspath(checkpoint), operator, spark, extent)
        else:
            origin = Origin.now(left_rows, right_rows)
            rows = (_read(left_rows, "left"), _read(right_rows, "right"))
            material, run = _of_rows(request, rows, spark, extent)
        work.say("Trying policies")
        build = partial(_with_policy, request)
        found = answer(material, policies, memory, jobs or _cores(), work.report, run, build=build)
    return replace(found, origin=origin)


def _with_policy(asked: Request, policy: Policy, budget: Budget) -> WindowJoin:
    """The join that was asked about, with a policy and a budget."""
    return WindowJoin(
        left=asked.left,
        right=asked.right,
        left_on=asked.keys.left or None,
        right_on=asked.keys.right or None,
        where=asked.where,
        goal=asked.goal,
        budget=budget,
        policy=policy,
        suffix=asked.suffix,
        seed=asked.seed,
        how=asked.how,
        unmatched=asked.unmatched,
    )


class _Extent(NamedTuple):
    """How much of the input to use."""

    most_rows: int
    share: float | None
    seed: int
    optimum: bool


def _of_checkpoint(
    request: Request, checkpoint: str, operator: int, spark: Any, extent: _Extent
) -> tuple[TrialMaterial, Run]:
    """Build the trial input from a running join's state, and choose where to run the trials."""
    from headgate.spark.spark_whatif import material_of_checkpoint, try_on_spark

    material = material_of_checkpoint(
        request,
        checkpoint,
        operator,
        session=spark,
        most_rows=extent.most_rows,
        seed=extent.seed,
        optimum=extent.optimum,
    )
    return material, try_on_spark(spark)


def _of_rows(
    request: Request, rows: tuple[Any, Any], spark: Any, extent: _Extent
) -> tuple[TrialMaterial, Run]:
    """Build the trial input from tables or frames, and choose where to run the trials."""
    if any(is_spark(given) for given in rows):
        from headgate.spark.spark_whatif import material_of_frames, try_on_spark

        material = material_of_frames(request, *rows, **extent._asdict())
        return material, try_on_spark(spark or rows[0].sparkSession)
    material = material_of_tables(request, *rows, **extent._asdict())
    if spark is not None:
        from headgate.spark.spark_whatif import try_on_spark

        return material, try_on_spark(spark)
    return material, try_cells


def _join(
    left: Side | None,
    right: Side | None,
    on: Columns | None,
    left_on: Columns | None,
    right_on: Columns | None,
    where: Predicate | None,
    goal: Goal | None,
    how: str,
) -> Request:
    if left is None or right is None:
        raise SpecError("whatif needs a join: give join=, or left=, right= and on=")
    return WindowJoin(
        left=left,
        right=right,
        on=on,
        left_on=left_on,
        right_on=right_on,
        where=where,
        goal=goal,
        how=how,
        budget=Budget(rows=1),
        policy="fifo",
    )


def _read(given: Any, which: str) -> Any:
    if isinstance(given, str | os.PathLike):
        from headgate.engine.table_files import read_table

        return read_table(Path(given), which)
    return given


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
