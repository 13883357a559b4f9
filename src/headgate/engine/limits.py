"""From a budget to the limits of the kernel's pools, for the whole join or one shard of it."""

from headgate.columns.sizes import BOOKKEEPING_BYTES
from headgate.engine.relation import Relation
from headgate.engine.step import Terms
from headgate.policies.base import Policy
from headgate.spec import Budget, SpecError, Window
from headgate.spec.budget import UNLIMITED


def terms_for(
    budget: Budget,
    windows: tuple[Window, Window],
    policy: Policy,
    shards: int = 1,
    reserve: float = 0.0,
    where: Relation | None = None,
) -> Terms:
    """The kernel's terms for one of ``shards`` equal parts of a join.

    Parameters
    ----------
    reserve
        The fraction of a memory budget kept back for bytes that are held but not live.
    where
        The relation of a band or comparison.
    """
    rows = UNLIMITED if budget.rows is None else budget.rows // shards
    memory = UNLIMITED if budget.memory is None else int(budget.memory * (1 - reserve)) // shards
    if rows < 1 or memory <= BOOKKEEPING_BYTES:
        raise SpecError(
            f"a budget of {budget} is too small for one row in each of {shards} shards: "
            f"give more, or fewer shards"
        )
    if budget.shares is None:
        return Terms(windows, policy, (rows, 0), (memory, 0), pooled=True, where=where)
    shares = budget.shares
    most_rows = [UNLIMITED if rows == UNLIMITED else int(rows * share) for share in shares]
    most_bytes = [UNLIMITED if memory == UNLIMITED else int(memory * share) for share in shares]
    return Terms(
        windows,
        policy,
        (most_rows[0], most_rows[1]),
        (most_bytes[0], most_bytes[1]),
        pooled=False,
        where=where,
    )
