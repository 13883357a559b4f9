"""Makes keys of a stream and of a table comparable when their column types differ."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.columns.casting import cast_to
from headgate.columns.common_type import Unlike, common_type, family
from headgate.spec import Keys, SpecError


def compared_as(stream: pa.DataType, table: pa.DataType) -> pa.DataType:
    """The type in which keys of a stream and of a table are compared.

    The table is queried with keys of its own type. Integers of any width can be compared, and so
    can texts; otherwise the table's type must be the one to which Spark's own join would cast both,
    or `Unlike` is raised.

    Examples
    --------
    >>> compared_as(pa.int32(), pa.int64()), compared_as(pa.int64(), pa.float64())
    (DataType(int64), DataType(double))
    >>> compared_as(pa.float64(), pa.int64())
    Traceback (most recent call last):
    ...
    headgate.columns.common_type.Unlike: the table cannot be asked for keys of type double: cast \
the stream's column
    """
    asked, own = (
        kind.value_type if pa.types.is_dictionary(kind) else kind for kind in (stream, table)
    )
    if pa.types.is_nested(own):
        raise Unlike("databases cannot be asked for them: use columns of numbers, text or times")
    if asked == own:
        return own
    kind = common_type(asked, own)
    is_fixed = pa.types.is_fixed_size_binary(own)
    if kind != own and (is_fixed or family(kind) not in ("whole", "text", "bytes")):
        raise Unlike(f"the table cannot be asked for keys of type {kind}: cast the stream's column")
    return kind


def check_key_types(keys: Keys, stream: pa.Schema, table: pa.Schema) -> None:
    """Raise unless keys of the stream and of the table can be compared."""
    for theirs, mine in zip(keys.left, keys.right, strict=True):
        kinds = stream.field(mine).type, table.field(theirs).type
        try:
            compared_as(*kinds)
        except Unlike as error:
            raise SpecError(
                f'key columns differ in type: "{mine}" of the stream is {kinds[0]}, "{theirs}" of '
                f"the table is {kinds[1]}: {error}"
            ) from None


def comparable(table: pa.Table, names: Sequence[str], types: Sequence[pa.DataType]) -> pa.Table:
    """Cast key columns to the types in which they are compared."""
    columns = [cast_to(table.column(name), kind) for name, kind in zip(names, types, strict=True)]
    return pa.table(columns, names=[str(place) for place in range(len(columns))])


def as_table_keys(keys: pa.Table, schema: pa.Schema) -> tuple[pa.Table, np.ndarray]:
    """Convert keys to the names and types of the table's columns; also return which were kept.

    A number out of the column's range cannot be a key of the table, and is dropped.
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
