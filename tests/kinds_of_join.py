"""Inputs for outer, semi and anti joins, and DuckDB's answer to them."""

from collections import Counter
from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa

import headgate as hg

START_US = 1_767_225_600_000_000
SECOND_US = 1_000_000
OUTER = ("left", "right", "full")
KINDS = (*OUTER, "semi", "anti")
WINDOW = "r.rt BETWEEN l.lt - INTERVAL {right} SECOND AND l.lt + INTERVAL {left} SECOND"


@dataclass(frozen=True)
class Shape:
    """A shape of join to try: windows in seconds, keys, and a band or none."""

    windows: tuple[int, int]
    keyed: bool = True
    band: bool = False

    @property
    def on(self) -> str:
        """The condition of the join in SQL."""
        parts = [WINDOW.format(left=self.windows[0], right=self.windows[1])]
        parts += ["l.k = r.rk"] if self.keyed else []
        parts += ["r.rx - l.x BETWEEN -1 AND 2"] if self.band else []
        return " AND ".join(parts)

    def join(self, how: str, **more: object) -> hg.WindowJoin:
        """The join within ample memory, unless told otherwise."""
        keys = {"left_on": "k", "right_on": "rk"} if self.keyed else {}
        where = {"where": hg.Band(left="x", right="rx", lower=-1, upper=2)} if self.band else {}
        given = {"budget": hg.Budget(rows=100_000), "policy": "fifo", **more}
        return hg.WindowJoin(
            left=hg.Side("lt", f"{self.windows[0]} seconds"),
            right=hg.Side("rt", f"{self.windows[1]} seconds"),
            how=how,
            **keys,
            **where,
            **given,
        )


SHAPES = {
    "both wait": Shape((5, 3)),
    "the left side waits": Shape((6, 0)),
    "the right side waits": Shape((0, 4)),
    "nobody waits": Shape((0, 0)),
    "a band beside the key": Shape((5, 5), band=True),
    "a band alone": Shape((2, 3), keyed=False, band=True),
}


def side(rng: np.random.Generator, rows: int, names: tuple[str, str, str, str]) -> pa.Table:
    """Rows with few keys, ties, and nulls in key, value and time."""

    def nulls(share: float) -> np.ndarray:
        return rng.random(rows) < share

    time = START_US + SECOND_US * np.sort(rng.integers(0, max(rows // 2, 1), rows))
    return pa.table(
        {
            names[0]: pa.array(rng.integers(0, 9, rows), mask=nulls(0.1)),
            names[1]: pa.array(time, mask=nulls(0.05)).cast(pa.timestamp("us", "UTC")),
            names[2]: pa.array(rng.integers(0, 6, rows), mask=nulls(0.1)),
            names[3]: pa.array(np.arange(rows)),
        }
    )


def both_sides(seed: int, rows: tuple[int, int] = (60, 50)) -> tuple[pa.Table, pa.Table]:
    """A left and a right side."""
    rng = np.random.default_rng(seed)
    return side(rng, rows[0], ("k", "lt", "x", "lid")), side(
        rng, rows[1], ("rk", "rt", "rx", "rid")
    )


def by_duckdb(shape: Shape, how: str, left: pa.Table, right: pa.Table) -> Counter:
    """The result as DuckDB has it, as pairs of row numbers; None where there is no row."""
    database = duckdb.connect()
    database.register("l", left)
    database.register("r", right)
    if how in OUTER:
        found = database.sql(f"SELECT lid, rid FROM l {how} JOIN r ON {shape.on}")
    else:
        no = "NOT " if how == "anti" else ""
        found = database.sql(f"SELECT lid, NULL FROM l WHERE {no}EXISTS (FROM r WHERE {shape.on})")
    return Counter(found.fetchall())


def as_numbers(result: pa.Table) -> Counter:
    """A result as pairs of row numbers."""
    ids = result.column("lid").to_pylist()
    others = result.column("rid").to_pylist() if "rid" in result.column_names else [None] * len(ids)
    return Counter(zip(ids, others, strict=True))
