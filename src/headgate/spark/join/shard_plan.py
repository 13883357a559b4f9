"""What every shard of a streaming join must know. Small, since it is shipped with every task."""

import json
from dataclasses import dataclass, replace

import pyarrow as pa

from headgate.engine.definitions import Definitions
from headgate.engine.limits import most_dead_bytes, room_for, terms_for
from headgate.engine.shape import Shape
from headgate.kernel.terms import Terms
from headgate.learning import Room
from headgate.pacing.pacer import Pacer
from headgate.spec import Budget, SpecError


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

    def within(self, amount: int) -> "ShardPlan":
        """The same plan with the limits of a budget of so many rows or bytes."""
        if self.allowance is None or self.allowance.amount == amount:
            return self
        allowance, shards = self.allowance.of(amount), len(self.labels)
        budget, reserve = allowance.budget, allowance.reserve
        policy, share = self.terms.policy, allowance.monitor
        limits = terms_for(budget, self.terms.windows, policy, shards, reserve, share)
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
