"""Joins whose results are kept, all on one small stream.

Left rows are orders, right rows payments: most orders are paid once, some 40 seconds later, and a
few customers order and pay all the time.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

import headgate as hg
from headgate.policies import ALL_POLICIES

Tables = tuple[pa.Table, pa.Table]
FOLDER = Path(__file__).parent
STREAM = FOLDER / "stream.csv"
ROWS = 1200
"""A side."""
COUNTS = (
    "pairs",
    "admitted",
    "shed",
    "refused",
    "retired",
    "expired",
    "unneeded",
    "unchosen",
    "null_keys",
    "peak_rows",
    "peak_bytes",
    "stored_bytes",
)
LEFT = hg.Side(time="at", window="1 minute")
RIGHT = hg.Side(time="at", window="10 seconds")
COLUMNS = pa.schema(
    [
        ("side", pa.string()),
        ("at", pa.timestamp("us")),
        ("customer", pa.int64()),
        ("amount", pa.float64()),
        ("note", pa.string()),
    ]
)


def make_stream(rows: int = ROWS, seconds: int = 1200, even: bool = False) -> pa.Table:
    """Orders and payments drawn at random, the same every time; customers alike, or not."""
    draw = np.random.default_rng(20260101)

    def customers() -> np.ndarray:
        return draw.integers(0, 3000, rows) if even else np.minimum(draw.zipf(1.3, rows), 400)

    ordered = np.sort(draw.integers(0, 1000 * seconds, rows))
    customer = customers()
    paid = draw.random(rows) < 0.6
    delay = np.maximum(draw.normal(40_000, 10_000, rows), 0).astype(np.int64)
    at = np.where(paid, ordered + delay, draw.integers(0, 1000 * seconds, rows))
    payer = np.where(paid, customer, customers())
    order = np.argsort(at, kind="stable")
    start = np.int64(1_767_225_600_000)
    return pa.table(
        {
            "side": ["left"] * rows + ["right"] * rows,
            "at": pa.array(1000 * (start + np.concatenate([ordered, at[order]]))).cast(
                pa.timestamp("us")
            ),
            "customer": np.concatenate([customer, payer[order]]),
            "amount": np.round(draw.exponential(50, 2 * rows), 2),
            "note": ["x" * int(n) for n in draw.integers(0, 20, 2 * rows)],
        },
        schema=COLUMNS,
    )


def read_stream() -> Tables:
    """Orders and payments, as bundled."""
    options = csv.ConvertOptions(column_types=COLUMNS, strings_can_be_null=False)
    return in_sides(csv.read_csv(STREAM, convert_options=options))


def in_sides(rows: pa.Table) -> Tables:
    """The left rows and the right rows of a stream."""
    sides = [rows.filter(pa.compute.equal(rows.column("side"), side)) for side in ("left", "right")]
    return sides[0].drop_columns("side"), sides[1].drop_columns("side")


def joins() -> Iterator[tuple[str, hg.WindowJoin]]:
    """Every policy and goal, by rows and by bytes, and a few settings beside."""
    names = ("auto", *(policy.name for policy in ALL_POLICIES))
    budgets = {"40 rows": hg.Budget(rows=40), "4 kB": hg.Budget(memory="4 kB")}
    profile = hg.profile(*read_stream(), left=LEFT, right=RIGHT, on="customer")
    models = {"frequencies": profile.frequencies, "ages": profile.ages, "rates": profile.rates}

    for label, budget in budgets.items():
        for name in names:
            yield f"{name}, {label}", join(budget, policy=name)
            yield (
                f"{name}, importance, {label}",
                join(budget, policy=name, goal=hg.MaxImportance(left="amount", right="amount")),
            )
        for kind in ("uniform", "cluster", "auto"):
            goal = hg.Sample(kind, fraction=0.2 if kind == "uniform" else None)
            yield f"sample {kind}, told, {label}", join(budget, goal=goal, **models)
        for kind in ("cluster", "auto"):
            yield f"sample {kind}, {label}", join(budget, goal=hg.Sample(kind))
    ample, tight = hg.Budget(rows=10_000), hg.Budget(rows=40)
    for name in ("prob", "life", "age"):
        yield f"{name}, told", join(tight, policy=name, **models)
    yield "ample", join(ample)
    yield "split, fifo", join(hg.Budget(rows=40, split=(1, 2)), policy="fifo")
    yield "row windows, lru", join(tight, policy="lru", window=hg.RowWindow(80))
    band = hg.Band("amount", lower=-5, upper=5)
    yield "band, ample", join(ample, where=band)
    yield "band, auto", join(tight, where=band)
    yield "band without keys, age", join(tight, where=band, on=None, policy="age")
    yield "comparison, random", join(tight, where=hg.Compare("amount", "<"), policy="random")
    for index in ("scan", "btree", "ttree", "bitmap"):
        yield f"index {index}, fifo", join(tight, policy="fifo", index=index)


def long_joins() -> Iterator[tuple[str, hg.WindowJoin]]:
    """Joins with room enough to learn in, for a longer stream."""
    goal = hg.MaxImportance(left="amount", right="amount")
    for name in ("auto", "prob", "age"):
        yield f"{name}, long", join(hg.Budget(rows=2100), policy=name)
        yield f"{name}, importance, long", join(hg.Budget(rows=2100), policy=name, goal=goal)


def join(
    budget: hg.Budget,
    window: hg.RowWindow | None = None,
    on: str | None = "customer",
    **options: object,
) -> hg.WindowJoin:
    """A join of the stream's two sides; options as `hg.WindowJoin` takes them."""
    return hg.WindowJoin(
        on=on,
        left=LEFT if window is None else hg.Side(time="at", window=window),
        right=RIGHT if window is None else hg.Side(time="at", window=window),
        budget=budget,
        seed=7,
        **options,
    )


def result(wanted: hg.WindowJoin, tables: Tables) -> dict[str, str]:
    """What a join makes of the stream, in a few columns; the last stands for all result rows."""
    outcome = wanted.run(*tables)
    stats = outcome.stats
    rows = sorted(map(repr, outcome.pairs.to_pylist()))
    return {
        **{name: str(getattr(stats, name)) for name in COUNTS},
        "importance": f"{stats.importance:.6g}",
        "fairness": f"{stats.fairness:.6f}",
        "recall": "" if outcome.recall is None else f"{outcome.recall:.6f}",
        "rows": hashlib.sha256("\n".join(rows).encode()).hexdigest()[:12],
    }
