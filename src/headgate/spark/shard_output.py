"""What a shard emits in a batch: blobs of results, and one row of figures.

All figures travel in two arrays. As columns of their own, a hundred of them, they took a third of
the time of a small batch: every column is converted from pandas to Arrow and back by itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pyspark.sql import Column
from pyspark.sql import functions as F

from headgate.metrics import Metric

SCHEMA = "blob binary, counts array<bigint>, reals array<double>"


@dataclass(frozen=True)
class ShardOutput:
    """The figures of a kind of shard: whole numbers and real ones, by name."""

    counts: tuple[str, ...]
    reals: tuple[str, ...]

    @classmethod
    def of(cls, figures: Iterable[Metric], reals: Iterable[str] = ()) -> "ShardOutput":
        """These metrics, and further real numbers."""
        figures = list(figures)
        return cls(
            tuple(each.name for each in figures if not each.is_real),
            (*(each.name for each in figures if each.is_real), *reals),
        )

    def figures(self, values: Mapping[str, Any]) -> pd.DataFrame:
        """The row of figures that a shard emits once per batch."""
        counts = [int(values[name]) for name in self.counts]
        reals = [float(values[name]) for name in self.reals]
        return pd.DataFrame({"blob": [None], "counts": [counts], "reals": [reals]})

    def columns(self) -> list[Column]:
        """The blob and all figures as columns; figures are null in rows that carry results."""
        named = {"counts": self.counts, "reals": self.reals}
        return [
            F.col("blob"),
            *(
                F.col(array)[place].alias(name)
                for array, names in named.items()
                for place, name in enumerate(names)
            ),
        ]


def result_rows(blobs: Sequence[bytes]) -> pd.DataFrame:
    """Rows that carry results and no figures."""
    nothing = [None] * len(blobs)
    return pd.DataFrame({"blob": list(blobs), "counts": nothing, "reals": nothing})
