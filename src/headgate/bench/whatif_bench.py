"""Benchmark of what-ifs by miniature against exact ones: their error and their speedup."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from headgate.api.whatif import whatif
from headgate.demo.auctions import auction_stream
from headgate.sizing.what_if import WhatIf
from headgate.spec import Side

ROWS = 20_000_000
SHARE = 0.01
POLICIES = ("random", "fifo", "prob", "age", "lru")
MEMORY = ("10 %", "40 %", "80 %")
SECONDS, WINDOW_ROWS, KEYS = 10_000, 200_000, 1_000_000
FEW_ROWS, FEW_KEYS = 1_000, 100_000
"""Rows of a side in a window where keys are so skewed that more would make too many pairs; and
keys, all of which are gone through at every step of so small a window."""
START_US = 1_767_225_600_000_000


@dataclass(frozen=True)
class Compared:
    """A what-if by miniature, compared with the exact one."""

    stream: str
    pairs: float
    needs: float
    looked_at: int
    points: int
    off: float
    """The greatest difference of two recalls."""
    covered: float
    """The share of points whose interval has the exact recall."""
    exact_s: float
    sampled_s: float


def measure_whatif(rows: int = ROWS, streams: tuple[str, ...] = ()) -> Iterator[Compared]:
    """Compare on each named stream, or on all."""
    for name, draw in STREAMS.items():
        if not streams or name in streams:
            yield compare(name, *draw(rows))


def compare(name: str, tables: tuple[pa.Table, pa.Table], asked: dict[str, Any]) -> Compared:
    """Run the what-if twice, the miniature first, after a short run that compiles all code.

    Both run in one process and are measured in processor time, so that other load matters little.
    """
    asked = {**asked, "policies": POLICIES, "optimum": False, "jobs": 1}
    few = [table.slice(0, 20_000) for table in tables]
    whatif(*few, **asked, memory=MEMORY, share=0.5)
    started = time.process_time()
    sampled = whatif(*tables, **asked, memory=MEMORY, share=SHARE)
    middle = time.process_time()
    exact = whatif(*tables, **asked, memory=list(sampled.memory), share=1.0)
    ended = time.process_time()
    off, covered = _off(sampled, exact)
    return Compared(
        stream=name,
        pairs=exact.pairs,
        needs=exact.needs.rows,
        looked_at=sampled.looked_at,
        points=len(exact.points),
        off=off,
        covered=covered,
        exact_s=ended - middle,
        sampled_s=middle - started,
    )


def _off(sampled: WhatIf, exact: WhatIf) -> tuple[float, float]:
    told, true = sampled.to_pandas(), exact.to_pandas()
    off = (told.recall - true.recall).abs()
    covered = (told.low <= true.recall + 1e-9) & (true.recall <= told.high + 1e-9)
    return float(off.max()), float(covered.mean())


def _by_key(exponent: float, window_rows: int, keys: int) -> Callable[[int], Any]:
    def draw(rows: int) -> Any:
        random = np.random.default_rng(1)
        each = rows // 2
        share = np.arange(1, keys + 1) ** -exponent
        bounds = np.cumsum(share / share.sum())
        sides = []
        for name in ("lt", "rt"):
            key = np.searchsorted(bounds, random.random(each)).astype(np.int64)
            at = np.sort(random.integers(0, SECONDS * 1_000_000, each)) + START_US
            sides.append(pa.table({"key": key, name: pa.array(at, pa.timestamp("us"))}))
        window = f"{SECONDS * window_rows * 1000 // each} milliseconds"
        asked = {"on": "key", "left": Side("lt", window), "right": Side("rt", window)}
        return (sides[0], sides[1]), asked

    return draw


def _auctions(rows: int) -> Any:
    stream = auction_stream(rows, seed=1)
    asked = {
        "left_on": "id",
        "right_on": "auction",
        "left": Side("opened_at", "10 minutes"),
        "right": Side("bid_at", "0 seconds"),
    }
    return (stream.auctions, stream.bids), asked


STREAMS: dict[str, Callable[[int], Any]] = {
    "uniform keys": _by_key(0.0, WINDOW_ROWS, KEYS),
    "Zipf 0.5": _by_key(0.5, WINDOW_ROWS, KEYS),
    "Zipf 1.0": _by_key(1.0, FEW_ROWS, FEW_KEYS),
    "auctions": _auctions,
}


def show_whatif(console: Console) -> None:
    """Print each stream's comparison."""
    title = f"What-ifs of {ROWS:,} arrivals by a sample of {SHARE:.0%}, next to exact ones"
    table = Table(title=title)
    heads = ("", "exact join holds", "rows run", "points", "off at most", "covered", "exact, s")
    for heading in (*heads, "sampled, s", "times faster"):
        table.add_column(heading, justify="left" if not heading else "right")
    with console.status(title):
        for row in measure_whatif():
            table.add_row(*_whatif_row(row))
    console.print(table)


def _whatif_row(row: Compared) -> list[str]:
    return [
        row.stream,
        f"{row.needs:,.0f}",
        f"{row.looked_at:,}",
        f"{row.points}",
        f"{row.off:.3f}",
        f"{row.covered:.0%}",
        f"{row.exact_s:,.0f}",
        f"{row.sampled_s:,.1f}",
        f"{row.exact_s / row.sampled_s:,.0f}",
    ]
