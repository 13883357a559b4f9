"""The plan that every shard of a streaming join gets. Small, as it is shipped with every task."""

import uuid
from dataclasses import dataclass, replace
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql.types import StructType

from headgate.engine.bound_columns import BoundColumns
from headgate.engine.definitions import Definitions
from headgate.engine.limits import Filters, most_dead_bytes, room_for, terms_for
from headgate.engine.request import Request
from headgate.engine.shape import Shape
from headgate.kernel.terms import Terms
from headgate.learning import Room
from headgate.learning.result_rows import ResultRows
from headgate.pacing.pacer import Pacer
from headgate.spark.join.join_description import describe_join
from headgate.spark.join.split_keys import SplitKeys
from headgate.spec import Budget
from headgate.spec.budget import RESERVE


@dataclass(frozen=True)
class Allowance:
    """The join's current budget, from which the limits of a shard are derived.

    Parameters
    ----------
    budget
        The budget of the whole join.
    reserve
        The share of memory reserved for dead rows that are not yet reclaimed.
    monitor
        The monitor's share of the budget.
    most
        The budget of all joins that share it, which no limit can exceed; None if not known.
    """

    budget: Budget
    reserve: float
    monitor: float
    most: int | None = None

    def of(self, amount: int) -> "Allowance":
        """Return the allowance for a budget of another size, in the same unit."""
        own = self.budget
        rows, size = (amount, None) if own.rows is not None else (None, amount)
        budget = Budget(rows=rows, memory=size, split=own.split, monitor=own.monitor, cpu=own.cpu)
        return replace(self, budget=budget)

    @property
    def amount(self) -> int:
        """The size of the budget: in rows, or in bytes if rows are not limited."""
        return self.budget.rows if self.budget.rows is not None else self.budget.memory or 0


@dataclass(frozen=True)
class ShardPlan:
    """A shard's terms, the shape of its rows, and the labels of all shards.

    Parameters
    ----------
    terms
        Windows, policy (without its model) and limits of one shard.
    shape
        Columns.
    schemas
        The sides' payload schemas.
    most_dead_bytes
        Bytes of dead rows that a shard may hold before it reclaims them; None if only rows are
        limited.
    room
        The memory of the shard's monitor; None if nothing is learned.
    labels
        The labels of the shards, in order.
    description
        The join as text, to know what has changed since a checkpoint was written.
    operator
        A unique name, for local copies.
    definitions
        The definitions of importance known in advance; None if all rows count the same.
    pacer
        Keeps a shard within its part of the processor time; None if that is not limited.
    allowance
        The join's budget if it may change between batches; None if it is fixed.
    row_bytes
        Bytes allowed per output row; see `padded`.
    row_columns
        Columns of a result, if results leave the join as rows; None if they leave it in blobs.
    split
        Keys whose rows are spread over all shards; None if there are none.
    fixed
        The join's budget at the start: rows, or bytes if rows are not limited; 0 without a limit.
    kept
        The filters of given-up keys; None for an inner join.
    """

    terms: Terms
    shape: Shape
    schemas: tuple[pa.Schema, pa.Schema]
    most_dead_bytes: int | None
    room: Room | None
    labels: tuple[int, ...]
    description: str
    operator: str
    definitions: Definitions | None = None
    pacer: Pacer | None = None
    allowance: Allowance | None = None
    row_bytes: int | None = None
    row_columns: int | None = None
    split: SplitKeys | None = None
    fixed: int = 0
    kept: Filters | None = None

    @property
    def amount(self) -> int:
        """The join's budget now: rows, or bytes if rows are not limited; 0 without a limit."""
        return self.fixed if self.allowance is None else self.allowance.amount

    @property
    def follows_keys(self) -> bool:
        """Whether recall is told by keys that are followed."""
        return self.room is not None and ResultRows.of(self.terms).by_key

    def terms_of(self, label: int) -> Terms:
        """The terms of the shard with this label, with its own random seed."""
        return replace(self.terms, policy=self.terms.policy.for_shard(self.labels.index(label)))

    def within(self, amount: int) -> "ShardPlan":
        """Return the plan with the limits for a budget of this many rows or bytes."""
        if self.allowance is None or self.allowance.amount == amount:
            return self
        allowance, shards = self.allowance.of(amount), len(self.labels)
        budget, reserve = allowance.budget, allowance.reserve
        policy, share = self.terms.policy, allowance.monitor
        limits = terms_for(
            budget,
            self.terms.windows,
            policy,
            shards=shards,
            reserve=reserve,
            monitor=share,
            kept=self.kept,
            follows_keys=self.follows_keys,
        )
        terms = replace(
            self.terms,
            policy=limits.policy,
            most_rows=limits.most_rows,
            most_bytes=limits.most_bytes,
        )
        room = self.room
        if room is not None:
            room = room_for(
                budget,
                policy,
                shards,
                share,
                room.seed,
                self.terms.windows,
                follows_keys=self.follows_keys,
            )
        return replace(
            self,
            terms=terms,
            room=room,
            most_dead_bytes=most_dead_bytes(terms, reserve),
            allowance=allowance,
        )


class SharedBudget(NamedTuple):
    """A part of a budget shared by several joins, which may change while the join runs."""

    most: int | None = None
    """The budget of all of them, where that is known."""


def shard_plan(
    request: Request,
    bound: BoundColumns,
    labels: tuple[int, ...],
    *,
    live: bool,
    partitions: int = 1,
    columns: tuple[StructType | None, StructType | None] = (None, None),
    operator: str | None = None,
    sharing: SharedBudget | None = None,
    split: SplitKeys | None = None,
) -> ShardPlan:
    """Build the plan for the shards of a join.

    Parameters
    ----------
    request, bound
        The join, and its columns.
    labels
        The labels of the shards, in order.
    live
        Whether it is a stream, whose state holds dead rows until they are reclaimed.
    partitions
        The number of shuffle partitions.
    columns
        Each side's columns with Spark's types, to know what a restart changes.
    operator
        A unique name; generated by default.
    sharing
        Given if the budget is shared and may change during the run.
    split
        Keys whose rows are spread over all shards.
    """
    shards, share = len(labels), request.monitor_share(live)
    policy, reserve = request.policy.without_model(), RESERVE
    kept = request.filters(shards, live)
    terms = terms_for(
        request.budget,
        request.windows,
        policy,
        shards=shards,
        reserve=reserve,
        monitor=request.monitor_share(live=True),
        where=bound.shape.relation,
        indexes=request.indexes(request.rates, keys=0),
        kept=kept,
        follows_keys=request.follows_keys,
    )
    terms = request.weighed(terms)
    allowance = None
    if sharing is not None:
        allowance = Allowance(request.budget, reserve, share, sharing.most)
    description = describe_join(
        request, bound, shards, partitions, columns, None if split is None else split.text
    )
    return ShardPlan(
        terms=terms,
        shape=bound.shape,
        schemas=bound.schemas,
        most_dead_bytes=most_dead_bytes(terms, reserve),
        room=request.room(policy, shards, live),
        labels=labels,
        description=description,
        operator=operator or uuid.uuid4().hex[:16],
        definitions=bound.definitions,
        pacer=request.pacer(shards),
        allowance=allowance,
        split=split,
        fixed=request.budget.rows or request.budget.memory or 0,
        kept=kept,
    )
