"""Predicates beyond equality: a band around a value, or a comparison of two."""

import math
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

from headgate.spec.errors import SpecError
from headgate.spec.quantity import parse_duration_us

Number = int | float | Decimal
Limit = Number | timedelta | None

OPERATORS = ("<", "<=", "!=", ">=", ">")
_SPELLINGS = {"≤": "<=", "≥": ">=", "≠": "!=", "<>": "!="}


@dataclass(frozen=True)
class Predicate:
    """What a column of the left and a column of the right must satisfy; see the two forms.

    Columns are numbers, dates, timestamps or intervals; those of a `Compare` also text, bytes or
    booleans. Columns of two types are compared in the one that Spark's own join casts both to.
    Null satisfies nothing; NaN equals NaN and is above every number, as in Spark.
    """

    left: str
    right: str


@dataclass(frozen=True, init=False)
class Band(Predicate):
    """The right value is within limits of the left one: ``lower <= right - left <= upper``.

    Both ends are included.

    Parameters
    ----------
    column
        The column, where it has the same name on both sides; otherwise give ``left`` and
        ``right``.
    lower, upper
        Numbers; for timestamps durations ("5 seconds", "-1 minute" or a `datetime.timedelta`);
        for dates durations or numbers of days. One of the two may be left out: no limit.

    Examples
    --------
    >>> Band("price", lower=-1, upper=5)
    Band(left='price', right='price', lower=-1, upper=5)
    >>> Band(left="sent", right="received", lower=0, upper="5 seconds")
    Band(left='sent', right='received', lower=datetime.timedelta(0), \
upper=datetime.timedelta(seconds=5))
    """

    lower: Limit
    upper: Limit

    def __init__(
        self,
        column: str | None = None,
        *,
        left: str | None = None,
        right: str | None = None,
        lower: "str | Limit" = None,
        upper: "str | Limit" = None,
    ) -> None:
        super().__init__(*_columns("Band", column, left, right))
        if lower is None and upper is None:
            raise SpecError("a Band needs a limit: give lower=, upper=, or both")
        low, high = _alike(_limit(lower, "lower"), _limit(upper, "upper"))
        if low is not None and high is not None and low > high:  # type: ignore[operator]
            raise SpecError(
                f"lower={lower!r} is above upper={upper!r}, so nothing would match: exchange them"
            )
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)


@dataclass(frozen=True, init=False)
class Compare(Predicate):
    """The left value compares with the right one: ``left < right``, or another operator.

    Parameters
    ----------
    column
        The column, where it has the same name on both sides; otherwise give ``left`` and
        ``right``.
    op
        One of ``"<"``, ``"<="``, ``"!="``, ``">="``, ``">"``.

    Examples
    --------
    >>> Compare("price", "<")
    Compare(left='price', right='price', op='<')
    >>> Compare(left="asked", right="offered", op="≤")
    Compare(left='asked', right='offered', op='<=')
    """

    op: str

    def __init__(
        self,
        column: str | None = None,
        op: str | None = None,
        *,
        left: str | None = None,
        right: str | None = None,
    ) -> None:
        super().__init__(*_columns("Compare", column, left, right))
        plain = _SPELLINGS.get(op, op) if isinstance(op, str) else op
        if plain in ("=", "=="):
            raise SpecError(f'op "{op}" is equality: name the columns with on= instead')
        if plain not in OPERATORS:
            accepted = ", ".join(f'"{known}"' for known in OPERATORS)
            raise SpecError(f"op {op!r} is not a comparison: give one of {accepted}")
        object.__setattr__(self, "op", plain)


def _columns(what: str, column: str | None, left: str | None, right: str | None) -> tuple[str, str]:
    if column is not None and (left is not None or right is not None):
        raise SpecError(f"give a {what} either one column or left= and right=, not both")
    pair = (left, right) if column is None else (column, column)
    for name in pair:
        if not isinstance(name, str) or not name:
            raise SpecError(
                f"{name!r} is not a column name: give a {what} one column, or both left= and right="
            )
    return pair  # type: ignore[return-value]


def _limit(given: Any, what: str) -> Limit:
    if given is None:
        return None
    if isinstance(given, str | timedelta):
        return _duration(given, what)
    if isinstance(given, bool) or not isinstance(given, Real | Decimal):
        raise SpecError(
            f"{what}={given!r} is not a limit: give a number, or for timestamps a duration such "
            f'as "5 seconds"'
        )
    if not math.isfinite(given):
        raise SpecError(f"{what}={given!r} is not a finite limit: leave it out for no limit")
    # NumPy's numbers become plain ones, so that a join is described alike whichever was given.
    if isinstance(given, Decimal):
        return given
    return int(given) if isinstance(given, Integral) else float(given)


def _duration(given: str | timedelta, what: str) -> timedelta:
    """A duration that may be negative, unlike a window."""
    if isinstance(given, timedelta):
        sign = -1 if given < timedelta(0) else 1
        return sign * timedelta(microseconds=parse_duration_us(abs(given), what))
    text = given.strip()
    sign = -1 if text.startswith("-") else 1
    return sign * timedelta(microseconds=parse_duration_us(text.removeprefix("-"), what))


def _alike(lower: Limit, upper: Limit) -> tuple[Limit, Limit]:
    """Both numbers or both durations; a zero is either."""
    kinds = [isinstance(limit, timedelta) for limit in (lower, upper) if limit is not None]
    if all(kinds) or not any(kinds):
        return lower, upper
    if lower == 0:
        return timedelta(0), upper
    if upper == 0:
        return lower, timedelta(0)
    raise SpecError(
        f"lower={lower!r} and upper={upper!r} are a number and a duration: give two of a kind"
    )
