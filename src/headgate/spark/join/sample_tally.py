"""Counts what a sampled batch stands for, and how far off that may be."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa


class SampleTally:
    """Sums weights of result rows on their way out, with the variance of the sum.

    A row sampled with chance p has the weight 1 / p. All rows of a cluster come or stay away
    together, so n of them add w (w - 1) n² to the variance (Horvitz and Thompson, with independent
    clusters). A cluster whose rows come in several batches is one observation in each.

    Examples
    --------
    >>> tally = SampleTally(("weight", "cluster"))
    >>> rows = pa.table({"weight": [2.0, 2.0, 4.0], "cluster": [7, 7, 8]})
    >>> for table in tally.counted([rows]):
    ...     pass
    >>> tally.figures
    {'weights': 8.0, 'weights_variance': 20.0}
    """

    def __init__(self, drawn: tuple[str, ...]) -> None:
        self._drawn = drawn
        self._weights = self._variance = 0.0

    def counted(self, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """The same tables, counted."""
        for table in tables:
            if self._drawn:
                self._count(table)
            yield table

    def _count(self, table: pa.Table) -> None:
        weight = table.column(self._drawn[0]).to_numpy()
        rows = np.ones(len(weight), np.int64)
        self._weights += float(weight.sum())
        if len(self._drawn) > 1:
            cluster = table.column(self._drawn[1]).to_numpy()
            _, first, rows = np.unique(cluster, return_index=True, return_counts=True)
            weight = weight[first]
        self._variance += float((weight * (weight - 1) * rows**2).sum())

    @property
    def figures(self) -> dict[str, float]:
        """As metrics."""
        return {"weights": self._weights, "weights_variance": self._variance}
