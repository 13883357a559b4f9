"""Columns cast as Spark casts them for a comparison."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def cast_to(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """The column in a type that `common_type` chose for it.

    Whole numbers and decimals become the nearest real number; times lose what is below a
    microsecond, as they do on the way into Spark.

    Examples
    --------
    >>> large = pa.chunked_array([[9007199254740993, None]])
    >>> cast_to(large, pa.float64()).to_pylist()
    [9007199254740992.0, None]
    >>> nested = pa.chunked_array([[{"a": [1]}]])
    >>> cast_to(nested, pa.struct([("a", pa.list_(pa.float64()))])).to_pylist()
    [{'a': [1.0]}]
    """
    if column.type == kind:
        return column
    return pa.chunked_array([_cast(chunk, kind) for chunk in column.chunks], type=kind)


def struct_like(array: pa.Array, fields: list[pa.Array], names: list[str]) -> pa.Array:
    """A struct array that is null where another is, with these fields."""
    if not fields:
        return pa.array(
            [None if none else {} for none in array.is_null().to_pylist()], pa.struct([])
        )
    return pa.StructArray.from_arrays(fields, names=names, mask=array.is_null())


def list_like(array: pa.Array, values: pa.Array) -> pa.Array:
    """A list array with the lengths and nulls of another, over these values end to end."""
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    return pa.ListArray.from_arrays(
        pa.array(ends, pa.int32()),
        values,
        type=pa.list_(pa.field("element", values.type)),
        mask=array.is_null(),
    )


def _cast(array: pa.Array, kind: pa.DataType) -> pa.Array:
    own = array.type
    if own == kind:
        return array
    if pa.types.is_dictionary(own):
        return _cast(array.dictionary_decode(), kind)
    if pa.types.is_struct(kind) and pa.types.is_struct(own):
        fields = [
            _cast(field, wanted.type) for field, wanted in zip(array.flatten(), kind, strict=True)
        ]
        return struct_like(array, fields, [field.name for field in kind]).cast(kind)
    if pa.types.is_list(kind) and pa.types.is_nested(own):
        return list_like(array, _cast(array.flatten(), kind.value_type)).cast(kind)
    if pa.types.is_decimal(own) and pa.types.is_floating(kind):
        # By way of its digits: Arrow's own way multiplies, and rounds twice.
        return array.cast(pa.string()).cast(kind)
    options = pc.CastOptions(kind, allow_float_truncate=True, allow_time_truncate=True)
    return array.cast(options=options)
