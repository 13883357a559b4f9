"""Bands and comparisons: what may be asked, and the same answer as SQL."""

import datetime
import decimal
from collections import Counter

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.engine.condition import Condition
from headgate.kernel.probe import ranges
from headgate.kernel.relation import Bound, Relation
from headgate.policies.structures import marks

START = datetime.datetime(2026, 1, 1)
ROWS = 400
INT64 = np.iinfo(np.int64)

REALS = [0.0, -0.0, 0.1, 0.2, 0.3, 0.7, 1.5, -2.25, 1e300, -1e300, float("nan"), None]
COLUMNS = {
    "whole": pa.array([-3, 0, 1, 2, 5, 2**40, INT64.max, None], pa.int64()),
    "short": pa.array([-3, 0, 1, 2, 100, None], pa.int16()),
    "real": pa.array([*REALS, float("inf"), float("-inf")], pa.float64()),
    "price": pa.array(
        [decimal.Decimal(text) for text in ("-1.50", "0", "1.49", "1.50", "7.25")] + [None],
        pa.decimal128(12, 2),
    ),
    "fine": pa.array(
        [decimal.Decimal(text) for text in ("0.0001", "1.4999", "1.5000")] + [None],
        pa.decimal128(9, 4),
    ),
    "text": pa.array(["", "a", "B", "ä", "ab", None]),
    "blob": pa.array([b"", b"\x00", b"\xff", None], pa.binary()),
    "truth": pa.array([True, False, None]),
    "day": pa.array([START.date() + datetime.timedelta(days=d) for d in (0, 1, 3, 9)] + [None]),
    "moment": pa.array(
        [START + datetime.timedelta(microseconds=us) for us in (0, 1, 999_999, 5_000_000)] + [None],
        pa.timestamp("us"),
    ),
    "instant": pa.array([0, 1_500_000, 1_000_000_001, None], pa.int64()).cast(
        pa.timestamp("us", "UTC")
    ),
}
"""A column for each type, with values that tie, are missing, or lie at the ends of the type."""


def make_side(seed: int, time: str, number: str) -> pa.Table:
    rng = np.random.default_rng(seed)
    columns = {
        name: values.take(pa.array(rng.integers(0, len(values), ROWS)))
        for name, values in COLUMNS.items()
    }
    columns["key"] = pa.array(rng.integers(0, 4, ROWS), mask=rng.random(ROWS) < 0.1)
    seconds = [START + datetime.timedelta(seconds=int(s)) for s in rng.integers(0, 300, ROWS)]
    columns[time] = pa.array(seconds, pa.timestamp("us"))
    columns[number] = pa.array(np.arange(ROWS))
    return pa.table(columns)


LEFT, RIGHT = make_side(1, "opened_at", "left_id"), make_side(2, "bid_at", "right_id")


def make_join(**asked: object) -> hg.WindowJoin:
    return hg.WindowJoin(
        **{
            "left": hg.Side(time="opened_at", window="40 seconds"),
            "right": hg.Side(time="bid_at", window="15 seconds"),
            "budget": hg.Budget(rows=1_000_000),
            **asked,
        }
    )


def numbers(table: pa.Table) -> Counter:
    ids = (table.column(name).to_pylist() for name in ("left_id", "right_id"))
    return Counter(zip(*ids, strict=True))


def in_duckdb(condition: str, on: str | None) -> Counter:
    keys = "" if on is None else f" AND l.{on} = r.{on}"
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("l", LEFT)
        connection.register("r", RIGHT)
        return Counter(
            connection.sql(
                f"SELECT left_id, right_id FROM l JOIN r ON ({condition}){keys}"
                " AND r.bid_at BETWEEN l.opened_at - INTERVAL 15 SECOND"
                " AND l.opened_at + INTERVAL 40 SECOND"
            ).fetchall()
        )


