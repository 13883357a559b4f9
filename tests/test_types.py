"""Columns of different types in process: compared as Spark's own join would, or refused."""

import datetime
import decimal
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import headgate as hg
from headgate.columns.casting import cast_to
from headgate.columns.common_type import Unlike, common_type
from headgate.columns.hashing import hash_keys
from headgate.engine.condition import Condition

START = datetime.datetime(2026, 1, 1, 12)
SIDE = hg.Side(time="at", window="1 minute")
NAN = float("nan")


def table_of(values: list, kind: pa.DataType | None = None, name: str = "key") -> pa.Table:
    at = pa.array([START] * len(values), pa.timestamp("us", "UTC"))
    return pa.table({name: pa.array(values, kind), "at": at})


def join_on(**asked: Any) -> hg.WindowJoin:
    asked = {"left": SIDE, "right": SIDE, "budget": hg.Budget(rows=1000), **asked}
    return hg.WindowJoin(policy="fifo", **asked)


def met(left: pa.Table, right: pa.Table) -> list:
    """For each left row of a table with a key, the numbers of the right rows it meets."""
    left = left.append_column("mine", pa.array(range(left.num_rows)))
    right = right.append_column("theirs", pa.array(range(right.num_rows)))
    pairs = join_on(on="key").run(left, right).pairs
    return sorted(zip(pairs["mine"].to_pylist(), pairs["theirs"].to_pylist(), strict=True))


