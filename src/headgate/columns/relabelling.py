"""Puts rows under another schema of the same layout: new names and time zones, same bytes."""

from typing import Any

import pyarrow as pa


class _Relabelled:
    """A record batch that reports another schema."""

    def __init__(self, batch: pa.RecordBatch, schema: pa.Schema) -> None:
        self._batch, self._schema = batch, schema

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        return self._schema.__arrow_c_schema__(), self._batch.__arrow_c_array__()[1]


def relabelled(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table with a schema, column by column, whatever its own names are.

    Arrow's cast does not do here: it refuses a null struct whose fields may not be null, even where
    types are the same. Columns of another layout are cast.

    Examples
    --------
    >>> kind = pa.struct([pa.field("at", pa.timestamp("us", "UTC"), nullable=False)])
    >>> local = pa.struct([pa.field("at", pa.timestamp("us", "Europe/Berlin"), nullable=False)])
    >>> table = pa.table({"c0": pa.array([None, {"at": 0}], local)})
    >>> print(relabelled(table, pa.schema([("event", kind)])).schema)
    event: struct<at: timestamp[us, tz=UTC] not null>
      child 0, at: timestamp[us, tz=UTC] not null
    """
    for place, field in enumerate(schema):
        column = table.column(place)
        if not _same_layout(column.type, field.type):
            table = table.set_column(place, field, column.cast(field.type))
    batches = [pa.record_batch(_Relabelled(batch, schema)) for batch in table.to_batches()]
    return pa.Table.from_batches(batches, schema)


def _same_layout(one: pa.DataType, other: pa.DataType) -> bool:
    if one == other:
        return True
    if pa.types.is_timestamp(one) and pa.types.is_timestamp(other):
        return bool(one.unit == other.unit)
    nested = (pa.types.is_struct, pa.types.is_list, pa.types.is_map)
    return any(test(one) and test(other) for test in nested) and (
        one.num_fields == other.num_fields
        and all(
            _same_layout(one.field(place).type, other.field(place).type)
            for place in range(one.num_fields)
        )
    )
