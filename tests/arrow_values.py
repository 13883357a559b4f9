"""Arrow types of every kind, and arrays of them with values of unlike sizes."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import strategies as st

LARGE_MEMBERS = 120
NULLS = 0.15

FLAT: dict[str, pa.DataType] = {
    "null": pa.null(),
    "bool": pa.bool_(),
    "int8": pa.int8(),
    "uint64": pa.uint64(),
    "float16": pa.float16(),
    "float64": pa.float64(),
    "decimal32": pa.decimal32(5, 2),
    "decimal256": pa.decimal256(40, 2),
    "date32": pa.date32(),
    "time64": pa.time64("us"),
    "timestamp": pa.timestamp("us", "UTC"),
    "duration": pa.duration("us"),
    "interval": pa.month_day_nano_interval(),
    "fixed_size_binary": pa.binary(5),
    "string": pa.string(),
    "large_string": pa.large_string(),
    "binary": pa.binary(),
    "large_binary": pa.large_binary(),
}
VIEWS: dict[str, pa.DataType] = {
    "string_view": pa.string_view(),
    "binary_view": pa.binary_view(),
    "list_view": pa.list_view(pa.int32()),
    "large_list_view": pa.large_list_view(pa.string()),
    "list_of_string_view": pa.list_(pa.string_view()),
    "struct_of_views": pa.struct([("a", pa.string_view()), ("b", pa.list_view(pa.binary_view()))]),
    "map_of_views": pa.map_(pa.string_view(), pa.string_view()),
    "fixed_size_list_of_views": pa.list_(pa.string_view(), 2),
    "dictionary_of_views": pa.dictionary(pa.int32(), pa.string_view()),
}
RUNS: dict[str, pa.DataType] = {
    "runs_of_numbers": pa.run_end_encoded(pa.int32(), pa.int64()),
    "runs_of_texts": pa.run_end_encoded(pa.int16(), pa.string()),
}
NESTED: dict[str, pa.DataType] = {
    "list": pa.list_(pa.int64()),
    "list_of_bool": pa.list_(pa.bool_()),
    "list_of_null": pa.list_(pa.null()),
    "list_of_string": pa.list_(pa.string()),
    "large_list": pa.large_list(pa.float32()),
    "large_list_of_lists": pa.large_list(pa.list_(pa.large_string())),
    "fixed_size_list": pa.list_(pa.int16(), 3),
    "fixed_size_list_of_string": pa.list_(pa.string(), 2),
    "fixed_size_list_of_lists": pa.list_(pa.list_(pa.int8()), 2),
    "struct": pa.struct([("a", pa.int32()), ("b", pa.bool_())]),
    "struct_of_lists": pa.struct(
        [("a", pa.list_(pa.string())), ("b", pa.struct([("c", pa.binary()), ("d", pa.null())]))]
    ),
    "list_of_structs": pa.list_(pa.struct([("a", pa.string()), ("b", pa.float64())])),
    "map": pa.map_(pa.string(), pa.int64()),
    "map_of_lists": pa.map_(pa.int32(), pa.list_(pa.string())),
}
SHARED: dict[str, pa.DataType] = {
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
    "dictionary_of_numbers": pa.dictionary(pa.int16(), pa.int64()),
    "ordered_dictionary": pa.dictionary(pa.uint16(), pa.large_string(), ordered=True),
}
OTHERS: dict[str, pa.DataType] = {
    "uuid": pa.uuid(),
    "json": pa.json_(),
    "extension_of_lists": pa.opaque(pa.list_(pa.string()), "lists", "tests"),
    "sparse_union": pa.sparse_union([pa.field("n", pa.int64()), pa.field("s", pa.string())]),
    "dense_union": pa.dense_union([pa.field("n", pa.int64()), pa.field("s", pa.string())]),
}
STORABLE = {**FLAT, **NESTED, **SHARED, **OTHERS}
"""Types in which rows are stored."""
KINDS = {**STORABLE, **VIEWS, **RUNS}


def nested_types() -> st.SearchStrategy[pa.DataType]:
    """Types within types."""
    flat = st.sampled_from([*FLAT.values(), pa.dictionary(pa.int32(), pa.string())])

    def around(inner: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
        return st.one_of(
            inner.map(pa.list_),
            inner.map(pa.large_list),
            inner.map(lambda kind: pa.list_(kind, 2)),
            inner.map(lambda kind: pa.map_(pa.string(), kind)),
            st.lists(inner, min_size=1, max_size=3).map(
                lambda kinds: pa.struct([(f"f{place}", kind) for place, kind in enumerate(kinds)])
            ),
        )

    return st.recursive(flat, around, max_leaves=5)


def make_array(kind: pa.DataType, rng: np.random.Generator, large: Sequence[bool]) -> pa.Array:
    """A value for each entry of ``large``, which says whether it is to be large; some are null."""
    count = len(large)
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, make_array(kind.storage_type, rng, large))
    if pa.types.is_run_end_encoded(kind):
        values = make_array(kind.value_type, rng, large)
        return pc.run_end_encode(values, run_end_type=kind.run_end_type)
    if pa.types.is_union(kind):
        return _make_union(kind, rng, large)
    if pa.types.is_dictionary(kind):
        given = make_array(kind.value_type, rng, large).to_pylist()
        values = pa.array([value for value in given if value is not None], kind.value_type)
        index = rng.integers(0, max(len(values), 1), count)
        mask = (rng.random(count) < NULLS) | (len(values) == 0)
        indices = pa.array(index, kind.index_type, mask=mask)
        return pa.DictionaryArray.from_arrays(indices, values, ordered=kind.ordered)
    return pa.array([_value(kind, rng, bool(big)) for big in large], kind)


def _make_union(kind: pa.DataType, rng: np.random.Generator, large: Sequence[bool]) -> pa.Array:
    codes = rng.integers(0, kind.num_fields, len(large)).astype(np.int8)
    members = [make_array(field.type, rng, large) for field in kind]
    names = [field.name for field in kind]
    if kind.mode == "sparse":
        return pa.UnionArray.from_sparse(pa.array(codes), members, names)
    offsets = pa.array(np.arange(len(large)), pa.int32())
    return pa.UnionArray.from_dense(pa.array(codes), offsets, members, names)


def _value(kind: pa.DataType, rng: np.random.Generator, large: bool) -> Any:
    types = pa.types
    if types.is_null(kind) or (not large and rng.random() < NULLS):
        return None
    members = int(rng.integers(LARGE_MEMBERS // 2, LARGE_MEMBERS) if large else rng.integers(4))
    if types.is_struct(kind):
        return {field.name: _value(field.type, rng, large) for field in kind}
    if types.is_map(kind):
        keys = {str(_value(kind.key_type, rng, False) or place) for place in range(members)}
        return [
            (key if _is_text(kind.key_type) else place, _value(kind.item_type, rng, False))
            for place, key in enumerate(sorted(keys))
        ]
    if types.is_fixed_size_list(kind):
        return [_value(kind.value_type, rng, large) for _ in range(kind.list_size)]
    if types.is_dictionary(kind):
        return _value(kind.value_type, rng, large)
    if types.is_nested(kind):
        return [_value(kind.value_type, rng, False) for _ in range(members)]
    if types.is_fixed_size_binary(kind):
        return bytes(rng.bytes(kind.byte_width))
    if _is_text(kind):
        return "é" * members
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind):
        return b"\x00" * members
    return _number(kind, int(rng.integers(100)))


def _number(kind: pa.DataType, number: int) -> Any:
    types = pa.types
    if types.is_boolean(kind):
        return number % 2 == 0
    if types.is_decimal(kind):
        return Decimal(number)
    if types.is_date(kind):
        return date(2026, 1, 1) + timedelta(days=number)
    if types.is_time(kind):
        return time(0, number % 60)
    if types.is_timestamp(kind):
        return datetime(2026, 1, 1, 0, number % 60, tzinfo=UTC)
    if types.is_duration(kind):
        return timedelta(seconds=number)
    if types.is_interval(kind):
        return pa.MonthDayNano([1, number, 0])
    return np.float16(number) if types.is_float16(kind) else number


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )
