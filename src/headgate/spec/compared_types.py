"""The type in which two join columns are compared, or an error that says why they cannot be."""

from collections.abc import Callable
from typing import Literal, NamedTuple

import pyarrow as pa

from headgate.columns.common_type import Unlike, common_type
from headgate.spec.errors import SpecError

Use = Literal["key", "time", "predicate"]


class Named(NamedTuple):
    """A column of one side, as errors name it."""

    side: str
    name: str
    kind: pa.DataType
    shown: str = ""
    """What the user calls its type, where that is not Arrow's name."""

    def __str__(self) -> str:
        return f'{self.side} "{self.name}" is {self.shown or self.kind}'


def compared_as(use: Use, one: Named, other: Named, ansi: bool = True) -> pa.DataType:
    """The type to which both columns are cast before they are compared, as Spark's join does.

    Parameters
    ----------
    use
        The role of the columns in the join.
    one, other
        The columns.
    ansi
        Whether Spark's ANSI mode is on.

    Examples
    --------
    >>> compared_as("key", Named("left", "a", pa.int8()), Named("right", "b", pa.int64()))
    DataType(int64)
    >>> moment = Named("left", "a", pa.timestamp("us", "UTC"))
    >>> compared_as("time", moment, Named("right", "b", pa.timestamp("us")))
    Traceback (most recent call last):
    headgate.spec.errors.SpecError: time columns differ in type: left "a" is timestamp[us, tz=UTC],
    right "b" is timestamp[us]: one tells moments in time and the other what a clock showed, ...
    """
    if use == "time":
        for column in (one, other):
            if not pa.types.is_timestamp(column.kind):
                raise SpecError(
                    f'time column "{column.name}" of the {column.side} side is '
                    f"{column.shown or column.kind}: give a timestamp column (cast it first)"
                )
    try:
        return common_type(one.kind, other.kind, ansi)
    except Unlike as error:
        raise SpecError(f"{_WORDS[use](one, other)}: {error}") from None


def _differ(what: str) -> Callable[[Named, Named], str]:
    def words(one: Named, other: Named) -> str:
        if one.kind == other.kind:
            return f"{what} columns cannot be compared: {one}, {other}"
        return f"{what} columns differ in type: {one}, {other}"

    return words


def _not_comparable(one: Named, other: Named) -> str:
    shown = [f'"{each.name}" ({each.shown or each.kind})' for each in (one, other)]
    return f"columns {shown[0]} and {shown[1]} cannot be compared"


_WORDS: dict[Use, Callable[[Named, Named], str]] = {
    "key": _differ("key"),
    "time": _differ("time"),
    "predicate": _not_comparable,
}