WHOLE = "r.whole::HUGEINT - l.whole"
BANDS = {
    "integers": (hg.Band("whole", lower=-2, upper=3), f"{WHOLE} BETWEEN -2 AND 3"),
    "differences beyond 64 bits": (hg.Band("whole", lower=2**62), f"{WHOLE} >= {2**62}"),
    "no lower limit": (hg.Band("whole", upper=-1), f"{WHOLE} <= -1"),
    "broken limits on integers": (
        hg.Band("whole", lower=-1.5, upper=2.5),
        f"{WHOLE} BETWEEN -1 AND 2",
    ),
    "integers of two widths": (
        hg.Band(left="short", right="whole", lower=0, upper=100),
        "r.whole::HUGEINT - l.short BETWEEN 0 AND 100",
    ),
    "real numbers": (
        hg.Band("real", lower=-0.1, upper=0.2),
        "r.real - l.real BETWEEN -0.1::DOUBLE AND 0.2::DOUBLE",
    ),
    "real numbers with one limit": (
        hg.Band("real", upper=0.4),
        "r.real - l.real <= 0.4::DOUBLE",
    ),
    "real numbers without an upper limit": (
        hg.Band("real", lower=0.1),
        "r.real - l.real >= 0.1::DOUBLE",
    ),
    "an integer and a real number": (
        hg.Band(left="short", right="real", lower=-0.5, upper=1),
        "r.real - l.short BETWEEN -0.5::DOUBLE AND 1::DOUBLE",
    ),
    "decimals": (
        hg.Band("price", lower=decimal.Decimal("-0.01"), upper=3),
        "r.price - l.price BETWEEN -0.01 AND 3",
    ),
    "an integer and a decimal": (
        hg.Band(left="short", right="price", lower=0, upper=1.5),
        "r.price - l.short BETWEEN 0 AND 1.5",
    ),
    "a decimal and a real number": (
        hg.Band(left="price", right="real", lower=-0.5, upper=1),
        "r.real - l.price::DOUBLE BETWEEN -0.5::DOUBLE AND 1::DOUBLE",
    ),
    "decimals of two scales": (
        hg.Band(left="price", right="fine", lower=-0.0001, upper=1),
        "r.fine - l.price BETWEEN -0.0001 AND 1",
    ),
    "dates by days": (hg.Band("day", lower=-2, upper=1), "r.day - l.day BETWEEN -2 AND 1"),
    "dates by durations": (
        hg.Band("day", lower="-47 hours", upper="3 days"),
        "r.day - l.day BETWEEN -1 AND 3",
    ),
    "timestamps": (
        hg.Band("moment", lower="-1 microsecond", upper="1 second"),
        "r.moment BETWEEN l.moment - INTERVAL 1 MICROSECOND AND l.moment + INTERVAL 1 SECOND",
    ),
    "timestamps with a zone": (
        hg.Band("instant", lower=0, upper=datetime.timedelta(minutes=20)),
        "r.instant BETWEEN l.instant AND l.instant + INTERVAL 20 MINUTE",
    ),
    "the times themselves": (
        hg.Band(left="opened_at", right="bid_at", lower="5 seconds", upper="10 seconds"),
        "r.bid_at - l.opened_at BETWEEN INTERVAL 5 SECOND AND INTERVAL 10 SECOND",
    ),
}


@pytest.mark.parametrize("on", [None, "key"])
@pytest.mark.parametrize("case", BANDS)
def test_a_band_gives_what_sql_gives(case: str, on: str | None) -> None:
    where, condition = BANDS[case]
    wanted = in_duckdb(condition, on)
    assert wanted.total() > 20
    outcome = make_join(on=on, where=where).run(LEFT, RIGHT)
    assert numbers(outcome.pairs) == wanted
    assert outcome.recall == 1.0


@pytest.mark.parametrize("on", [None, "key"])
@pytest.mark.parametrize("op", ["<", "<=", "!=", ">=", ">"])
@pytest.mark.parametrize(
    "name", ["whole", "real", "price", "day", "moment", "text", "blob", "truth"]
)
def test_a_comparison_gives_what_sql_gives(name: str, op: str, on: str | None) -> None:
    wanted = in_duckdb(f"l.{name} {op} r.{name}", on)
    assert wanted.total() > 100
    assert numbers(make_join(on=on, where=hg.Compare(name, op)).run(LEFT, RIGHT).pairs) == wanted


@pytest.mark.parametrize("lower", [-3e-16, -1e-16, 0.0, 0.1, 0.30000000000000004])
def test_real_differences_are_rounded_as_sql_rounds_them(lower: float) -> None:
    rng = np.random.default_rng(5)
    tenths = rng.integers(-30, 30, (2, 300)) / 10 + rng.choice([0, 1e-16, -3e-16], (2, 300))
    left = pa.table({"x": tenths[0], "opened_at": [START] * 300, "left_id": np.arange(300)})
    right = pa.table({"y": tenths[1], "bid_at": [START] * 300, "right_id": np.arange(300)})
    where = hg.Band(left="x", right="y", lower=lower, upper=lower + 0.3)
    difference = tenths[1][None, :] - tenths[0][:, None]
    wanted = np.argwhere((difference >= lower) & (difference <= lower + 0.3)).tolist()
    got = numbers(make_join(where=where).run(left, right).pairs)
    assert got == Counter(tuple(pair) for pair in wanted)


