"""What every shard of a streaming join must know. Small, since it is shipped with every task."""

import json
import uuid
from dataclasses import dataclass, replace
from typing import NamedTuple

import pyarrow as pa

from headgate.engine.bound_columns import BoundColumns
from headgate.engine.definitions import Definitions
from headgate.engine.limits import most_dead_bytes, room_for, terms_for
from headgate.engine.request import Request
from headgate.engine.shape import Shape
from headgate.kernel.terms import Terms
from headgate.learning import Room
from headgate.pacing.pacer import Pacer
from headgate.spec import Budget, MaxImportance, SpecError
from headgate.spec.budget import RESERVE


@dataclass(frozen=True)
class Allowance:
    """The join's budget as it is now, and how a shard's limits follow from it.

    Parameters
    ----------
    budget
        Of the whole join.
    reserve
        The part of memory kept back for rows given up.
    monitor
        The part of the budget that is the monitor's.
    most
        The budget of all joins that share it: no limit can be more; None where that is not known.
    """

    budget: Budget
    reserve: float
    monitor: float
    most: int | None = None

    def of(self, amount: int) -> "Allowance":
        """The same for a budget of another size, in rows or bytes as before."""
        own = self.budget
        rows, size = (amount, None) if own.rows is not None else (None, amount)
        budget = Budget(rows=rows, memory=size, split=own.split, monitor=own.monitor, cpu=own.cpu)
        return replace(self, budget=budget)

    @property
    def amount(self) -> int:
        """Of the budget: rows, or bytes where those are not limited."""
        return self.budget.rows if self.budget.rows is not None else self.budget.memory or 0


@dataclass(frozen=True)
class ShardPlan:
    """A shard's terms, the shape of its rows, and who it is.

    Parameters
    ----------
    terms
        Windows, policy (without its model) and limits of one shard.
    shape
        Columns.
    schemas
        The sides' payload schemas.
    most_dead_bytes
        Bytes of rows already given up that a shard may hold before it reclaims them; None where
        only rows are limited.
    room
        What the shard's monitor may take; None where nothing is to be learned.
    labels
        What the shards are called, in order.
    description
        The join in words, to notice when a checkpoint is taken up by another one.
    operator
        A name unlike any other's, for local copies.
    definitions
        What is important, as known beforehand; None where all rows count alike.
    pacer
        Keeps a shard within its part of the processor time; None where that is no limit.
    allowance
        The join's budget, which may be another in every batch; None where it stays what it is.
    row_bytes
        What a row that is handed on may stand for; see `padded`.
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

    def terms_of(self, label: int) -> Terms:
        """The terms of the shard of this label, whose random numbers are its own."""
        return replace(self.terms, policy=self.terms.policy.for_shard(self.labels.index(label)))

    def within(self, amount: int) -> "ShardPlan":
        """The same plan with the limits of a budget of so many rows or bytes."""
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
        )
        terms = replace(
            self.terms,
            policy=limits.policy,
            most_rows=limits.most_rows,
            most_bytes=limits.most_bytes,
        )
        room = self.room
        if room is not None:
            room = room_for(budget, policy, shards, share, room.seed)
        return replace(
            self,
            terms=terms,
            room=room,
            most_dead_bytes=most_dead_bytes(terms, reserve),
            allowance=allowance,
        )


class Sharing(NamedTuple):
    """A budget that is part of one over several joins, and may change while the join runs."""

    most: int | None = None
    """The budget of all of them, where that is known."""


def shard_plan(
    request: Request,
    bound: BoundColumns,
    labels: tuple[int, ...],
    *,
    live: bool,
    partitions: int = 1,
    columns: tuple[str, str] = ("", ""),
    operator: str | None = None,
    sharing: Sharing | None = None,
) -> ShardPlan:
    """What every shard of a join must know.

    Parameters
    ----------
    request, bound
        The join, and its columns.
    labels
        What the shards are called, in order.
    live
        Whether it is a stream, whose state holds rows given up for a while.
    partitions
        Into how many parts Spark shuffles.
    columns
        Each side's columns and types, in words, to notice when a restart has others.
    operator
        A name unlike any other's; made up when left out.
    sharing
        Where the budget may change on the way.
    """
    shards, share = len(labels), request.monitor_share(live)
    policy, reserve = request.policy.without_model(), RESERVE if live else 0.0
    terms = terms_for(
        request.budget,
        request.windows,
        policy,
        shards=shards,
        reserve=reserve,
        monitor=share,
        where=bound.shape.relation,
        indexes=request.indexes(request.rates, keys=0),
    )
    terms = request.weighed(terms)
    allowance = None
    if sharing is not None:
        allowance = Allowance(request.budget, reserve, share, sharing.most)
    return ShardPlan(
        terms=terms,
        shape=bound.shape,
        schemas=bound.schemas,
        most_dead_bytes=most_dead_bytes(terms, reserve),
        room=room_for(request.budget, policy, shards, share, request.seed) if share else None,
        labels=labels,
        description=describe(shards, partitions, _facts(request, columns)),
        operator=operator or uuid.uuid4().hex[:16],
        definitions=bound.definitions,
        pacer=request.pacer(shards),
        allowance=allowance,
    )


def _facts(request: Request, columns: tuple[str, str]) -> dict[str, str]:
    """What a restart must not change of a join."""
    facts = {
        "left keys": ", ".join(request.keys.left),
        "right keys": ", ".join(request.keys.right),
        "left time and window": f"{request.left.time}, {request.left.window}",
        "right time and window": f"{request.right.time}, {request.right.window}",
        "policy": repr(request.policy.without_model()),
        "left columns": columns[0],
        "right columns": columns[1],
    }
    if request.seed:
        facts["seed"] = str(request.seed)
    if request.where is not None:
        facts["predicate"] = repr(request.where)
    if isinstance(request.goal, MaxImportance):
        facts["importance"] = request.goal.to_json()
    return facts


def describe(shards: int, partitions: int, plan_facts: dict[str, str]) -> str:
    """The facts a restart must not change, as text."""
    facts = {
        **plan_facts,
        "shards": str(shards),
        "spark.sql.shuffle.partitions": str(partitions),
    }
    return json.dumps(facts, sort_keys=True)


def check_same_join(before: str, now: str) -> None:
    """Raise when a checkpoint's description is not that of the join taking it up.

    Examples
    --------
    >>> check_same_join('{"shards": "2"}', '{"shards": "4"}')
    Traceback (most recent call last):
    ...
    headgate.spec.errors.SpecError: this checkpoint was written by another join: shards was 2 and \
is now 4. Nothing was lost: set it back, or start from a new checkpoint location
    """
    if before == now:
        return
    old, new = json.loads(before), json.loads(now)
    changes = "; ".join(
        f"{fact} was {old.get(fact, 'not set')} and is now {new.get(fact, 'not set')}"
        for fact in sorted({*old, *new})
        if old.get(fact) != new.get(fact)
    )
    raise SpecError(
        f"this checkpoint was written by another join: {changes}. Nothing was lost: set it back, "
        f"or start from a new checkpoint location"
    )
