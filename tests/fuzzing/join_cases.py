"""Whole joins in process, from generated specifications: against DuckDB, and against themselves.

With memory for all the result must be DuckDB's. Within a budget it must be part of that, with every
row that is missing accounted for. Swapped sides, rows in another order, other names and later times
change nothing.
"""

import datetime
import decimal
import random
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa

import headgate as hg
from headgate.spec import SpecError

START_US = 1_767_225_600_000_000
HOWS = ("inner",) * 4 + ("left", "right", "full", "semi", "anti")
MIRRORED = {"left": "right", "right": "left"}
_DAY = datetime.date(2026, 1, 1)
KEY_TYPES: dict[str, tuple[pa.DataType, pa.DataType, list[Any]]] = {
    "bigint": (pa.int64(), pa.int64(), [0, 1, -1, 1 << 40]),
    "int and bigint": (pa.int32(), pa.int64(), [0, 1, -1, 7]),
    "smallint and int": (pa.int16(), pa.int32(), [0, 1, -1, 7]),
    "text": (pa.string(), pa.string(), ["", "a", "A", "ä\u0301", "'; --"]),
    "large text": (pa.large_string(), pa.string(), ["", "a", "b" * 30]),
    "bytes": (pa.binary(), pa.binary(), [b"", b"\0", b"\0\0", b"a"]),
    "boolean": (pa.bool_(), pa.bool_(), [True, False]),
    "date": (pa.date32(), pa.date32(), [_DAY + datetime.timedelta(n) for n in range(3)]),
    "decimal": (
        pa.decimal128(8, 2),
        pa.decimal128(8, 2),
        [*map(decimal.Decimal, ("1.00", "2.50"))],
    ),
    "double": (pa.float64(), pa.float64(), [0.5, -1.0, 1e300]),
}
INDEXES = ("auto", "hash", "scan", "btree", "ttree", "bitmap")
POLICIES = ("fifo", "random", "lru", "lfu", "ttl", "auto", "prob", "age")


@dataclass(frozen=True)
class Spec:
    """A join, as plain values."""

    kinds: tuple[str, ...]
    """The types of its key columns."""
    windows: tuple[int, int]
    how: str
    where: str | None
    policy: str
    rows: int | None
    index: str
    seed: int

    def join(self, sides: tuple[str, str] = ("l", "r"), **more: Any) -> hg.WindowJoin:
        """The join of two tables whose columns begin with these letters."""
        left, right = sides
        given: dict[str, Any] = {
            "left_on": [f"{left}k{n}" for n in range(len(self.kinds))],
            "right_on": [f"{right}k{n}" for n in range(len(self.kinds))],
            "left": hg.Side(f"{left}t", f"{self.windows[0]} seconds"),
            "right": hg.Side(f"{right}t", f"{self.windows[1]} seconds"),
            "how": self.how,
            "policy": self.policy,
            "budget": hg.Budget(rows=1_000_000 if self.rows is None else self.rows),
            "index": self.index,
            "seed": self.seed,
        }
        if self.where == "band":
            given["where"] = hg.Band(left=f"{left}x", right=f"{right}x", lower=-1, upper=2)
        elif self.where is not None:
            given["where"] = hg.Compare(left=f"{left}x", right=f"{right}x", op=self.where)
        return hg.WindowJoin(**{**given, **more})


def drawn_spec(rng: random.Random) -> Spec:
    """A specification."""
    how = rng.choice(HOWS)
    return Spec(
        kinds=tuple(rng.choice(list(KEY_TYPES)) for _ in range(rng.choice((1, 1, 1, 2)))),
        windows=(rng.choice((0, 1, 4, 9)), rng.choice((0, 2, 5, 30))),
        how=how,
        where=rng.choice((None, None, "band", "<", ">=", "!=")),
        policy=rng.choice(POLICIES),
        rows=rng.choice((None, None, 2, 5, 12)),
        index=rng.choice(("auto", *INDEXES)),
        seed=rng.randrange(3),
    )


def drawn_table(rng: random.Random, spec: Spec, side: int) -> pa.Table:
    """Rows of a side: few keys, ties, nulls; sorted by time or not."""
    letter, count = "lr"[side], rng.choice((0, 1, 5, 12, 25))

    def column(values: list[Any], kind: pa.DataType, nulls: float) -> pa.Array:
        drawn = [None if rng.random() < nulls else rng.choice(values) for _ in range(count)]
        return pa.array(drawn, kind)

    columns = {
        f"{letter}k{place}": column(KEY_TYPES[kind][2], KEY_TYPES[kind][side], 0.08)
        for place, kind in enumerate(spec.kinds)
    }
    seconds = [rng.randint(0, 20) for _ in range(count)]
    seconds = sorted(seconds) if rng.random() < 0.7 else seconds
    columns[f"{letter}t"] = pa.array([START_US + 1_000_000 * at for at in seconds]).cast(
        pa.timestamp("us", "UTC")
    )
    columns[f"{letter}x"] = column([0, 1, 2, 3, 5], pa.int32(), 0.1)
    columns[f"{letter}id"] = pa.array(range(count), pa.int64())
    return pa.table(columns)


