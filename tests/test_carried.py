"""Columns of Arrow tables and pandas frames beside keys and times: carried, or refused."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import headgate as hg

ROWS = 6
TEXTS = ["a", None, "ccc" * 20, "", "ä€𝄞", "f"]
BYTES = [None if text is None else text.encode() for text in TEXTS]
LISTS = [[1], None, [], [2, 3], [4], [None]]
TIMES = pa.array(range(ROWS)).cast(pa.timestamp("s", "UTC"))
RUNS = pa.RunEndEncodedArray.from_arrays(pa.array([2, 6], pa.int32()), pa.array(["x", None]))
NEVER_NULL = pa.field("a", pa.int64(), nullable=False)
CARRIED = {
    "boolean": pa.array([True, None] * 3),
    "uint64": pa.array([2**64 - 1, None, 0, 1, 2, 3], pa.uint64()),
    "half float": pa.array([1.5] * ROWS, pa.float16()),
    "decimal32": pa.array([Decimal("-9.99")] * ROWS, pa.decimal32(3, 2)),
    "decimal256": pa.array([Decimal("9" * 76), None] * 3, pa.decimal256(76, 0)),
    "string": pa.array(TEXTS),
    "large string": pa.array(TEXTS, pa.large_string()),
    "string view": pa.array(TEXTS, pa.string_view()),
    "binary": pa.array(BYTES),
    "large binary": pa.array(BYTES, pa.large_binary()),
    "binary view": pa.array(BYTES, pa.binary_view()),
    "binary of a fixed size": pa.array([b"ab", None] * 3, pa.binary(2)),
    "dictionary": pa.array(TEXTS).dictionary_encode(),
    "dictionaries by chunk": pa.chunked_array(
        [pa.array(part).dictionary_encode() for part in (["a", "b"], ["c", None, "a", "d"])]
    ),
    "runs": RUNS,
    "runs of views": pa.RunEndEncodedArray.from_arrays(
        pa.array([1, 6], pa.int16()), pa.array(["x", None], pa.string_view())
    ),
    "date64": pa.array([dt.date(1, 1, 1), None] * 3, pa.date64()),
    "time32": pa.array([1, None] * 3, pa.time32("s")),
    "time64": pa.array([86_399_999_999_999, None] * 3, pa.time64("ns")),
    "timestamps in seconds": pa.array([-(2**62), None] * 3, pa.timestamp("s")),
    "timestamps in nanoseconds": pa.array([-(2**62), None] * 3, pa.timestamp("ns", "Asia/Tokyo")),
    "duration": pa.array([-(2**62), None] * 3, pa.duration("ns")),
    "months, days and nanoseconds": pa.array([pa.MonthDayNano([1, -2, 3]), None] * 3),
    "null": pa.nulls(ROWS),
    "list": pa.array(LISTS),
    "large list": pa.array(LISTS, pa.large_list(pa.int64())),
    "list of a fixed size": pa.array([[1, 2], None] * 3, pa.list_(pa.int64(), 2)),
    "list view": pa.array(LISTS, pa.list_view(pa.int64())),
    "large list view": pa.array(LISTS, pa.large_list_view(pa.int64())),
    "map": pa.array([[("a", 1)], None, []] * 2, pa.map_(pa.string(), pa.int64())),
    "struct": pa.array([{"a": 1, "b": [{"c": None}]}, None] * 3),
    "struct without fields": pa.array([{}, None] * 3, pa.struct([])),
    "struct of what is never null": pa.StructArray.from_arrays(
        [pa.array([1] * ROWS)], fields=[NEVER_NULL], mask=pa.array([False, True] * 3)
    ),
    "fields of one name": pa.StructArray.from_arrays([pa.array(range(ROWS))] * 2, ["a", "a"]),
    "list of views": pa.array([["a"], None] * 3, pa.list_(pa.string_view())),
    "struct of views": pa.array([{"a": b"x"}, None] * 3, pa.struct([("a", pa.binary_view())])),
    "struct of runs": pa.StructArray.from_arrays([RUNS], ["r"]),
    "uuid": pa.array([b"0123456789abcdef", None] * 3, pa.uuid()),
    "json": pa.array(["[1]", None] * 3, pa.json_()),
}
UNIONS = {
    "sparse union": pa.UnionArray.from_sparse(
        pa.array([0, 1] * 3, pa.int8()), [pa.array(range(ROWS)), pa.array(TEXTS)]
    ),
    "dense union": pa.UnionArray.from_dense(
        pa.array([0, 1] * 3, pa.int8()),
        pa.array([0, 0, 1, 1, 2, 2], pa.int32()),
        [pa.array(range(3)), pa.array(TEXTS[:3])],
    ),
}
PLAIN = {
    "string view": pa.large_string(),
    "binary view": pa.large_binary(),
    "runs": pa.string(),
    "runs of views": pa.large_string(),
    "list view": pa.list_(pa.int64()),
    "large list view": pa.large_list(pa.int64()),
    "list of views": pa.list_(pa.large_string()),
    "struct of views": pa.struct([("a", pa.large_binary())]),
    "struct of runs": pa.struct([("r", pa.string())]),
}
"""What comes out as another type of the same values."""


def make_join(**changed: object) -> hg.WindowJoin:
    return hg.WindowJoin(
        **{
            "on": "key",
            "left": hg.Side("at", "1 minute"),
            "right": hg.Side("then", "1 minute"),
            "budget": hg.Budget(rows=100),
            **changed,
        }
    )


def right_side() -> pa.Table:
    return pa.table({"key": range(ROWS), "then": TIMES})


def values(column: pa.ChunkedArray) -> pa.Array:
    """The column in one piece; dictionaries may list their values in another order."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return pa.concat_arrays(column.cast(kind).chunks)


