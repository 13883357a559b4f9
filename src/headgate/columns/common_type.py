"""The type in which values of two columns are compared: the one Spark's own join casts both to.

The rules are Spark's type coercion in ANSI mode, in one table (`RULES`). Pairs are refused, with
what to write instead, where the rules need something that is not known here (a session's time
zone), read text as something else, or lose digits of decimals.
"""

from collections.abc import Callable

import pyarrow as pa

MOST_DIGITS = 38
"""Digits of Spark's longest decimal."""
CAST_ONE = "cast one of them to the type of the other, so that equal values are equal"
AT_MIDNIGHT = (
    "a date has a time only in a time zone: cast both to dates, or make the date a timestamp in "
    "the zone that is meant"
)
IN_A_ZONE = (
    "one tells moments in time and the other what a clock showed, in a zone not known here: make "
    "both timestamps with a zone or both without (Spark's own join would take the session's "
    'zone, as .cast("timestamp") before the join does)'
)
AS_TEXT = (
    "Spark would read the text as the other type and fail where it cannot: cast one of them first"
)

_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}
_SIGNED = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64()}


class Unlike(ValueError):
    """Values of these types cannot be compared; the message says what to do instead."""


def common_type(one: pa.DataType, other: pa.DataType, ansi: bool = True) -> pa.DataType:
    """The type in which values of two types are compared; raises `Unlike` where there is none.

    Parameters
    ----------
    one, other
        The types of the two columns.
    ansi
        Whether Spark's ANSI mode is on, as it is unless a session turns it off.

    Examples
    --------
    >>> common_type(pa.int32(), pa.int64()), common_type(pa.int64(), pa.float32())
    (DataType(int64), DataType(double))
    >>> common_type(pa.decimal128(10, 2), pa.int32())
    Decimal128Type(decimal128(12, 2))
    >>> common_type(pa.string(), pa.dictionary(pa.int8(), pa.large_string()))
    DataType(large_string)
    >>> common_type(pa.bool_(), pa.int8())
    Traceback (most recent call last):
    ...
    headgate.columns.common_type.Unlike: cast one of them to the type of the other, so that equal \
values are equal
    """
    one, other = plain_type(one), plain_type(other)
    if one == other:
        return one
    if pa.types.is_null(one) or pa.types.is_null(other):
        return other if pa.types.is_null(one) else one
    families = (family(one), family(other))
    if families in RULES:
        rule = RULES[families]
    elif families[::-1] in RULES:
        rule, one, other = RULES[families[::-1]], other, one
    else:
        raise Unlike(AS_TEXT if "text" in families else CAST_ONE)
    return rule(one, other, ansi)


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type in which values of a type are compared among themselves.

    Encodings (dictionaries, views, lists of other layouts) and units make no difference: times are
    in microseconds, as in Spark.

    Examples
    --------
    >>> plain_type(pa.timestamp("ms", "Europe/Berlin")), plain_type(pa.large_list(pa.int8()))
    (TimestampType(timestamp[us, tz=UTC]), ListType(list<element: int8>))
    """
    if pa.types.is_dictionary(kind):
        return plain_type(kind.value_type)
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, plain_type(field.type)) for field in kind])
    if _is_list(kind):
        return _list_of(plain_type(kind.value_type))
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", None if kind.tz is None else "UTC")
    if pa.types.is_decimal(kind):
        digits = kind.precision - min(kind.scale, 0)
        return pa.decimal128(digits, max(kind.scale, 0)) if digits <= MOST_DIGITS else kind
    for knows, plain in _PLAIN:
        if knows(kind):
            return plain
    if family(kind) == "other":
        raise Unlike(f"values of type {kind} cannot be compared: use a part of them that can")
    return kind


_PLAIN: tuple[tuple[Callable[[pa.DataType], bool], pa.DataType], ...] = (
    (pa.types.is_string_view, pa.large_string()),
    (pa.types.is_binary_view, pa.large_binary()),
    (pa.types.is_float16, pa.float32()),
    (pa.types.is_date, pa.date32()),
    (pa.types.is_time, pa.time64("ns")),
    (pa.types.is_duration, pa.duration("us")),
)


def family(kind: pa.DataType) -> str:
    """What sort of values a plain type has.

    Examples
    --------
    >>> family(pa.int8()), family(pa.timestamp("us", "UTC")), family(pa.timestamp("us"))
    ('whole', 'moment', 'clock')
    """
    if pa.types.is_timestamp(kind):
        return "clock" if kind.tz is None else "moment"
    for knows, name in _FAMILIES:
        if knows(kind):
            return name
    return "other"


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


def _is_list(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_list(kind)
        or pa.types.is_large_list(kind)
        or pa.types.is_fixed_size_list(kind)
        or pa.types.is_list_view(kind)
        or pa.types.is_large_list_view(kind)
    )


_FAMILIES: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (pa.types.is_uint64, "uint64"),
    (pa.types.is_integer, "whole"),
    (pa.types.is_float32, "float"),
    (pa.types.is_float64, "double"),
    (pa.types.is_decimal, "decimal"),
    (_is_text, "text"),
    (_is_bytes, "bytes"),
    (pa.types.is_boolean, "truth"),
    (pa.types.is_date32, "date"),
    (pa.types.is_time64, "time"),
    (pa.types.is_duration, "interval"),
    (pa.types.is_null, "null"),
    (pa.types.is_struct, "struct"),
    (pa.types.is_list, "list"),
)

Rule = Callable[[pa.DataType, pa.DataType, bool], pa.DataType]


def _always(kind: pa.DataType) -> Rule:
    return lambda one, other, ansi: kind


def _never(why: str) -> Rule:
    def refuse(one: pa.DataType, other: pa.DataType, ansi: bool) -> pa.DataType:
        raise Unlike(why)

    return refuse


def _wider_whole(one: pa.DataType, other: pa.DataType, ansi: bool) -> pa.DataType:
    signed = [_SIGNED.get(kind, kind) for kind in (one, other)]
    return max(signed, key=lambda kind: int(kind.bit_width))


def _whole_and_float(one: pa.DataType, other: pa.DataType, ansi: bool) -> pa.DataType:
    if ansi:
        return pa.float64()
    raise Unlike(
        "with spark.sql.ansi.enabled=false Spark would compare them as float, which tells few "
        "whole numbers apart: cast both to double"
    )


def _wider_decimal(one: pa.DataType, other: pa.DataType, ansi: bool) -> pa.DataType:
    kinds = [_as_decimal(kind) for kind in (one, other)]
    scale = max(kind.scale for kind in kinds)
    digits = scale + max(kind.precision - kind.scale for kind in kinds)
    if digits > MOST_DIGITS:
        raise Unlike(
            f"they need {digits} digits together and a decimal has {MOST_DIGITS} at most, so that "
            f"Spark would round: cast them to decimals with fewer digits"
        )
    return pa.decimal128(digits, scale)


def _as_decimal(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_decimal(kind):
        return kind
    return pa.decimal128(_DIGITS[_SIGNED.get(kind, kind).bit_width], 0)


def _alike_structs(one: pa.DataType, other: pa.DataType, ansi: bool) -> pa.DataType:
    names = [[field.name for field in kind] for kind in (one, other)]
    if names[0] != names[1]:
        raise Unlike("structs are compared field by field: give them the same names in order")
    return pa.struct(
        [
            pa.field(name, common_type(mine.type, theirs.type, ansi))
            for name, mine, theirs in zip(names[0], one, other, strict=True)
        ]
    )


def _alike_lists(one: pa.DataType, other: pa.DataType, ansi: bool) -> pa.DataType:
    return _list_of(common_type(one.value_type, other.value_type, ansi))


def _list_of(kind: pa.DataType) -> pa.DataType:
    return pa.list_(pa.field("element", kind))


RULES: dict[tuple[str, str], Rule] = {
    ("whole", "whole"): _wider_whole,
    ("whole", "float"): _whole_and_float,
    ("whole", "double"): _always(pa.float64()),
    ("whole", "decimal"): _wider_decimal,
    ("float", "double"): _always(pa.float64()),
    ("float", "decimal"): _always(pa.float64()),
    ("double", "decimal"): _always(pa.float64()),
    ("decimal", "decimal"): _wider_decimal,
    ("text", "text"): _always(pa.large_string()),
    ("bytes", "bytes"): _always(pa.large_binary()),
    ("text", "bytes"): _never("text and bytes are equal by an encoding: encode or decode one"),
    ("date", "moment"): _never(AT_MIDNIGHT),
    ("date", "clock"): _never(AT_MIDNIGHT),
    ("moment", "clock"): _never(IN_A_ZONE),
    ("struct", "struct"): _alike_structs,
    ("list", "list"): _alike_lists,
}
"""How two plain types of different kinds meet; pairs that are not here do not."""