@pytest.mark.parametrize("limit", [0.29, np.float64(0.29), decimal.Decimal("0.29")])
def test_limits_count_by_their_digits(limit: object) -> None:
    where = hg.Band("x", lower=-limit, upper=limit)  # type: ignore[operator]
    relation = Condition.of(where, (pa.decimal128(12, 2),) * 2).relation
    assert (relation.lower, relation.upper) == (-29, 29)
    real = Condition.of(where, (pa.float64(),) * 2).relation
    assert (real.lower, real.upper) == (-0.29, 0.29)


def test_limits_of_numpy_are_described_as_plain_ones() -> None:
    plain = hg.Band("x", lower=-1, upper=0.5)
    assert repr(hg.Band("x", lower=np.int64(-1), upper=np.float64(0.5))) == repr(plain)


def test_rows_that_can_match_nothing_are_counted_and_not_stored() -> None:
    outcome = make_join(on="key", where=hg.Band("real", upper=0)).run(LEFT, RIGHT)
    nulls = 0
    for table in (LEFT, RIGHT):
        rows = table.select(["key", "real"]).to_pylist()
        nulls += sum(None in row.values() or row["real"] != row["real"] for row in rows)
    assert outcome.stats.null_keys == nulls > 100
    assert outcome.stats.admitted + outcome.stats.unneeded == 2 * ROWS - nulls


def test_a_band_under_a_budget_loses_rows_and_invents_none() -> None:
    where = hg.Band("whole", lower=-2, upper=3)
    full = make_join(where=where).run(LEFT, RIGHT)
    lean = make_join(where=where, budget=hg.Budget(rows=20)).run(LEFT, RIGHT)
    assert lean.stats.peak_rows <= 20
    assert not numbers(lean.pairs) - numbers(full.pairs)
    assert lean.exact_pairs == full.pairs.num_rows > lean.pairs.num_rows > 0


def test_the_result_carries_the_columns_of_both_sides() -> None:
    where = hg.Band("whole", lower=0, upper=0)
    names = make_join(on="key", where=where).run(LEFT, RIGHT).pairs.column_names
    assert ("whole" in names, "whole_right" in names, "key_right" in names) == (True, True, False)


