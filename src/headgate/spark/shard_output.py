"""What a shard emits in a batch: blobs of results, and one row of figures.

All figures travel in two arrays. As columns of their own, a hundred of them, they took a third of
the time of a small batch: every column is converted from pandas to Arrow and back by itself. For
the same reason they are summed in place, and never unfolded into columns: Spark plans the query
anew for every batch, and every expression in it is copied to every task.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pyspark.sql import Column
from pyspark.sql import functions as F

from headgate.metrics import Metric

BY_SHARD = "by_shard"
"""The name under which the figures of single shards are observed; the first is its number."""
MOST_SHARDS = 256
"""Shards that report by themselves: every report is kept in the driver a hundred times."""
SCHEMA = "blob binary, counts array<bigint>, reals array<double>"


@dataclass(frozen=True)
class ShardOutput:
    """The figures of a kind of shard: whole numbers and real ones, by name."""

    counts: tuple[str, ...]
    reals: tuple[str, ...]
    own: tuple[str, ...] = ()
    """Figures to report of each shard by itself: they follow the real ones, in one piece."""

    @classmethod
    def of(
        cls,
        figures: Iterable[Metric],
        reals: Iterable[str] = (),
        counts: Iterable[str] = (),
        own: Iterable[str] = (),
    ) -> "ShardOutput":
        """These metrics, further real and whole numbers, and those to report by shard."""
        figures = list(figures)
        return cls(
            (*(each.name for each in figures if not each.is_real), *counts),
            (*(each.name for each in figures if each.is_real), *reals),
            tuple(own),
        )

    def figures(self, values: Mapping[str, Any]) -> pd.DataFrame:
        """The row of figures that a shard emits once per batch."""
        counts = [int(values[name]) for name in self.counts]
        reals = [float(values[name]) for name in (*self.reals, *self.own)]
        return pd.DataFrame({"blob": [None], "counts": [counts], "reals": [reals]})

    def column(self, name: str) -> Column:
        """A figure in the rows that a shard emits; null in rows that carry results."""
        return F.expr(self._place(name))

    def total(self, *names: str) -> str:
        """The sum of figures over all shards of a batch, as SQL.

        Made of `Column` objects, all figures of a join would be thousands of calls to the JVM.
        """
        return f"sum({' + '.join(map(self._place, names))})"

    def totals(self, names: Iterable[str]) -> list[Column]:
        """The sum of each figure over all shards of a batch, under its name."""
        return [F.expr(f"coalesce({self.total(name)}, 0) AS {name}") for name in names]

    def _place(self, name: str) -> str:
        if name in self.counts:
            return f"counts[{self.counts.index(name)}]"
        return f"reals[{self.reals.index(name)}]"

    def by_shard(self, most: int = MOST_SHARDS) -> Column:
        """The figures to report of each shard, one array a shard, of up to so many shards.

        One expression whatever their number: as an expression each, figures of eight shards took
        longer to plan than all sums.
        """
        first = len(self.reals) + 1
        is_one = f"counts IS NOT NULL AND reals[{first - 1}] < {most}"
        own = f"slice(reals, {first}, {len(self.own)})"
        return F.expr(f"collect_list(CASE WHEN {is_one} THEN {own} END) AS {BY_SHARD}")


def result_rows(blobs: Sequence[bytes]) -> pd.DataFrame:
    """Rows that carry results and no figures."""
    nothing = [None] * len(blobs)
    return pd.DataFrame({"blob": list(blobs), "counts": nothing, "reals": nothing})
