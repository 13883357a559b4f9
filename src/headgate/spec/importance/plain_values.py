"""Values that a user gives for comparison with a column: categories and histogram edges."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np
import pyarrow as pa

from headgate.spec.bounded_json import MOST_DIGITS, shortened
from headgate.spec.errors import SpecError

TEXT, BYTES, BOOLEAN, NUMBER = "text", "bytes", "a boolean", "a number"
DATE, TIME, ZONED_TIME = "a date", "a timestamp without a zone", "a timestamp with a zone"


def plain_value(given: Any) -> Any:
    """The value as plain Python: without NumPy and pandas, times with a zone in UTC.

    Equal specifications then compare equal and serialise alike, however they were given.

    Examples
    --------
    >>> plain_value(np.int64(3)), plain_value(np.str_("a"))
    (3, 'a')
    """
    if isinstance(given, np.datetime64):
        given = pa.scalar(given).cast(pa.timestamp("us")).as_py()
    elif isinstance(given, np.generic):
        given = given.item()
    if isinstance(given, datetime):
        if hasattr(given, "to_pydatetime"):
            given = given.to_pydatetime(warn=False)
        return given if given.tzinfo is None else _in_utc(given)
    if isinstance(given, Decimal):
        return _bounded(given)
    if isinstance(given, bool | str | bytes):
        return given
    if isinstance(given, Integral):
        return int(given)
    return float(given) if isinstance(given, Real) else given


def _in_utc(given: datetime) -> datetime:
    try:
        return given.astimezone(UTC)
    except OverflowError as error:
        raise SpecError(
            f"{given.isoformat()} is not between the years 1 and 9999 in UTC"
        ) from error


def _bounded(given: Decimal) -> Decimal:
    """The number, if a column could hold it: one with a huge exponent takes forever to compute."""
    if given.is_nan():
        return Decimal("NaN")  # a signalling one cannot even be compared
    if given.is_finite() and (
        abs(given.adjusted()) > MOST_DIGITS or len(given.as_tuple().digits) > MOST_DIGITS
    ):
        raise SpecError(
            f"{shortened(given)} has more than {MOST_DIGITS} digits, which no column holds"
        )
    return given


def family_of(value: object) -> str | None:
    """What kind of value it is, of those that can be compared with a column.

    Examples
    --------
    >>> family_of("a"), family_of(True), family_of(date(2026, 1, 1)), family_of(None)
    ('text', 'a boolean', 'a date', None)
    """
    if isinstance(value, datetime):
        return TIME if value.tzinfo is None else ZONED_TIME
    kinds = {
        str: TEXT,
        bytes: BYTES,
        bool: BOOLEAN,
        int: NUMBER,
        float: NUMBER,
        Decimal: NUMBER,
        date: DATE,
    }
    return kinds.get(type(value))


def family_of_column(kind: pa.DataType) -> str | None:
    """The values that can be compared with a column of this type.

    Examples
    --------
    >>> family_of_column(pa.int8()), family_of_column(pa.timestamp("us", "UTC"))
    ('a number', 'a timestamp with a zone')
    """
    types = pa.types
    if types.is_dictionary(kind):
        return family_of_column(kind.value_type)
    if types.is_timestamp(kind):
        return TIME if kind.tz is None else ZONED_TIME
    families = (
        (TEXT, (types.is_string, types.is_large_string, types.is_string_view)),
        (
            BYTES,
            (
                types.is_binary,
                types.is_large_binary,
                types.is_binary_view,
                types.is_fixed_size_binary,
            ),
        ),
        (BOOLEAN, (types.is_boolean,)),
        (NUMBER, (types.is_integer, types.is_floating, types.is_decimal)),
        (DATE, (types.is_date,)),
    )
    for family, tests in families:
        if any(test(kind) for test in tests):
            return family
    return None


def check_family(family: str, kind: pa.DataType, asked: str, what: str, column: str) -> None:
    """Raise a `SpecError` where such values cannot be compared with such a column."""
    if pa.types.is_null(kind):
        return
    there = family_of_column(kind)
    if there == family:
        return
    hint = f"give {there}" if there else "its values cannot be compared"
    if {there, family} == {TIME, ZONED_TIME}:
        hint = (
            "give datetimes with a tzinfo, such as datetime.UTC"
            if there == ZONED_TIME
            else "give datetimes without a tzinfo"
        )
    elif family == DATE and there in (TIME, ZONED_TIME):
        hint = "give a datetime.datetime"
    elif there == DATE and family in (TIME, ZONED_TIME):
        hint = "give a datetime.date"
    raise SpecError(f'{asked}: {what} is {family}, and column "{column}" is {kind}: {hint}')


def value_to_json(value: Any) -> Any:
    """A value as JSON can carry it: as it is, or under the name of its type.

    Examples
    --------
    >>> value_to_json(3), value_to_json(date(2026, 1, 31)), value_to_json(float("-inf"))
    (3, {'date': '2026-01-31'}, {'float': '-inf'})
    """
    if isinstance(value, datetime):
        return {"timestamp": value.isoformat()}
    if isinstance(value, date):
        return {"date": value.isoformat()}
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return {"float": str(value)}  # JSON has no infinity
    return value


def value_from_json(given: Any) -> Any:
    """The value that `value_to_json` wrote.

    Examples
    --------
    >>> value_from_json({"date": "2026-01-31"})
    datetime.date(2026, 1, 31)
    """
    if not isinstance(given, dict):
        return given
    ((name, text),) = given.items()
    readers: dict[str, Callable[[str], Any]] = {
        "timestamp": datetime.fromisoformat,
        "date": date.fromisoformat,
        "decimal": Decimal,
        "bytes": bytes.fromhex,
        "float": float,
    }
    return readers[name](text)
