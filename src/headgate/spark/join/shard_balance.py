"""Moves the memory of one join between its shards, to where it makes the most results.

Keys are hashed to shards, so with skewed keys one shard has more to keep than the others. Equal
parts of the budget then waste memory in some shards and starve another.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from headgate.planner.balancer import SETTLES, Balancer, Member, MostResults
from headgate.planner.live_curve import PASSED
from headgate.spark.join.join_metrics import of_shard
from headgate.spark.join.limit_listener import Heard, LimitListener
from headgate.spark.join.limits_folder import members_before
from headgate.spark.join.published_changes import publish_limit
from headgate.spark.spark_versions import figures_of
from headgate.spec import Budget, SpecError

PUBLISHED = "published"
"""Folder of the limits themselves, which the query reads."""


class ShardLimits(LimitListener):
    """Moves memory between the shards of the join whose metrics have this name."""

    def __init__(self, balancer: Balancer, folder: Path, name: str) -> None:
        super().__init__(balancer, folder)
        self._name = name

    def members_in(self, observed: Mapping[str, Any]) -> Heard:
        """The shards of the join, if it is in the query."""
        if self._name not in observed:
            return
        figures = figures_of(observed[self._name])
        told = {name: of_shard(figures, int(name)) for name in self.balancer.members}
        heard = {name: own for name, own in told.items() if own is not None}
        # A shard without rows has had the batch all the same, and its time has passed.
        batch = {
            "left_rows": figures["left_rows"],
            "right_rows": figures["right_rows"],
            PASSED: max((own[PASSED] or 0.0 for own in heard.values()), default=0.0),
        }
        for name, own in heard.items():
            yield name, {**own, **batch}

    def publish(self, name: str, limit: int) -> None:
        """Publish the limit of a shard."""
        publish_limit(self.folder / PUBLISHED, limit, shard=int(name))


def amount_to_balance(budget: Budget) -> int:
    """The rows or bytes of a budget that can move between shards."""
    amounts = [amount for amount in (budget.rows, budget.memory) if amount is not None]
    if len(amounts) != 1:
        raise SpecError(
            f"balance= moves rows or memory between shards, and the budget is {budget}: give one "
            f"of rows= and memory="
        )
    return amounts[0]


def balance_shards(
    session: SparkSession, name: str, whole: int, shards: int, folder: Path
) -> ShardLimits:
    """Start to move memory between the shards of a join; see `WindowJoin.stream`.

    Parameters
    ----------
    name
        That of the join's metrics.
    whole
        The budget of the join, in rows or bytes.
    folder
        Where limits are published; one that was used before goes on with its limits.
    """
    names = {str(number): 1 for number in range(shards)}
    members = members_before(folder, names) or {
        # Until windows have filled, nothing can be told of what memory brings.
        each: Member(whole // shards, whole // shards, settles=SETTLES)
        for each in names
    }
    listener = ShardLimits(Balancer(whole, MostResults(), members), folder, name)
    listener.start(session)
    return listener