def test_every_arrow_type_comes_out_as_it_went_in() -> None:
    left = pa.table({"key": range(ROWS), "at": TIMES, **CARRIED})
    pairs = make_join().run(left, right_side()).pairs
    assert pairs.column("key").to_pylist() == list(range(ROWS))
    for name, given in CARRIED.items():
        assert pairs.schema.field(name).type == PLAIN.get(name, given.type), name
        plain = left.column(name)
        if name in PLAIN:
            plain = pa.chunked_array([pa.array(given.to_pylist(), PLAIN[name])])
        assert values(pairs.column(name)).equals(values(plain)), name


def test_unions_come_out_as_they_went_in() -> None:
    left = pa.table({"key": range(ROWS), "at": TIMES, **UNIONS})
    pairs = make_join().run(left, right_side()).pairs
    for name in UNIONS:
        assert pairs.column(name).to_pylist() == left.column(name).to_pylist(), name


class Views(pa.ExtensionType):
    """Of texts in views."""

    def __init__(self) -> None:
        super().__init__(pa.string_view(), "headgate.tests.views")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""


def test_arrow_types_that_cannot_be_carried_are_refused_at_the_call() -> None:
    column = pa.ExtensionArray.from_storage(Views(), pa.array(["a"], pa.string_view()))
    says = r'column "odd" of the left side is extension<.*>, with string_view inside, which rows'
    left = pa.table({"key": [1], "at": TIMES[:1], "odd": column})
    sides = {"left": hg.Side("at", "1 minute"), "right": hg.Side("then", "1 minute")}
    lookup = hg.CachedLookup(on="key", table=hg.ArrowTable(right_side()), budget=hg.Budget(rows=5))
    for call in (
        lambda: make_join().run(left, right_side()),
        lambda: hg.profile(left, right_side(), on="key", **sides),
        lambda: hg.whatif(left, right_side(), join=make_join()),
    ):
        with pytest.raises(hg.SpecError, match=says):
            call()
    with pytest.raises(hg.SpecError, match=says.replace("left side", "stream side")):
        lookup.run(left)
    with pytest.raises(hg.SpecError, match=says.replace("the left side", "an Arrow table.*")):
        hg.ArrowTable(left)