TEXTS = ["a", "ä", "", None]
TEXT_TYPES = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.dictionary(pa.int8(), pa.string()),
    pa.dictionary(pa.int32(), pa.large_string()),
]
BYTE_TYPES = [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(2)]
WHOLE_TYPES = [
    pa.int8(),
    pa.int16(),
    pa.int32(),
    pa.int64(),
    pa.uint8(),
    pa.uint16(),
    pa.uint32(),
    pa.float32(),
    pa.float64(),
    pa.decimal128(5, 2),
    pa.decimal128(38, 10),
    pa.decimal256(30, 4),
    pa.decimal64(6, 3),
]
UNITS = ["s", "ms", "us", "ns"]
ZONED = [pa.timestamp(unit, zone) for unit in UNITS for zone in ("UTC", "Europe/Berlin")]
LISTS = [
    pa.list_(pa.int32()),
    pa.large_list(pa.int64()),
    pa.list_view(pa.int8()),
    pa.list_(pa.float64(), 2),
    pa.list_(pa.decimal128(9, 3)),
]
FAMILIES = {
    "text": (TEXTS, TEXT_TYPES),
    "bytes": ([b"ab", b"\x00a", None, b"  "], BYTE_TYPES),
    "numbers": ([0, 1, 7, None], WHOLE_TYPES),
    "dates": (
        [datetime.date(1969, 5, 1), datetime.date(2026, 1, 1), None],
        [pa.date32(), pa.date64()],
    ),
    "moments": ([START, START - datetime.timedelta(days=90_000), None], ZONED),
    "clocks": ([START, None], [pa.timestamp(unit) for unit in UNITS]),
    "times of day": (
        [datetime.time(1, 2, 3), None],
        [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")],
    ),
    "intervals": ([datetime.timedelta(seconds=3), None], [pa.duration(unit) for unit in UNITS]),
    "lists": ([[1, 2], [2, 1], [1, None], None], LISTS),
    "structs": (
        [{"a": 1, "b": "x"}, {"a": None, "b": "x"}, None],
        [
            pa.struct([("a", kind), ("b", text)])
            for kind in (pa.int8(), pa.float32())
            for text in TEXT_TYPES[:4]
        ],
    ),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_equal_values_meet_however_they_are_stored(name: str) -> None:
    values, kinds = FAMILIES[name]
    wanted = [(place, place) for place, value in enumerate(values) if value is not None]
    for one in kinds:
        for other in kinds:
            assert met(table_of(values, one), table_of(values, other)) == wanted, (one, other)


def test_categories_of_pandas_meet_plain_strings() -> None:
    left = pd.DataFrame({"key": pd.Categorical(["b", "a", "b"]), "at": [START] * 3})
    right = pd.DataFrame({"key": ["a", "b"], "at": [START] * 2})
    found = join_on(on="key").run(left, right).pairs
    assert sorted(found["key"].to_pylist()) == ["a", "b", "b"]


def test_zeros_and_nans_within_others_are_equal() -> None:
    for kind in (pa.float32(), pa.float64()):
        structs = table_of([{"x": 0.0}, {"x": NAN}, {"x": None}], pa.struct([("x", kind)]))
        others = table_of([{"x": -0.0}, {"x": NAN}, {"x": None}], pa.struct([("x", kind)]))
        assert met(structs, others) == [(0, 0), (1, 1), (2, 2)]
        lists = table_of([[0.0, NAN], [[1.0]][0]], pa.list_(kind))
        others = table_of([[-0.0, NAN], [2.0]], pa.list_(kind))
        assert met(lists, others) == [(0, 0)]
        deep = pa.list_(pa.struct([("x", pa.list_(kind))]))
        assert met(table_of([[{"x": [0.0]}]], deep), table_of([[{"x": [-0.0]}]], deep)) == [(0, 0)]


def test_whole_numbers_meet_real_ones_as_the_nearest_of_them() -> None:
    large = table_of([2**53, 2**53 + 1, 2**53 + 2], pa.int64())
    real = table_of([float(2**53)], pa.float64())
    assert met(large, real) == [(0, 0), (1, 0)]


def test_a_decimal_becomes_the_nearest_real_number() -> None:
    rng = np.random.default_rng(1)
    texts = [f"{whole}.{part:010d}" for whole, part in rng.integers(0, 10**10, (500, 2)).tolist()]
    exact = table_of([decimal.Decimal(text) for text in texts], pa.decimal128(38, 10))
    real = table_of([float(text) for text in texts], pa.float64())
    assert len(met(exact, real)) >= 500


def test_keys_that_are_equal_hash_alike() -> None:
    for values, kinds in FAMILIES.values():
        for one in kinds:
            for other in kinds:
                columns = [
                    cast_to(table_of(values, kind)["key"], common_type(one, other))
                    for kind in (one, other)
                ]
                mine, theirs = (hash_keys([column]) for column in columns)
                known = mine[1]
                assert known.tolist() == theirs[1].tolist()
                assert mine[0][known].tolist() == theirs[0][known].tolist(), (one, other)
    for kind in (pa.list_(pa.float64()), pa.list_(pa.float32())):
        zeros = [hash_keys([table_of([[zero]], kind)["key"]])[0][0] for zero in (0.0, -0.0)]
        assert zeros[0] == zeros[1]


ZONE = "one tells moments in time and the other what a clock showed"
REFUSED = [
    (pa.timestamp("us", "UTC"), pa.timestamp("us"), ZONE),
    (pa.list_(pa.timestamp("us", "UTC")), pa.list_(pa.timestamp("us")), ZONE),
    (pa.date32(), pa.timestamp("us"), "a date has a time only in a time zone"),
    (pa.date64(), pa.timestamp("s", "UTC"), "a date has a time only in a time zone"),
    (pa.string(), pa.int64(), "Spark would read the text as the other type"),
    (pa.string(), pa.binary(), "text and bytes are equal by an encoding"),
    (pa.bool_(), pa.int8(), "cast one of them"),
    (pa.uint64(), pa.int64(), "cast one of them"),
    (pa.duration("s"), pa.int64(), "cast one of them"),
    (pa.decimal128(38, 10), pa.decimal128(38, 0), "they need 48 digits together"),
    (pa.struct([("a", pa.int8())]), pa.struct([("b", pa.int8())]), "the same names in order"),
    (pa.map_(pa.int8(), pa.int8()), pa.map_(pa.int8(), pa.int8()), "cannot be compared"),
    (pa.month_day_nano_interval(), pa.month_day_nano_interval(), "cannot be compared"),
]


@pytest.mark.parametrize(("one", "other", "says"), REFUSED, ids=lambda given: str(given)[:40])
def test_types_that_cannot_be_compared_are_refused_with_both_named(
    one: pa.DataType, other: pa.DataType, says: str
) -> None:
    for left, right in ((one, other), (other, one)):
        with pytest.raises(Unlike, match=says):
            common_type(left, right)
        with pytest.raises(hg.SpecError, match=f'left "mine" is .*right "theirs" is .*{says}'):
            join_on(left_on="mine", right_on="theirs").run(
                table_of([], left, "mine"), table_of([], right, "theirs")
            )


def at(kind: pa.DataType, name: str) -> pa.Table:
    """Rows with a key, and times of a type."""
    return pa.table({"key": [1, 2], name: pa.array([START, START], kind)})


SIDES = {"left": hg.Side(time="heard", window="1 minute"), "right": hg.Side("seen", "1 minute")}
CALLS: dict[str, Callable[[pa.Table, pa.Table], object]] = {
    "run": lambda left, right: join_on(on="key", **SIDES).run(left, right),
    "profile": lambda left, right: hg.profile(left, right, on="key", **SIDES),
    "whatif": lambda left, right: hg.whatif(left, right, join=join_on(on="key", **SIDES)),
    "the optimum": lambda left, right: hg.policies.offline.Opt.for_join(
        join_on(on="key", **SIDES), left, right
    ),
    "choose_sample": lambda left, right: hg.choose_sample(
        hg.WindowJoin(on="key", **SIDES, budget=hg.Budget(rows=9), goal=hg.Sample()),
        left,
        right,
        "key",
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_times_with_and_without_a_zone_are_refused_in(call: str) -> None:
    left, right = at(pa.timestamp("us", "UTC"), "heard"), at(pa.timestamp("ns"), "seen")
    says = rf'time columns differ in type: left "heard" is .*UTC.*right "seen" is .*{ZONE}'
    with pytest.raises(hg.SpecError, match=says):
        CALLS[call](left, right)


def test_a_lookup_refuses_keys_with_and_without_a_zone() -> None:
    known = pa.table({"day": pa.array([START], pa.timestamp("us", "UTC")), "n": [1]})
    lookup = hg.CachedLookup(on="day", table=hg.ArrowTable(known), budget=hg.Budget(rows=5))
    asked = pa.table({"day": pa.array([START], pa.timestamp("us"))})
    with pytest.raises(hg.SpecError, match=f'"day" of the stream is .*{ZONE}'):
        lookup.run(asked)


@pytest.mark.parametrize(
    ("stream", "table", "found"),
    [
        (pa.array([2**53, 2**53 + 1]), pa.array([float(2**53)]), 2),
        (pa.array([1, 2], pa.int8()), pa.array([1, 2, 300], pa.int64()), 2),
        (pa.array([1, 300], pa.int64()), pa.array([1, 2], pa.int8()), 1),
        (pa.array(["a"]).dictionary_encode(), pa.array(["a"], pa.large_string()), 1),
        (pa.array([decimal.Decimal("1.5")]), pa.array([decimal.Decimal("1.500")]), 1),
        (pa.array([-0.0, NAN]), pa.array([0.0, NAN]), 2),
        (
            pa.array([START], pa.timestamp("ms", "Asia/Tokyo")),
            pa.array([START], pa.timestamp("us", "UTC")),
            1,
        ),
    ],
)
def test_a_lookup_finds_what_sparks_own_join_would(
    stream: pa.Array, table: pa.Array, found: int
) -> None:
    known = pa.table({"key": table, "n": list(range(len(table)))})
    lookup = hg.CachedLookup(on="key", table=hg.ArrowTable(known), budget=hg.Budget(rows=5))
    assert lookup.run(pa.table({"key": stream})).rows.num_rows == found


def test_a_lookup_refuses_keys_its_table_cannot_be_asked_for() -> None:
    lookup = hg.CachedLookup(
        on="key", table=hg.ArrowTable(pa.table({"key": [1]})), budget=hg.Budget(rows=5)
    )
    with pytest.raises(hg.SpecError, match="table cannot be asked for keys of type double: cast"):
        lookup.run(pa.table({"key": [1.5]}))


def test_models_of_another_width_serve_keys_as_they_are_compared() -> None:
    model = hg.Frequencies.of_mappings({1: 0.9, 2: 0.1}, {1: 0.5, 2: 0.5})
    narrow, wide = table_of([1, 2, 2], pa.int8()), table_of([1.0, 2.0], pa.float64())
    join = hg.WindowJoin(
        on="key", left=SIDE, right=SIDE, budget=hg.Budget(rows=9), policy="prob", frequencies=model
    )
    assert join.run(narrow, wide).pairs.num_rows == 3
    with pytest.raises(hg.SpecError, match=r"model's keys \(int64\) are not of .* type \(string\)"):
        join.run(table_of(["1"]), table_of(["1"]))


def test_a_learning_join_counts_keys_of_two_types() -> None:
    rng = np.random.default_rng(2)
    at = START + pd.to_timedelta(np.arange(3000), "s")
    keys = rng.zipf(1.5, (2, 3000)) % 50
    left = pa.table({"key": pa.array(keys[0], pa.int32()), "at": at})
    right = pa.table({"key": pa.array(keys[1], pa.float64()), "at": at})
    join = hg.WindowJoin(on="key", left=SIDE, right=SIDE, budget=hg.Budget(rows=40))
    same = join.run(left, right.set_column(0, "key", right["key"].cast(pa.int32())))
    found = join.run(left, right)
    # Keys are found by a hash of their common type, and which of them collide differs.
    assert found.stats.pairs == pytest.approx(same.stats.pairs, rel=0.01)
    assert 0 < found.recall < 1


@pytest.mark.parametrize("limit", [0.1, 1.5, -0.3, 1e-45, 3.4e38, -3.5e38, 1e300, 16777216.0])
def test_a_band_on_short_floats_rounds_as_they_do(limit: float) -> None:
    rng = np.random.default_rng(3)
    near = np.float32(limit) if abs(limit) < 3e38 else np.float32(3e38)
    right = np.concatenate([near + rng.normal(0, 1, 300).astype(np.float32), [near] * 100])
    left = np.concatenate([rng.normal(0, 1, 300), rng.normal(0, 1e-8, 100)]).astype(np.float32)
    with np.errstate(over="ignore"):
        apart = right.astype(np.float32) - left
    for asked, wanted in (
        ({"upper": limit}, apart.astype(float) <= limit),
        ({"lower": limit}, apart.astype(float) >= limit),
    ):
        relation = Condition.of(hg.Band("x", **asked), (pa.float32(),) * 2).relation
        pairs = zip(left.astype(float), right.astype(float), strict=True)
        assert [relation.holds(x, y) for x, y in pairs] == wanted.tolist()
