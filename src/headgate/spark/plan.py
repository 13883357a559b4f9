"""What every shard of a streaming join must know. Small, since it is shipped with every task."""

import json
from dataclasses import dataclass

import pyarrow as pa

from headgate.engine.batch import Terms
from headgate.engine.importance import Definitions
from headgate.engine.pacer import Pacer
from headgate.engine.shape import Shape
from headgate.monitor import Room
from headgate.spec import SpecError


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
