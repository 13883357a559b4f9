"""Maps PostgreSQL's column types to Arrow's."""

import pyarrow as pa

_TYPES = {
    "smallint": pa.int16(),
    "integer": pa.int32(),
    "bigint": pa.int64(),
    "real": pa.float32(),
    "double precision": pa.float64(),
    "boolean": pa.bool_(),
    "text": pa.string(),
    "character varying": pa.string(),
    "bytea": pa.binary(),
    "date": pa.date32(),
    "timestamp without time zone": pa.timestamp("us"),
    "timestamp with time zone": pa.timestamp("us", "UTC"),
}
MOST_DIGITS = 38


def arrow_type(name: str, precision: int | None, scale: int | None) -> pa.DataType:
    """The Arrow type of a column; text, as the server prints it, if Arrow has no such type.

    Numerics of unlimited precision are text too: no fixed-size type holds them all.

    Examples
    --------
    >>> arrow_type("integer", None, None), arrow_type("numeric", 10, 2)
    (DataType(int32), Decimal128Type(decimal128(10, 2)))
    >>> arrow_type("uuid", None, None)
    DataType(string)
    """
    if name == "numeric" and precision is not None and precision <= MOST_DIGITS:
        return pa.decimal128(precision, scale or 0)
    return _TYPES.get(name, pa.string())
