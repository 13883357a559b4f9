"""What a batch of a simulated query puts out, in a form that can be compared."""

from typing import Any, NamedTuple

import pandas as pd

from headgate.engine.observed_figures import ABOUT, SHARDS, by_name
from headgate.engine.shard_layout import join_layout
from headgate.spark.state.blobs import from_blob

VOLATILE = ("read_ms", "join_ms", "write_ms", "cpu_ms", "rebuilt", "written_bytes")
"""Figures that tell of the machine, not of the join."""


class Failure(Exception):
    """The simulated query did what it may not do."""


class BatchOutput(NamedTuple):
    """Result rows, in an order of their own, and figures."""

    rows: list[tuple[Any, ...]]
    columns: list[str]
    figures: dict[str, Any]
    by_shard: list[dict[str, Any]]


def read_output(frames: list[pd.DataFrame]) -> BatchOutput:
    """The output of all shards together."""
    layout = join_layout()
    rows: list[tuple[Any, ...]] = []
    columns: list[str] = []
    arrays = []
    for frame in frames:
        for blob, figures in zip(frame["blob"], frame["figures"], strict=True):
            if blob is None:
                arrays.append(list(figures))
            elif len(blob):
                table = from_blob(blob)
                columns = table.column_names
                rows += zip(*(column.to_pylist() for column in table.columns), strict=True)
    named = by_name({"left_rows": 0, SHARDS: arrays, ABOUT: ""}, layout)
    figures = {name: named[name] for name in named if name not in (*VOLATILE, ABOUT)}
    figures.pop("by_shard")
    return BatchOutput(
        sorted(rows, key=repr), columns, figures, [layout.by_name(array) for array in arrays]
    )
