"""Keys of a stream and of a table on one scale, though their columns may differ in width."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.spec import Keys, SpecError


def compared_as(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """The type in which values of two columns are compared; None where that makes no sense.

    Whole numbers of any width are compared by value, and so are texts.

    Examples
    --------
    >>> compared_as(pa.int32(), pa.int64()), compared_as(pa.int64(), pa.string())
    (DataType(int64), None)
    """
    one, other = _plain(one), _plain(other)
    if pa.types.is_nested(one) or pa.types.is_nested(other):
        return None
    if one == other:
        return one
    if pa.types.is_integer(one) and pa.types.is_integer(other):
        return None if pa.uint64() in (one, other) else pa.int64()
    if _is_text(one) and _is_text(other):
        return pa.large_string()
    if _is_bytes(one) and _is_bytes(other):
        return pa.large_binary()
    return None


def check_key_types(keys: Keys, stream: pa.Schema, table: pa.Schema) -> None:
    """Raise unless keys of the stream and of the table can be compared."""
    for theirs, mine in zip(keys.left, keys.right, strict=True):
        kinds = stream.field(mine).type, table.field(theirs).type
        if compared_as(*kinds) is None:
            raise SpecError(
                f'key columns differ in type: "{mine}" of the stream is {kinds[0]}, "{theirs}" of '
                f"the table is {kinds[1]}: cast one of them, so that equal values are equal"
            )


def comparable(table: pa.Table, names: Sequence[str], other: Sequence[pa.DataType]) -> pa.Table:
    """Key columns in the types in which they are compared with columns of the ``other`` types."""
    columns = []
    for name, kind in zip(names, other, strict=True):
        column = table.column(name)
        columns.append(column.cast(compared_as(column.type, kind) or column.type))
    return pa.table(columns, names=[str(place) for place in range(len(columns))])


def as_table_keys(keys: pa.Table, schema: pa.Schema) -> tuple[pa.Table, np.ndarray]:
    """Keys under the names and types of the table's columns, and which of them these are.

    A number that its column cannot hold is no key of the table, and is left out.
    """
    fits = np.ones(keys.num_rows, bool)
    for column, field in zip(keys.columns, schema, strict=True):
        if pa.types.is_integer(field.type) and column.type != field.type:
            limits = np.iinfo(field.type.to_pandas_dtype())
            inside = pc.and_(
                pc.greater_equal(column, int(limits.min)),
                pc.less_equal(column, min(int(limits.max), 2**63 - 1)),
            )
            fits &= inside.to_numpy()
    kept = keys.filter(pa.array(fits)).rename_columns(schema.names)
    return kept.cast(schema), np.flatnonzero(fits)


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind)
    )