def run_case(seed: int) -> Counter[str]:
    """Run the cases of a seed; how many passed, by name. Raises where one fails."""
    rng = random.Random(f"join {seed}")
    spec = drawn_spec(rng)
    left, right = drawn_table(rng, spec, 0), drawn_table(rng, spec, 1)
    passed: Counter[str] = Counter()
    try:
        found = _as_duckdb(spec, left, right)
        passed["as_duckdb"] += 1
        for name in rng.sample(list(CHANGES), 2):
            CHANGES[name](spec, left, right, rng, found)
            passed[f"join_{name}"] += 1
    except SpecError:
        # Some joins cannot be asked: a comparison beside keys without an order, for example.
        passed["refused"] += 1
    except Exception as error:
        error.add_note(f"join seed {seed}: {spec}, after {passed}")
        raise
    return passed


def _as_duckdb(spec: Spec, left: pa.Table, right: pa.Table) -> Counter[Any]:
    outcome = spec.join().run(left, right)
    found, exact = as_numbers(outcome.pairs), by_duckdb(spec, left, right)
    assert not found - exact, f"wrong rows: {list(found - exact)[:3]}"
    if not outcome.stats.lost_rows:
        assert found == exact, f"missing, nothing lost: {list(exact - found)[:3]}"
    assert outcome.stats.pairs == found.total()
    assert outcome.stats.peak_rows <= (spec.rows or 1_000_000)
    if outcome.recall is not None and exact:
        assert abs(outcome.recall - found.total() / exact.total()) < 1e-9, outcome.recall
    return found


Found = Counter[Any]


def _swapped(spec: Spec, left: pa.Table, right: pa.Table, rng: random.Random, found: Found) -> None:
    if spec.how in ("semi", "anti") or spec.where not in (None, "!="):
        spec = replace(spec, how="inner", where=None)
    spec = replace(spec, rows=None)
    mirrored = replace(spec, windows=spec.windows[::-1], how=MIRRORED.get(spec.how, spec.how))
    one = as_numbers(spec.join().run(left, right).pairs)
    other = as_numbers(mirrored.join(sides=("r", "l")).run(right, left).pairs)
    assert one == other


def _permuted(
    spec: Spec, left: pa.Table, right: pa.Table, rng: random.Random, found: Found
) -> None:
    mixed = [
        table.take(pa.array(rng.sample(range(table.num_rows), table.num_rows), pa.int64()))
        for table in (left, right)
    ]
    ample = replace(spec, rows=None)
    one = found if ample == spec else as_numbers(ample.join().run(left, right).pairs)
    assert as_numbers(ample.join().run(*mixed).pairs) == one


def _shifted(spec: Spec, left: pa.Table, right: pa.Table, rng: random.Random, found: Found) -> None:
    by = rng.choice((1, 3600, 86_400 * 400)) * 1_000_000
    later = []
    for table, name in ((left, "lt"), (right, "rt")):
        moved = [None if at is None else at + by for at in table[name].cast(pa.int64()).to_pylist()]
        column = pa.array(moved, pa.int64()).cast(pa.timestamp("us", "UTC"))
        later.append(table.set_column(table.column_names.index(name), name, column))
    assert as_numbers(spec.join().run(*later).pairs) == found


def _renamed(spec: Spec, left: pa.Table, right: pa.Table, rng: random.Random, found: Found) -> None:
    names = [f"a{name[1:]}" if "id" not in name else name for name in left.column_names]
    renamed = spec.join(sides=("a", "r")).run(left.rename_columns(names), right)
    assert as_numbers(renamed.pairs) == found


def _indexed(spec: Spec, left: pa.Table, right: pa.Table, rng: random.Random, found: Found) -> None:
    other = replace(spec, index=rng.choice([index for index in INDEXES if index != spec.index]))
    assert as_numbers(other.join().run(left, right).pairs) == found


CHANGES = {
    "swapped": _swapped,
    "permuted": _permuted,
    "shifted": _shifted,
    "renamed": _renamed,
    "other_index": _indexed,
}


@cache
def _database() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


def by_duckdb(spec: Spec, left: pa.Table, right: pa.Table) -> Counter[Any]:
    """The exact result, as pairs of row numbers."""
    database = _database()
    database.register("l", left)
    database.register("r", right)
    parts = [f"lk{place} = rk{place}" for place in range(len(spec.kinds))]
    left_s, right_s = spec.windows
    parts.append(f"rt BETWEEN lt - INTERVAL {right_s} SECOND AND lt + INTERVAL {left_s} SECOND")
    if spec.where == "band":
        parts.append("rx - lx BETWEEN -1 AND 2")
    elif spec.where is not None:
        parts.append(f"lx {spec.where} rx")
    on = " AND ".join(parts)
    if spec.how in ("semi", "anti"):
        no = "NOT " if spec.how == "anti" else ""
        query = f"SELECT lid, NULL FROM l WHERE {no}EXISTS (FROM r WHERE {on})"
    else:
        query = f"SELECT lid, rid FROM l {spec.how} JOIN r ON {on}"
    return Counter(database.execute(query).fetchall())


def as_numbers(result: pa.Table) -> Counter[Any]:
    """A result as pairs of row numbers."""
    ids = result.column("lid").to_pylist() if "lid" in result.column_names else None
    others = result.column("rid").to_pylist() if "rid" in result.column_names else None
    count = result.num_rows
    return Counter(zip(ids or [None] * count, others or [None] * count, strict=True))
