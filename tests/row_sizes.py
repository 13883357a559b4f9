"""Bytes of rows value by value, in plain Python: the twin of `headgate.columns.row_sizes`."""

from collections.abc import Iterator

import pyarrow as pa

from headgate.columns.row_sizes import BOOKKEEPING_BYTES

TEXT_OFFSETS = {
    pa.string(): 32,
    pa.binary(): 32,
    pa.large_string(): 64,
    pa.large_binary(): 64,
}


def plain_row_bytes(table: pa.Table) -> list[int]:
    """What `row_bytes` must say of a table."""
    total = [8 * BOOKKEEPING_BYTES] * table.num_rows
    for column in table.columns:
        values = [(chunk, row) for chunk in column.chunks for row in range(len(chunk))]
        total = [so_far + value_bits(*value) for so_far, value in zip(total, values, strict=True)]
    return [-(-bits // 8) for bits in total]


def most_bytes(table: pa.Table) -> int:
    """What the buffers of a table may take by the rule: its rows, and 8 bytes for each of them."""
    rows = sum(plain_row_bytes(table)) - BOOKKEEPING_BYTES * table.num_rows
    chunks = [chunk for column in table.columns for chunk in column.chunks]
    return rows + 8 * sum(1 for chunk in chunks for _ in _buffers(chunk))


def _buffers(array: pa.Array) -> Iterator[pa.Buffer]:
    """All buffers of an array, those of a dictionary too."""
    yield from (buffer for buffer in array.buffers() if buffer is not None)
    if pa.types.is_dictionary(array.type):
        yield from _buffers(array.dictionary)


def value_bits(array: pa.Array, row: int) -> int:
    """Bits of one value of an array, the one for its validity among them."""
    kind, types = array.type, pa.types
    if types.is_null(kind):
        return 0
    if isinstance(kind, pa.BaseExtensionType):
        return value_bits(array.storage, row)
    if types.is_dictionary(kind):
        index = array.indices[row].as_py()
        values = pa.nulls(1, kind.value_type) if index is None else array.dictionary
        return int(kind.index_type.bit_width) + value_bits(values, index or 0)
    if types.is_run_end_encoded(kind):
        run = next(
            run for run, end in enumerate(array.run_ends.to_pylist()) if end > array.offset + row
        )
        return int(kind.run_end_type.bit_width) + value_bits(array.values, run)
    if types.is_struct(kind):
        return 1 + sum(value_bits(array.field(i), row) for i in range(kind.num_fields))
    if types.is_union(kind):
        return _union_bits(array, row)
    if types.is_nested(kind):
        return _list_bits(array, row)
    return 1 + _flat_bits(array, row)


def _list_bits(array: pa.Array, row: int) -> int:
    kind, types = array.type, pa.types
    own, members = 33, array[row].values if array[row].is_valid else None
    if types.is_fixed_size_list(kind):
        own, members = 1, pa.nulls(kind.list_size, kind.value_type) if members is None else members
    elif types.is_large_list(kind) or types.is_list_view(kind):
        own = 65
    elif types.is_large_list_view(kind):
        own = 129
    return own + sum(value_bits(members, place) for place in range(len(members or ())))


def _union_bits(array: pa.Array, row: int) -> int:
    members = [array.field(place) for place in range(array.type.num_fields)]
    if array.type.mode == "sparse":
        return 8 + sum(value_bits(member, row) for member in members)
    code = pa.concat_arrays([array.slice(row, 1)]).type_codes[0].as_py()
    member = members[array.type.type_codes.index(code)].type
    return 8 + 32 + value_bits(pa.array([array[row].as_py()], member), 0)


def _flat_bits(array: pa.Array, row: int) -> int:
    kind = array.type
    view = pa.types.is_string_view(kind) or pa.types.is_binary_view(kind)
    if not view and kind not in TEXT_OFFSETS:
        return int(kind.bit_width)
    value = array[row].as_py() or b""
    length = len(value.encode() if isinstance(value, str) else value)
    if view:
        return 128 + (8 * length if length > 12 else 0)
    return TEXT_OFFSETS[kind] + 8 * length
