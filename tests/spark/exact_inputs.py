"""Inputs of the exactness tests: every type of key, nulls, ties, rows that are late or doubled."""

import datetime
import decimal

import numpy as np
import pyarrow as pa

from tests.spark.streams import START_US, timestamps

DELAYS = ("20 seconds", "35 seconds")
DELAYS_US = (20_000_000, 35_000_000)
TIMES = ("opened_at", "bid_at")

KEY_VALUES = {
    "integer": (pa.array([1, 2, -3, None, 2**40], pa.int64()), 5),
    "text": (pa.array(["", "a", "ä", None]), 4),
    "day": (pa.array([datetime.date(2026, 1, day) for day in (1, 2)] + [None], pa.date32()), 3),
    "price": (
        pa.array([decimal.Decimal("1.50"), decimal.Decimal("-1.51"), None], pa.decimal128(12, 2)),
        3,
    ),
    "instant": (
        pa.array([0, 1_700_000_000_000_001, None], pa.int64()).cast(pa.timestamp("us", "UTC")),
        3,
    ),
    "measure": (pa.array([0.0, -0.0, float("nan"), 1.5, None], pa.float64()), 5),
    "flag": (pa.array([True, False, None]), 3),
    "bytes": (pa.array([b"", b"\x00", b"\xff\x00", None], pa.binary()), 4),
    "place": (
        pa.array(
            [{"x": 1, "y": "n"}, {"x": 1, "y": None}, {"x": 2, "y": "n"}, None],
            pa.struct([("x", pa.int32()), ("y", pa.string())]),
        ),
        4,
    ),
}
"""A key column for each type, with the values it may take; null among them."""


def make_side(rng: np.random.Generator, side: int, rows: int, first_us: int, keys: int) -> pa.Table:
    """Rows of a minute: whole seconds, so that times tie; some up to four minutes late."""
    count = rows - rows // 10
    seconds = rng.integers(0, 60, count) - np.where(
        rng.random(count) < 0.25, rng.integers(0, 240, count), 0
    )
    columns = {"key": pa.array(rng.integers(0, keys, count), mask=rng.random(count) < 0.05)}
    for name, (values, _) in KEY_VALUES.items():
        # Null is one value of each domain; drawn less often than the others.
        draw = rng.integers(0, len(values), count)
        again = rng.integers(0, len(values), count)
        empty = values.is_null().to_numpy(zero_copy_only=False)
        columns[name] = values.take(pa.array(np.where(empty[draw], again, draw)))
    columns[TIMES[side]] = timestamps(first_us + seconds * 1_000_000, rng.random(count) < 0.03)
    columns[("left_id", "right_id")[side]] = pa.array(rng.integers(0, 1 << 40, count))
    table = pa.table(columns)
    # The same row again: a join of multisets pairs each copy.
    doubled = table.take(pa.array(rng.integers(0, count, rows - count)))
    return pa.concat_tables([table, doubled]).combine_chunks()


def make_batches(seed: int, keys: int = 12) -> tuple[list[pa.Table], list[pa.Table]]:
    """Micro-batches of both sides, some of them with rows on one side only."""
    rng = np.random.default_rng(seed)
    sizes = ((60, 0, 80, 50, 40), (70, 60, 0, 60, 50, 40))
    return tuple(
        [
            make_side(rng, side, rows, START_US + number * 60_000_000, keys)
            for number, rows in enumerate(sizes[side])
        ]
        for side in (0, 1)
    )  # type: ignore[return-value]
