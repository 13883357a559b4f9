"""Converts columns to types that Arrow can take rows from: no views, no run-end encoding."""

import numpy as np
import pyarrow as pa


def plain(table: pa.Table) -> pa.Table:
    """The table with views and run-end encoding expanded, and no dictionaries in nested values.

    Arrow picks no rows from texts in views or from runs, and what it picks from list views keeps
    all members alive. A column that is dictionary-encoded as a whole stays so; unions and
    extension types stay as they are.

    Examples
    --------
    >>> plain(pa.table({"s": pa.array(["a", None], pa.string_view())})).schema
    s: large_string
    """
    for place, field in enumerate(table.schema):
        kind = _plain_column_type(field.type)
        if kind != field.type:
            chunks = [_plain_column(chunk) for chunk in table.column(place).chunks]
            column = pa.chunked_array(chunks, kind)
            table = table.set_column(place, field.with_type(kind), column)
    return table


def no_rows(schema: pa.Schema) -> pa.Table:
    """A table without rows, also of types of which Arrow makes no empty array."""
    return pa.Table.from_batches([], schema)


def _plain_column_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _plain_type(kind.value_type), kind.ordered)
    return _plain_type(kind)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    types = pa.types
    if types.is_string_view(kind):
        return pa.large_string()
    if types.is_binary_view(kind):
        return pa.large_binary()
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return _plain_type(kind.value_type)
    if types.is_struct(kind):
        return pa.struct([_plain_field(field) for field in kind])
    if types.is_map(kind):
        key, item = _plain_field(kind.key_field), _plain_field(kind.item_field)
        return pa.map_(key, item, keys_sorted=kind.keys_sorted)
    if types.is_fixed_size_list(kind):
        return pa.list_(_plain_field(kind.value_field), kind.list_size)
    if types.is_list(kind) or types.is_list_view(kind):
        return pa.list_(_plain_field(kind.value_field))
    if types.is_large_list(kind) or types.is_large_list_view(kind):
        return pa.large_list(_plain_field(kind.value_field))
    return kind


def _plain_field(field: pa.Field) -> pa.Field:
    return field.with_type(_plain_type(field.type))


def _plain_column(array: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(array.type):
        values, ordered = _plain(array.dictionary), array.type.ordered
        return pa.DictionaryArray.from_arrays(array.indices, values, ordered=ordered)
    return _plain(array)


def _plain(array: pa.Array) -> pa.Array:
    kind, types = _plain_type(array.type), pa.types
    if kind == array.type:
        return array
    if types.is_dictionary(array.type):
        return _plain(array.dictionary).take(array.indices)
    if types.is_run_end_encoded(array.type):
        return _unrolled(array)
    if types.is_struct(kind):
        members = [_plain(array.field(place)) for place in range(kind.num_fields)]
        return pa.StructArray.from_arrays(members, fields=list(kind), mask=array.is_null())
    if types.is_fixed_size_list(kind):
        first, count = array.offset * kind.list_size, len(array) * kind.list_size
        members = _plain(array.values.slice(first, count))
        return pa.FixedSizeListArray.from_arrays(members, type=kind, mask=array.is_null())
    if types.is_nested(kind):
        return _plain_list(array, kind)
    return array.cast(kind)


def _unrolled(runs: pa.RunEndEncodedArray) -> pa.Array:
    """Run-end encoding expanded; Arrow cannot decode it for nested values or views."""
    rows = np.arange(runs.offset, runs.offset + len(runs))
    run = np.searchsorted(runs.run_ends.to_numpy(), rows, side="right")
    return _plain(runs.values).take(pa.array(run))


def _plain_list(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Lists and maps, their members one after the other."""
    nulls = array.is_null()
    if pa.types.is_list_view(array.type) or pa.types.is_large_list_view(array.type):
        lengths = np.where(nulls, 0, array.sizes)
        ends, members = np.concatenate([[0], np.cumsum(lengths)]), array.flatten()
    else:
        ends = np.asarray(array.offsets)
        members = array.values.slice(ends[0], ends[-1] - ends[0])
        ends = ends - ends[0]
    members = _plain(members)
    if pa.types.is_large_list(kind):
        return pa.LargeListArray.from_arrays(pa.array(ends), members, type=kind, mask=nulls)
    offsets = pa.array(ends, pa.int32())
    if pa.types.is_map(kind):
        key, item = members.field(0), members.field(1)
        return pa.MapArray.from_arrays(offsets, key, item, type=kind, mask=nulls)
    return pa.ListArray.from_arrays(offsets, members, type=kind, mask=nulls)
