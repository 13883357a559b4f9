"""Bytes that a stored row takes in memory: its payload and per-row bookkeeping."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

BOOKKEEPING_BYTES = 64
"""Per stored row: time, sequence, weight and history as kept in state (36 bytes), and the key
chain, expiry and ranking entries of a running step (28 bytes or less). Under a band or
comparison an ordered index stands in for the chain; its 12 bytes more are not counted here."""

_VALIDITY = 1
_INLINE_BYTES = 12
"""Texts up to this long lie within their view."""

_NO_BITS = np.empty(0, np.int64)


def row_bytes(table: pa.Table) -> np.ndarray:
    """Bytes each row of a table takes when stored.

    The size of a row is a function of its types and values alone. It does not depend on the rows
    beside it, on slices, on chunks, or on what a buffer holds for other rows:

    - every value takes a bit that says whether it is null, whether or not there are nulls;
    - a number, time, decimal or fixed-size binary takes its width, a boolean a bit;
    - a text, binary, list or map takes an offset (4 bytes, 8 if large) and its bytes or members, a
      list view two of them; a text in a view takes 16 bytes, and its own where it has more than 12;
    - a struct or fixed-size list takes its members, also where it is null;
    - a dictionary-encoded value takes its index and the value itself, as if no row shared it: an
      upper bound, whichever rows are kept together;
    - a run-end encoded value is a run of its own; a union takes a type code and its member (each of
      them if sparse, an offset more if dense); an extension type is what it is stored as.

    The bits are summed over all columns, then rounded up to bytes. So the bytes of a table that
    holds these rows and no others (`compacted`) are at most their sum and, for each of its
    buffers, 8 bytes: the offset after the last value, and the last byte of a bitmap.

    Examples
    --------
    >>> row_bytes(pa.table({"k": pa.array([1, 2]), "s": ["", "abc"]})).tolist()
    [77, 80]
    >>> row_bytes(pa.table({"many": [[1, 2, 3], [], None]})).tolist()
    [93, 69, 69]
    """
    fixed = 8 * BOOKKEEPING_BYTES
    lengths, nested = [], []
    for column in table.columns:
        bits = _fixed_bits(column.type)
        if bits is not None:
            fixed += bits
        elif _is_text(column.type):
            # All chunks at once: a side may be stored in many.
            fixed += _offset_bits(column.type) + _VALIDITY
            lengths.append(_text_lengths(column))
        else:
            nested.append(np.concatenate([_NO_BITS, *map(_bits, column.chunks)]))
    total = np.full(table.num_rows, fixed + 7, np.int64)
    for column_bits in nested:
        total += column_bits
    total >>= 3
    for length in lengths:
        total += length
    return total


def fixed_bytes(kind: pa.DataType) -> bool:
    """Whether all values of a type take as much."""
    return _fixed_bits(kind) is not None


def _fixed_bits(kind: pa.DataType) -> int | None:
    """What every value of a type takes; None where values differ."""
    if pa.types.is_primitive(kind) or pa.types.is_decimal(kind):
        return int(kind.bit_width) + _VALIDITY
    if _is_text(kind):
        return None
    if pa.types.is_fixed_size_binary(kind) or pa.types.is_interval(kind):
        return int(kind.bit_width) + _VALIDITY
    if pa.types.is_null(kind):
        return 0
    if isinstance(kind, pa.BaseExtensionType):
        return _fixed_bits(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return _fixed_sum(kind.index_type.bit_width, [kind.value_type])
    if pa.types.is_run_end_encoded(kind):
        return _fixed_sum(kind.run_end_type.bit_width, [kind.value_type])
    if pa.types.is_fixed_size_list(kind):
        member = _fixed_bits(kind.value_type)
        return None if member is None else _VALIDITY + kind.list_size * member
    if pa.types.is_struct(kind):
        return _fixed_sum(_VALIDITY, [field.type for field in kind])
    return None


def _fixed_sum(own: int, members: list[pa.DataType]) -> int | None:
    bits = [_fixed_bits(member) for member in members]
    return None if None in bits else own + sum(member or 0 for member in bits)


def _bits(array: pa.Array) -> np.ndarray:
    """Bits of each value."""
    kind = array.type
    fixed = _fixed_bits(kind)
    if fixed is not None:
        return np.full(len(array), fixed, np.int64)
    if _is_text(kind):
        return _text_bits(array)
    for is_such, count in _COUNTS:
        if is_such(kind):
            return count(array)
    raise TypeError(f"no rule for the size of {kind}")


def _text_bits(array: pa.Array) -> np.ndarray:
    return 8 * _text_lengths(array).astype(np.int64) + (_offset_bits(array.type) + _VALIDITY)


def _text_lengths(values: "pa.Array | pa.ChunkedArray") -> np.ndarray:
    lengths = pc.binary_length(values)
    if lengths.null_count:
        lengths = pc.fill_null(lengths, 0)
    in_bytes: np.ndarray = lengths.to_numpy()
    return in_bytes


def _view_bits(array: pa.Array) -> np.ndarray:
    views = np.frombuffer(array.buffers()[1], np.int32) if len(array) else np.empty(0, np.int32)
    length = views[4 * array.offset :: 4][: len(array)].astype(np.int64)
    length[(length <= _INLINE_BYTES) | _nulls(array)] = 0
    return 8 * length + 128 + _VALIDITY


def _list_bits(array: pa.Array) -> np.ndarray:
    """Of lists and maps, whose members lie in order."""
    offsets = np.asarray(array.offsets, np.int64)
    return _members_bits(array, offsets[:-1], np.diff(offsets)) + (
        _offset_bits(array.type) + _VALIDITY
    )


def _list_view_bits(array: pa.Array) -> np.ndarray:
    first, length = np.asarray(array.offsets, np.int64), np.asarray(array.sizes, np.int64)
    return _members_bits(array, first, length) + (2 * _offset_bits(array.type) + _VALIDITY)


def _members_bits(array: pa.Array, first: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Bits of all members of each list. Under a null there are none, whatever its offsets say."""
    length = np.where(_nulls(array), 0, length)
    member = _fixed_bits(array.values.type)
    if member is not None:
        return length * member
    first = np.where(length > 0, first, 0)
    if not length.any():
        return length
    start, end = int(first[length > 0].min()), int((first + length).max())
    before = np.zeros(end - start + 1, np.int64)
    np.cumsum(_bits(array.values.slice(start, end - start)), out=before[1:])
    first = np.where(length > 0, first - start, 0)
    sums: np.ndarray = before[first + length] - before[first]
    return sums