@pytest.mark.parametrize("cut", [64, 1 << 17])
def test_a_long_input_is_cut_without_loss(cut: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate.engine.replay.ROWS_AT_ONCE", cut)
    rng = np.random.default_rng(3)
    count = 6_000
    tables = []
    for time, number in (("opened_at", "left_id"), ("bid_at", "right_id")):
        at = np.datetime64(START) + np.sort(rng.integers(0, 6_000, count)).astype("m8[s]")
        # Beyond 2 ** 53, where a real number could not tell neighbours apart.
        value = 2**60 + rng.integers(0, 2_000, count)
        tables.append(pa.table({"x": value, time: at.astype("M8[us]"), number: np.arange(count)}))
    left, right = tables
    got = make_join(where=hg.Band("x", lower=-3, upper=5)).run(left, right)
    opened, bid = (t.column(1).cast(pa.int64()).to_numpy() for t in tables)
    x, y = (t.column(0).to_numpy() for t in tables)
    wanted = Counter()
    for i in range(count):
        later, apart = bid - opened[i], y - x[i]
        fits = (later >= -15_000_000) & (later <= 40_000_000) & (apart >= -3) & (apart <= 5)
        wanted.update((i, int(j)) for j in np.flatnonzero(fits))
    assert wanted.total() > 500
    assert numbers(got.pairs) == wanted


@pytest.mark.parametrize("places", [1, 63, 64, 65, 4096, 4097, 300_000])
def test_the_index_knows_who_is_stored(places: int) -> None:
    rng = np.random.default_rng(places)
    everything = Relation(Bound.NONE, Bound.NONE)
    zeros = np.zeros(places, np.int32)
    index = ranges.index_rows(everything, zeros, np.arange(places), zeros.astype(np.uint8), codes=1)
    assert index.rows.tolist() == list(range(places))
    stored = np.zeros(places, bool)
    for place in rng.integers(0, places, 200).tolist():
        (ranges.leave if stored[place] else ranges.enter)(index, place)
        stored[place] = ~stored[place]
        start = int(rng.integers(0, places))
        after = np.flatnonzero(stored[start:])
        end = int(rng.integers(start, places + 1))
        found = marks.next_taken(index.stored, start, end)
        if len(after) and start + after[0] < end:
            assert found == start + after[0]
        else:
            assert found >= end
        before = np.flatnonzero(stored[: start + 1])
        assert marks.last_taken(index.stored, start) == (before[-1] if len(before) else -1)
    for place in np.flatnonzero(stored).tolist():
        ranges.leave(index, place)
    assert not index.stored.words.any()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: hg.Band("x"), "a Band needs a limit: give lower="),
        (lambda: hg.Band(lower=1), "None is not a column name: give a Band one column, or both"),
        (lambda: hg.Band("x", right="y", lower=1), "either one column or left= and right="),
        (lambda: hg.Band(left="x", lower=1), "None is not a column name"),
        (lambda: hg.Band("x", lower=2, upper=1), "lower=2 is above upper=1"),
        (lambda: hg.Band("x", lower="2 seconds", upper="-1 day"), "is above upper='-1 day'"),
        (lambda: hg.Band("x", lower=True), "lower=True is not a limit: give a number"),
        (lambda: hg.Band("x", lower=[1]), r"lower=\[1\] is not a limit"),
        (lambda: hg.Band("x", upper=float("inf")), "upper=inf is not a finite limit: leave it out"),
        (lambda: hg.Band("x", upper=float("nan")), "upper=nan is not a finite limit"),
        (lambda: hg.Band("x", lower="5 secs"), 'lower "5 secs" is not a duration: write "5 sec'),
        (lambda: hg.Band("x", lower=1, upper="5 seconds"), "a number and a duration: give two of"),
        (lambda: hg.Compare("x", "~"), "op '~' is not a comparison: give one of \"<\""),
        (lambda: hg.Compare("x"), "op None is not a comparison"),
        (lambda: hg.Compare("x", "="), 'op "=" is equality: name the columns with on='),
        (lambda: hg.Compare(op="<"), "None is not a column name: give a Compare one column"),
        (lambda: make_join(), "a join needs keys: give on=.* without keys, give where="),
        (lambda: make_join(where="x < y"), "where='x < y' is not accepted: give one hg.Band"),
        (lambda: make_join(left_on="key", where=hg.Compare("x", "<")), "both left_on= and right"),
    ],
)
def test_a_predicate_that_cannot_be_served_is_refused(call: object, says: str) -> None:
    with pytest.raises(hg.SpecError, match=says):
        call()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("where", "says"),
    [
        (hg.Band("nothing", lower=0), 'the left side has no column "nothing": it has whole'),
        (hg.Compare(left="whole", right="no", op="<"), 'the right side has no column "no"'),
        (hg.Compare("list", "<"), 'column "list" of the left side is list<.*: bands and comp'),
        (hg.Band("text", lower=1), 'column "text" .string. has no differences for a Band to'),
        (hg.Compare(left="text", right="blob", op="<"), "cannot be compared: text and bytes are"),
        (hg.Compare("large", "<"), 'column "large" of the left side is uint64: bands'),
        (hg.Compare(left="whole", right="day", op="<"), r'"whole" \(int64\) and "day" \(date32'),
        (hg.Compare(left="moment", right="instant", op="<"), "cannot be compared: one tells mom"),
        (hg.Band(left="day", right="instant", lower=0), "cannot be compared: a date has a time"),
        (hg.Band("whole", lower="1 second"), 'Band of 0:00:01 does not fit column "whole"'),
        (hg.Band("moment", lower=1), 'limit of 1 does not fit column "moment" .*: give a dura'),
        (hg.Band("whole", lower=-(2**63)), "out of range for column"),
        (hg.Band("wide", lower=0), "need more than 18 digits together: cast them to a shorter"),
    ],
)
def test_columns_that_do_not_fit_are_named(where: object, says: str) -> None:
    more = {
        "list": pa.array([[1]] * ROWS),
        "large": pa.array([1] * ROWS, pa.uint64()),
        "wide": pa.array([decimal.Decimal(1)] * ROWS, pa.decimal128(20, 2)),
    }
    sides = [
        pa.table({**dict(zip(t.column_names, t.columns, strict=True)), **more})
        for t in (LEFT, RIGHT)
    ]
    with pytest.raises(hg.SpecError, match=says):
        make_join(where=where).run(*sides)


def test_a_policy_that_ranks_keys_needs_some() -> None:
    counted = hg.Frequencies.of_tables(LEFT, RIGHT, ["key"], ["key"])
    where = hg.Compare("whole", "<")
    with pytest.raises(hg.SpecError, match='policy "prob" ranks rows by their key, and this join'):
        make_join(where=where, policy="prob", frequencies=counted)
    make_join(on="key", where=where, policy="prob", frequencies=counted).run(LEFT, RIGHT)
