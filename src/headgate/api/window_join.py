"""WindowJoin: the public class for window joins, in process or on Spark, batch or streaming."""

import os
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, fields
from html import escape
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from headgate.api.asked_features import asked_features, refuse_features
from headgate.api.asked_kind import check_kind
from headgate.api.asked_policy import AskedPolicy, check_budget, check_time_for_a_sample
from headgate.api.join_arguments import check_parts, checked_rates, planned_arguments
from headgate.api.join_text import written
from headgate.engine.outcome import Outcome
from headgate.engine.request import Request
from headgate.engine.run import run
from headgate.kernel.index_choice import Index, parse_index
from headgate.models import AgeCurves, Frequencies
from headgate.planner.draft import Draft
from headgate.planner.plan import Plan, make_plan
from headgate.policies import Policy
from headgate.profiles.profile import Profile
from headgate.report.long_work import LongWork
from headgate.sampling import sampler_within
from headgate.spec import (
    Budget,
    Goal,
    Keys,
    MaxImportance,
    MaxSubset,
    Predicate,
    Sample,
    Side,
)
from headgate.spec.how import parse_how, parse_unmatched
from headgate.spec.importance import Redefinition

if TYPE_CHECKING:
    import pandas as pd

    from headgate.sizing.what_if import WhatIf
    from headgate.spark import DataFrame

Columns = str | Sequence[str]