def _struct_bits(array: pa.Array) -> np.ndarray:
    bits = np.full(len(array), _VALIDITY, np.int64)
    for place in range(array.type.num_fields):
        bits += _bits(array.field(place))
    return bits


def _fixed_size_list_bits(array: pa.Array) -> np.ndarray:
    size, kind = array.type.list_size, array.type.value_type
    members = _bits(array.values.slice(array.offset * size, len(array) * size))
    bits: np.ndarray = members.reshape(len(array), size).sum(axis=1)
    bits[_nulls(array)] = size * _null_bits(kind)
    return bits + _VALIDITY


def _dictionary_bits(array: pa.Array) -> np.ndarray:
    values = np.append(_bits(array.dictionary), _null_bits(array.type.value_type))
    indices = array.indices.cast(pa.int64())
    if indices.null_count:
        indices = pc.fill_null(indices, len(values) - 1)
    bits: np.ndarray = values[np.asarray(indices)] + int(array.type.index_type.bit_width)
    return bits


def _run_end_bits(array: pa.Array) -> np.ndarray:
    ends = np.asarray(array.run_ends, np.int64)
    run = np.searchsorted(ends, array.offset + np.arange(len(array)), side="right")
    bits: np.ndarray = _bits(array.values)[run] + int(array.type.run_end_type.bit_width)
    return bits


def _union_bits(array: pa.Array) -> np.ndarray:
    """From the buffers: the type codes and offsets that Arrow gives of a slice are not its own."""
    dense, mine = array.type.mode == "dense", slice(array.offset, array.offset + len(array))
    bits = np.full(len(array), 8 + 32 * dense, np.int64)
    if not len(array):
        return bits
    buffers = array.buffers()
    code = np.frombuffer(buffers[1], np.int8)[mine]
    for place, of_member in enumerate(array.type.type_codes):
        members = _bits(array.field(place))
        if dense:
            chosen = code == of_member
            bits[chosen] += members[np.frombuffer(buffers[2], np.int32)[mine][chosen]]
        else:
            bits += members
    return bits


def _null_bits(kind: pa.DataType) -> int:
    """What a null of a type takes."""
    return int(_bits(pa.nulls(1, kind))[0])


def _nulls(array: pa.Array) -> np.ndarray:
    if not array.null_count:
        return np.zeros(len(array), bool)
    nulls: np.ndarray = array.is_null().to_numpy(zero_copy_only=False)
    return nulls


def _offset_bits(kind: pa.DataType) -> int:
    large = (
        pa.types.is_large_string(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_large_list(kind)
        or pa.types.is_large_list_view(kind)
    )
    return 64 if large else 32


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_large_binary(kind)
    )


def _is_view(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string_view(kind) or pa.types.is_binary_view(kind))


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind))


def _is_list_view(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind))


def _is_extension(kind: pa.DataType) -> bool:
    return isinstance(kind, pa.BaseExtensionType)


_COUNTS = (
    (_is_list, _list_bits),
    (pa.types.is_struct, _struct_bits),
    (pa.types.is_fixed_size_list, _fixed_size_list_bits),
    (pa.types.is_dictionary, _dictionary_bits),
    (_is_extension, lambda array: _bits(array.storage)),
    (_is_view, _view_bits),
    (_is_list_view, _list_view_bits),
    (pa.types.is_union, _union_bits),
    (pa.types.is_run_end_encoded, _run_end_bits),
)
