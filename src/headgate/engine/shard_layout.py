"""Where each figure of a shard stands in the array in which it travels.

A shard reports all its figures in one array. As columns of their own, a hundred of them, they took
a third of the time of a small batch: Spark plans a query anew for every batch, copies every
expression in it to every task, and converts every column by itself. So Spark only gathers the
arrays of all shards; who reads them adds them up (`observed_figures`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import Any

from headgate.learning import Evidence
from headgate.metrics import Metric, metrics_of, names_of
from headgate.metrics.metric_groups import (
    BY_SHARD,
    JOIN_SUMS,
    LOOKUP_BY_SHARD,
    LOOKUP_SUMS,
    ExpectedFigures,
)

SUMS = tuple(entry.name for entry in fields(Evidence))
EVIDENCE = tuple(f"{when}_{name}" for when in ("batch", "total") for name in SUMS)
"""Evidence about recall from watched rows, in this batch and since the start."""
ALONE = tuple(f"{when}_alone_{name}" for when in ("batch", "total") for name in SUMS)
"""What of it is of rows without a partner."""
DOUBT = "doubt"
"""Zero if it is known that no pair is missing."""
UNSETTLED = 1e18
"""Doubt of a shard that was restarted with another join: its recall is not known at all."""


@dataclass(frozen=True)
class ShardLayout:
    """The figures of a kind of shard.

    Parameters
    ----------
    summed
        The metrics that are summed over shards.
    others
        Names of further figures that are summed, from which others are computed.
    own
        Names of the figures that are told of each shard by itself.

    Examples
    --------
    >>> layout = ShardLayout(metrics_of(*LOOKUP_SUMS), own=("shard", "hits"))
    >>> told = layout.array(dict.fromkeys(layout.names, 0) | {"shard": 1, "hits": 7})
    >>> layout.totals([told, told])["hits"], layout.of_each([told])
    (14, [[1.0, 7.0]])
    """

    summed: tuple[Metric, ...]
    others: tuple[str, ...] = ()
    own: tuple[str, ...] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All figures, in the order in which they travel."""
        declared = (each.name for each in self.summed)
        return tuple(dict.fromkeys((*declared, *self.others, *self.own)))

    def array(self, values: Mapping[str, Any]) -> list[float]:
        """Figures in that order."""
        return [float(values[name]) for name in self.names]

    def by_name(self, array: Sequence[float]) -> dict[str, float]:
        """The figures of one shard."""
        whole = {each.name for each in self.summed if not each.is_real}
        told = zip(self.names, array, strict=True)
        return {name: int(value) if name in whole else value for name, value in told}

    def totals(self, arrays: Iterable[Sequence[float]]) -> dict[str, float]:
        """The sum of each figure over some shards; 0 of none."""
        columns = list(zip(*arrays, strict=True)) or [()] * len(self.names)
        return self.by_name([sum(column) for column in columns])

    def of_each(self, arrays: Iterable[Sequence[float]]) -> list[list[float]]:
        """The figures that are told of each shard by itself."""
        places = [self.names.index(name) for name in self.own]
        return [[float(array[place]) for place in places] for array in arrays]


@cache
def join_layout(groups: tuple[type, ...] = JOIN_SUMS) -> ShardLayout:
    """The figures of a join's shard, where these groups of metrics are declared."""
    others = (*EVIDENCE, *ALONE, DOUBT, *names_of(ExpectedFigures))
    return ShardLayout(metrics_of(*groups), others, BY_SHARD)


@cache
def lookup_layout() -> ShardLayout:
    """The figures of a lookup's shard."""
    return ShardLayout(metrics_of(*LOOKUP_SUMS), own=LOOKUP_BY_SHARD)