class TestNames:
    def test_columns_of_the_same_name_are_refused(self) -> None:
        twice = pa.table([range(ROWS), TIMES, range(ROWS), range(ROWS)], ["key", "at", "n", "n"])
        sides = {"left": hg.Side("at", "1 minute"), "right": hg.Side("then", "1 minute")}
        says = "the left side has several columns named n: rename them first"
        with pytest.raises(hg.SpecError, match=says):
            make_join().run(twice, right_side())
        with pytest.raises(hg.SpecError, match=says):
            hg.profile(twice, right_side(), on="key", **sides)
        with pytest.raises(hg.SpecError, match=says):
            hg.whatif(twice, right_side(), join=make_join())
        with pytest.raises(hg.SpecError, match="several columns named n"):
            hg.ArrowTable(twice)
        frame = pd.DataFrame(
            [[1, pd.Timestamp(0, tz="UTC"), 2, 3]], columns=["key", "at", "n", "n"]
        )
        with pytest.raises(hg.SpecError, match=r"left side cannot be read as a table: Duplicate"):
            make_join().run(frame, right_side())

    def test_a_frame_that_arrow_cannot_read_is_refused_in_a_sentence(self) -> None:
        mixed = pd.DataFrame({"key": [1, 2], "at": TIMES[:2].to_pandas(), "odd": [1, "a"]})
        with pytest.raises(hg.SpecError, match=r"right side cannot be read as a table: .*odd"):
            make_join(right=hg.Side("at", "1 minute")).run(
                right_side().rename_columns(["key", "at"]), mixed
            )

    def test_names_of_any_kind_and_of_our_own_come_through(self) -> None:
        names = ["a.b", "x`y", "", " ", "__headgate_time", "__headgate_weight", "left", "key "]
        left = pa.table({"key": range(ROWS), "at": TIMES, **{name: range(ROWS) for name in names}})
        pairs = make_join().run(left, right_side()).pairs
        assert pairs.column_names == ["key", "at", *names, "then"]
        assert all(pairs.column(name).to_pylist() == list(range(ROWS)) for name in names)

    def test_names_that_differ_by_case_alone_get_the_suffix(self) -> None:
        left = pa.table({"key": range(ROWS), "at": TIMES, "note": range(ROWS)})
        right = right_side().append_column("Note", [range(ROWS)])
        assert make_join().run(left, right).pairs.column_names[-1] == "Note_right"
        table = hg.ArrowTable(pa.table({"key": range(ROWS), "NOTE": range(ROWS)}))
        lookup = hg.CachedLookup(on="key", table=table, budget=hg.Budget(rows=9))
        assert lookup.run(left).rows.column_names[-1] == "NOTE_table"
        wrong = hg.CachedLookup(
            stream_on="Key", table_on="key", table=table, budget=hg.Budget(rows=9)
        )
        with pytest.raises(hg.SpecError, match=r"stream has no column \"Key\".*case matter"):
            wrong.run(left)


class TestTimesOfLongAgo:
    """And of times far ahead: Python's own end with the years 1 and 9999."""

    @pytest.mark.parametrize("start", [-62_200_000_000, 300_000_000_000], ids=["-2", "11476"])
    def test_they_are_joined_and_told(self, start: int) -> None:
        times = pa.array(range(start, start + ROWS)).cast(pa.timestamp("s", "UTC"))
        left = pa.table({"key": range(ROWS), "at": times})
        right = pa.table({"key": range(ROWS), "then": times})
        assert make_join().run(left, right).stats.pairs == ROWS
        sides = {"left": hg.Side("at", "1 minute"), "right": hg.Side("then", "1 minute")}
        said = str(hg.profile(left, right, on="key", **sides))
        assert f"from {np.datetime64(start, 's')}".replace("T", " ") in said

    @pytest.mark.parametrize("micros", [-(2**62), 2**62])
    def test_those_that_cannot_be_counted_with_are_refused(self, micros: int) -> None:
        times = pa.array([micros] * ROWS).cast(pa.timestamp("us", "UTC"))
        left = pa.table({"key": range(ROWS), "at": times})
        with pytest.raises(
            hg.SpecError, match=r'"at" of the left side has times more than 36,000 years'
        ):
            make_join().run(left, right_side())
