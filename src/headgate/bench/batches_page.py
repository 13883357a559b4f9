"""The page of measured batches: one table a size, as Markdown."""

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path

from headgate.bench.batch_sizes import PEER, Batches
from headgate.bench.ratio_spread import RatioSpread

PAGE = Path("out/batches.md")
"""Where the page is written."""

_HEAD = """\
# Batches, measured

After this page you know how long a batch takes with Headgate and with Spark's own join, early and
late in a session.

Milliseconds a batch, as the median of all rounds (least to most): the first batch of a new
session; one without rows; early ones, the fourth to the fourteenth; and steady ones, those of the
second half of the run, after some twenty seconds, when Java has compiled most of what it runs.
"times" is how many rows a second go through in steady batches, to those of Spark's own join in the
same round. Three queries join nothing: they show what Spark itself takes to pass rows through
Python, to keep state there, and to do both. `hg.configure(local_checkpoints=True)` changes how
Spark writes the files of a checkpoint, which helps its own join as well: one line shows that.

Written by `headgate bench --part batches` on {day}: {rounds} (one of what joins nothing, of
a tenth of the memory, of RocksDB and of files), {cores} cores, Spark {spark}, Python {python}.
Shuffle partitions are as many as cores for all; nothing else is set but the state store that each
needs, and what `hg.configure` sets.
"""


def batches_page(found: Mapping[tuple[int, str], Sequence[Batches]]) -> str:
    """The page, given the rounds of every size and contender."""
    rounds = max(len(runs) for runs in found.values())
    parts = [
        _HEAD.format(
            day=date.today(),
            rounds="1 round" if rounds == 1 else f"{rounds} rounds",
            cores=os.cpu_count(),
            spark=version("pyspark"),
            python=platform.python_version(),
        )
    ]
    for rows in dict.fromkeys(rows for rows, _ in found):
        parts.append(f"## {rows:,} rows of both sides in a batch\n\n" + _table(found, rows))
    return "\n".join(parts)


def _table(found: Mapping[tuple[int, str], Sequence[Batches]], rows: int) -> str:
    peer = found.get((rows, PEER), [])
    lines = ["| | first | empty | early | steady | times |", "|---|--:|--:|--:|--:|--:|"]
    for (size, name), runs in found.items():
        if size != rows:
            continue
        times = [a.steady / b.steady for a, b in zip(peer, runs, strict=False)]
        empty = [run.empty for run in runs if run.empty is not None]
        cells = (
            _milliseconds([run.first for run in runs]),
            _milliseconds(empty) if empty else "",
            _milliseconds([run.early for run in runs]),
            _milliseconds([run.steady for run in runs]),
            str(RatioSpread.of(times)) if times else "",
        )
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _milliseconds(values: Sequence[float]) -> str:
    spread = RatioSpread.of(values)
    if spread.least == spread.most:
        return f"{spread.middle:,.0f}"
    return f"{spread.middle:,.0f} ({spread.least:,.0f} to {spread.most:,.0f})"