@dataclass(frozen=True, init=False)
class WindowJoin(Request):
    """A join of two streams over sliding windows, within a budget.

    Rows l and r make a pair when their keys are equal, ``where`` holds for them if it is given, and
    r comes at most the left window after l and at most the right window before it, both ends
    included.

    Parameters
    ----------
    on, left_on, right_on
        Key columns: ``on`` where both sides use the same names, otherwise the other two. May be
        left out where ``where`` is given.
    left, right
        Each side's time column and window.
    budget
        How much may be stored.
    where
        A `Band` or a `Compare` that pairs must also satisfy.
    goal
        What to maximise: result rows (`MaxSubset`, the default), their importance
        (`MaxImportance`), or the accuracy of estimates from a random sample (`Sample`).
    policy
        Which rows to keep when memory is full: a name ("random", "fifo", …), a policy or "auto".
    frequencies, ages
        Models of the streams, for policies that use one: how often each key occurs, and how
        matches depend on a row's age.
    rates
        Rows per second of each side: for samples that need them, and to choose indexes on Spark.
    suffix
        Appended to a right column whose name also occurs on the left, ignoring case; key columns
        of the same name appear once.
    seed
        Seed for every random choice: the rows that "random" keeps, and the rows watched to learn
        models and estimate recall. Same seed and input give the same output, even after restarts.
    index
        The data structure of each window: "hash", "scan" (nested loops), "btree", "ttree" or
        "bitmap", or a pair for the left and the right window; or "auto". It changes the cost, not
        the result.
    how
        The kind of join: "inner" (pairs), "left", "right" or "full" (also rows of that side, or of
        both, without a partner), "semi" (left rows that have a partner, once each) or "anti" (left
        rows that have none). A row without a partner is returned when its window has passed.
    unmatched
        Which rows without a partner to return. "certain" (the default): only rows that certainly
        have none. A row is undecided if it is evicted before it finds a partner, or if a possible
        partner was evicted before it arrived; undecided rows are counted. "all": return them too,
        when they are evicted; a column ``certain`` marks them.
    features
        Columns that may tell which rows will match, and when, such as a status: for ``policy``
        "auto" or "features". Each is looked at on every side that has it. What they tell is learned
        as the join runs, and used only while it does better.
    prior
        What "auto" begins with: the name of a policy, or a `Profile` or `WhatIf` that knows one.

    Examples
    --------
    >>> import headgate as hg
    >>> import pandas as pd
    >>> minute = pd.Timedelta("1 minute")
    >>> start = pd.Timestamp("2026-01-01")
    >>> clicks = pd.DataFrame({"user": [1, 2], "clicked": [start, start + minute]})
    >>> buys = pd.DataFrame({"user": [1, 1], "bought": [start + 2 * minute, start + 9 * minute]})
    >>> join = hg.WindowJoin(
    ...     on="user",
    ...     left=hg.Side(time="clicked", window="5 minutes"),
    ...     right=hg.Side(time="bought", window="0 seconds"),
    ...     budget=hg.Budget(rows=1000),
    ... )
    >>> print(join)
    WindowJoin(
        on="user",
        left=Side(time="clicked", window="5 minutes"),
        right=Side(time="bought", window="0 seconds"),
        budget=Budget(rows=1_000),
        policy="auto",
    )
    >>> join.run(clicks, buys)
    Outcome(1 pairs, recall 1.000, peak 2 rows)

    Clicks that led to no purchase within the window:

    >>> missed = hg.WindowJoin(
    ...     how="anti",
    ...     on="user",
    ...     left=hg.Side(time="clicked", window="5 minutes"),
    ...     right=hg.Side(time="bought", window="0 seconds"),
    ...     budget=hg.Budget(rows=1000),
    ... )
    >>> missed.run(clicks, buys).pairs.column("user").to_pylist()
    [2]

    With room for one row, and rows that do not all matter the same:

    >>> clicks = clicks.assign(basket=[80.0, 3.0])
    >>> buys = pd.DataFrame({"user": [1, 2], "bought": [start + 2 * minute, start + 3 * minute]})
    >>> join = hg.WindowJoin(
    ...     on="user",
    ...     left=hg.Side(time="clicked", window="5 minutes"),
    ...     right=hg.Side(time="bought", window="0 seconds"),
    ...     budget=hg.Budget(rows=1),
    ...     goal=hg.MaxImportance(left="basket"),
    ...     policy="greedy",
    ... )
    >>> join.run(clicks, buys)
    Outcome(1 pairs, recall 0.500, importance 80, 0.964 of all, peak 1 rows)
    """

    def __init__(
        self,
        *,
        left: Side,
        right: Side,
        budget: Budget,
        on: Columns | None = None,
        left_on: Columns | None = None,
        right_on: Columns | None = None,
        where: Predicate | None = None,
        goal: Goal | None = None,
        policy: str | Policy = "auto",
        frequencies: Frequencies | None = None,
        ages: AgeCurves | None = None,
        rates: "Iterable[float] | None" = None,
        suffix: str = "_right",
        seed: int = 0,
        index: Index | Sequence[Index] = "auto",
        how: str = "inner",
        unmatched: str = "certain",
        features: Columns = (),
        prior: "str | Profile | WhatIf | None" = None,
    ) -> None:
        check_parts(left, right, budget, goal, where, seed)
        columns, policy = asked_features(features, policy, goal)
        kind = parse_how(how)
        keys = Keys.parse(on, left_on, right_on, optional=where is not None)
        known_rates = checked_rates(rates)
        chosen = AskedPolicy(
            policy=policy,
            goal=goal,
            budget=budget,
            windows=(left.window, right.window),
            is_keyed=bool(keys.left),
            frequencies=frequencies,
            ages=ages,
            rates=known_rates,
            seed=seed,
            prior=prior,
            how=kind,
            features=columns,
        ).choose()
        goal = (Sample() if chosen.samples else MaxSubset()) if goal is None else goal
        check_kind(kind, goal, budget, chosen, columns)
        super().__init__(
            keys=keys,
            left=left,
            right=right,
            budget=budget,
            goal=goal,
            policy=chosen,
            suffix=suffix,
            where=where,
            seed=seed,
            index=parse_index(index, keyed=bool(keys.left)),
            rates=known_rates,
            how=kind,
            unmatched=parse_unmatched(unmatched, kind),
            features=columns,
        )

    def __repr__(self) -> str:
        return written(self, lines=False)

    def __str__(self) -> str:
        return written(self, lines=True)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def within(self, budget: Budget) -> "WindowJoin":
        """The same join with another budget.

        Examples
        --------
        >>> import headgate as hg
        >>> side = hg.Side(time="at", window="1 minute")
        >>> join = hg.WindowJoin(on="key", left=side, right=side, budget=hg.Budget(rows=10))
        >>> print(join.within(hg.Budget(memory="1 MB")).budget)
        1 MB
        """
        policy = self.policy
        if isinstance(self.goal, Sample):
            check_time_for_a_sample(budget)
            policy = sampler_within(self.goal, policy, budget, self.rates, self.windows)
        check_budget(budget, policy)
        check_kind(self.how, self.goal, budget, policy)
        known = {entry.name: getattr(self, entry.name) for entry in fields(Request)}
        other = copy(self)
        Request.__init__(other, **{**known, "budget": budget, "policy": policy})
        return other

    def plan(
        self,
        profile: Profile,
        *,
        shards: int | None = None,
        live: bool = False,
        progress: bool | None = None,
    ) -> "Plan[WindowJoin]":
        """Plan the join within its budget, and predict its quality.

        ``print(plan.explain())`` says which model, policy, split, indexes and sampling scheme are
        best, with the recall, error or cost to expect and what was rejected; ``plan.join`` is the
        join with those choices. See `Plan`.

        Parameters
        ----------
        profile
            The result of `headgate.profile` for the streams, or for a piece of them at least two
            windows long, so that models can be learned and tested.
        shards
            How many shards the join will have; if not given, the plan suggests a number.
        live
            Whether it will run as a stream. A budget buys the same rows either way: what a stream
            sets aside of a budget in bytes, every join does.
        progress
            Show the progress of long work in a terminal or notebook.
        """
        refuse_features(self.features, "a plan")
        with LongWork("Trying candidates on the profile's rows", progress):
            return make_plan(self, profile, shards, live, self._as_planned)

    def _as_planned(self, draft: Draft) -> "WindowJoin":
        return WindowJoin(**planned_arguments(self, draft))

    def run(
        self,
        left: "pa.Table | pd.DataFrame | str | os.PathLike[str]",
        right: "pa.Table | pd.DataFrame | str | os.PathLike[str]",
        *,
        redefined: Iterable[tuple[Any, MaxImportance]] = (),
    ) -> Outcome:
        """Join two bounded tables in process, as if their rows arrived in order of time.

        Parameters
        ----------
        left, right
            Arrow tables, pandas frames, paths of Parquet or CSV files, or anything that hands out
            Arrow data, such as Polars frames and DuckDB relations; in any row order.
        redefined
            Changes of importance during the run: event times, each with the goal from then on.
        """
        self.budget.check_settled()
        return run(self, left, right, redefined)

    def stream(
        self,
        left: "DataFrame",
        right: "DataFrame",
        *,
        shards: int | None = None,
        name: str = "headgate",
        redefined: "str | os.PathLike[str] | DataFrame | None" = None,
        watermark: bool = True,
        balance: "str | os.PathLike[str] | None" = None,
        split_keys: Sequence[Any] = (),
    ) -> "DataFrame":
        """Join two streaming DataFrames into one streaming DataFrame.

        Both need a watermark on their time column. `progress` shows the metrics of
        every batch. Operators after the join get the same
        watermark as after Spark's own join: that of the inputs minus the longer window.

        Parameters
        ----------
        left, right
            Streaming DataFrames with ``withWatermark`` on the side's time column.
        shards
            The number of independent parts that keys are hashed to, each with its part of the
            budget; one per core by default. Without keys there is one shard; a `Band` with both
            limits allows more, and rows near the border of two shards then go to both. If the rows
            copied this way are not stored, that is free, and the default is one shard per core.
        name
            The name of the metrics; each join and lookup in a query needs its own.
        redefined
            Where to read new definitions of importance while the query runs: the folder that
            `MaxImportance.publish` writes to, or a streaming DataFrame with a column
            ``definition`` (the text of `MaxImportance.to_json`) and, if it should not apply at
            once, ``at`` (the event time from which it applies). An invalid definition changes
            nothing and is counted (``misdefined``).
        watermark
            Whether operators after the join get a watermark. This takes a shuffle of the results,
            four more state stores per partition, and a query in append mode. A query started on the
            result itself, or after methods that take row by row (``select``, ``where``,
            ``withColumn``), has none of this cost. Without a watermark results can be aggregated in
            any mode but append, but stateful operators after the join never drop their state. The
            time of a side whose window is in rows never has a watermark.
        balance
            A folder, to move memory between shards while the query runs: with skewed keys some
            shards need far more than the equal part they get by default. Memory goes where it makes
            the most results. A shard that loses memory evicts rows first, so together they never
            store more than the budget. The folder is local, reached by Spark under the same path,
            for this join alone, and kept between runs like a checkpoint. A query that only
            reads what is there (``availableNow``) takes up no limits.
        split_keys
            Keys too frequent for one shard, such as `Profile.hot_keys` finds; of several columns,
            tuples. Their rows on the side with the longer window are dealt out to all shards, and
            those of the other side are copied to every shard (counted: ``copied``). The result is
            the same, and no shard has to do most of the work.

        Examples
        --------
        >>> from pyspark.sql import functions as F
        >>> def opened_by_minute(join, auctions, bids):  # two streams with watermarks
        ...     minute = F.window("opened_at", "1 minute")
        ...     return join.stream(auctions, bids).groupBy(minute).count()
        """
        self.budget.check_settled()
        from headgate.spark import stream

        return stream(
            self,
            left,
            right,
            shards,
            name,
            redefined,
            watermark=watermark,
            balance=balance,
            split_keys=split_keys,
        )

    def batch(
        self,
        left: "DataFrame",
        right: "DataFrame",
        *,
        shards: int | None = None,
        redefined: Iterable[tuple[Any, MaxImportance]] = (),
    ) -> "DataFrame":
        """Join two bounded Spark DataFrames, as if their rows arrived in order of time.

        ``redefined`` is as for `run`.
        """
        self.budget.check_settled()
        from headgate.spark import batch

        changes = [Redefinition.of(at, goal) for at, goal in redefined]
        return batch(self, left, right, shards, changes)
