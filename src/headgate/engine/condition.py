"""A predicate bound to its column types: converts values to numbers and gives their relation."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.columns.casting import cast_to
from headgate.columns.common_type import Unlike, family, plain_type
from headgate.columns.ordered_numbers import ordered_numbers, ordered_reals, ranks_together
from headgate.kernel.relation import Bound, Relation
from headgate.spec import Band, Compare, Predicate, SpecError
from headgate.spec.compared_types import Named, compared_as
from headgate.spec.predicate import Limit
from headgate.spec.quantity import MICROSECONDS

MOST_DIGITS = 18
"""A decimal of so many digits fits 64 bits."""

_COMPARISONS = {
    "<": (Bound.PASSED, Bound.NONE),
    "<=": (Bound.REACHED, Bound.NONE),
    ">": (Bound.NONE, Bound.PASSED),
    ">=": (Bound.NONE, Bound.REACHED),
    "!=": (Bound.REACHED, Bound.REACHED),
}


_SORTS = {
    "whole": "whole",
    "float": "real",
    "double": "real",
    "decimal": "decimal",
    "date": "date",
    "moment": "timestamp",
    "clock": "timestamp",
    "interval": "interval",
    "text": "text",
    "bytes": "bytes",
    "truth": "truth",
}
"""What values a predicate can look at, by family of their type."""


@dataclass(frozen=True)
class Condition:
    """The predicate's columns, how their values become numbers, and the relation on these.

    Examples
    --------
    >>> Condition.of(Band("t", lower=0, upper="1 second"), (pa.timestamp("us"),) * 2).relation
    Relation(lower_bound=<Bound.DIFFERENCE: 1>, upper_bound=<Bound.DIFFERENCE: 1>, lower=0, \
upper=1000000, inverted=False, real=False, nan_holds=False)
    """

    columns: tuple[str, str]
    relation: Relation
    kind: pa.DataType
    """The type in which values are compared; columns are cast to it."""
    digits: int = 0
    """Of decimals: digits after the point that count."""
    ranked: bool = False
    """Whether values are only compared by order, so that their ranks serve as numbers."""

    @classmethod
    def of(
        cls,
        where: Predicate,
        types: tuple[pa.DataType, pa.DataType],
        shown: tuple[str, str] = ("", ""),
        ansi: bool = True,
    ) -> "Condition":
        """Raise unless the columns' types fit each other and the predicate's limits.

        ``shown`` is what the user calls the types, ``ansi`` whether Spark's ANSI mode is on.
        """
        named = [
            Named(*column)
            for column in zip(
                ("left", "right"), (where.left, where.right), types, shown, strict=True
            )
        ]
        for column in named:
            _check_ordered(column)
        kind = compared_as("predicate", named[0], named[1], ansi)
        sort = _SORTS[family(kind)]
        compares = isinstance(where, Compare)
        ranked = sort in ("text", "bytes", "truth")
        if ranked and not compares:
            raise SpecError(
                f'column "{where.left}" ({shown[0] or types[0]}) has no differences for a Band to '
                f"limit: use hg.Compare, or a column of numbers, dates or timestamps"
            )
        digits = 0
        if sort == "decimal":
            ranked = compares and kind.precision > MOST_DIGITS
            digits = 0 if ranked else _digits(where, named, kind)
        relation = _relation(where, sort, digits, kind)
        return cls((where.left, where.right), relation, kind, digits, ranked)

    def numbers(self, column: pa.ChunkedArray, side: int) -> tuple[np.ndarray, np.ndarray]:
        """A number for each value of a side, and which values match nothing; not if ranked."""
        column = cast_to(column, self.kind)
        if not pa.types.is_floating(self.kind):
            return ordered_numbers(column, digits=self.digits)
        if not self.relation.real:
            return ordered_reals(column)
        if not self.relation.nan_holds:
            return ordered_numbers(column, real=True)
        # A value far enough from NaN is far enough from the farthest infinity.
        farthest = pa.scalar(math.inf if side else -math.inf, self.kind)
        return ordered_numbers(pc.if_else(pc.is_nan(column), farthest, column), real=True)

    def numbers_together(
        self, columns: Sequence[pa.ChunkedArray]
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """The same for columns of the left and the right side in turn, on one scale."""
        if self.ranked:
            return ranks_together([cast_to(column, self.kind) for column in columns])
        return [self.numbers(column, place % 2) for place, column in enumerate(columns)]


def _check_ordered(column: Named) -> None:
    try:
        known = family(plain_type(column.kind)) in _SORTS
    except Unlike:
        known = False
    if not known:
        raise SpecError(
            f'column "{column.name}" of the {column.side} side is {column.shown or column.kind}: '
            f"bands and comparisons take integers, floating-point numbers, decimals, dates, "
            f"timestamps and intervals, comparisons also text, bytes and booleans (cast it first)"
        )


def _digits(where: Predicate, named: Sequence[Named], kind: pa.DataType) -> int:
    if kind.precision > MOST_DIGITS:
        shown = [f'"{column.name}" ({column.shown or column.kind})' for column in named]
        raise SpecError(
            f"columns {shown[0]} and {shown[1]} need more than {MOST_DIGITS} digits together: "
            f"cast them to a shorter decimal, or to double"
        )
    return int(kind.scale)


def _relation(where: Predicate, sort: str, digits: int, kind: pa.DataType) -> Relation:
    if isinstance(where, Compare):
        lower, upper = _COMPARISONS[where.op]
        return Relation(lower, upper, inverted=where.op == "!=")
    if not isinstance(where, Band):
        raise TypeError(f"{where!r} is no predicate known here")
    real = sort == "real"
    ends: list[int | float] = []
    for limit, rounded in ((where.lower, math.ceil), (where.upper, math.floor)):
        exact = _scaled(limit, sort, digits, where.left, kind)
        # Between whole numbers, a limit of 1.5 means the next whole number inwards.
        ends.append(float(exact) if real else rounded(exact))
        if not real and abs(ends[-1]) >= 1 << 63:
            raise SpecError(
                f'a limit of {limit} is out of range for column "{where.left}" ({kind}): '
                f"leave it out where there is none"
            )
    if pa.types.is_float32(kind):
        ends = [-_last_rounded_within(-ends[0]), _last_rounded_within(ends[1])]
    bounds = [
        Bound.NONE if limit is None else Bound.DIFFERENCE for limit in (where.lower, where.upper)
    ]
    # In Spark NaN is above every number, so it is below no lower limit.
    nan_holds = real and where.upper is None
    return Relation(bounds[0], bounds[1], ends[0], ends[1], real=real, nan_holds=nan_holds)


def _last_rounded_within(limit: float) -> float:
    """The greatest number that is within a limit once it is rounded to 32 bits.

    Spark subtracts 32-bit numbers in 32 bits. In 64 bits their difference is exact enough for
    rounding it to 32 to give the same, so the limit is moved instead.

    Examples
    --------
    >>> _last_rounded_within(16777216.0), _last_rounded_within(0.1) < 0.1
    (16777217.0, True)
    """
    with np.errstate(over="ignore"):
        below = np.float32(limit)
        if float(below) > limit:
            below = np.nextafter(below, np.float32(-np.inf))
        above = np.nextafter(below, np.float32(np.inf))
        middle = (_edge(below) + _edge(above)) / 2
        return middle if np.float32(middle) <= below else math.nextafter(middle, -math.inf)


def _edge(number: np.float32) -> float:
    """The number; of an infinity, where the next number would be if there were one."""
    return float(number) if np.isfinite(number) else math.copysign(2.0**128, number)


def _scaled(limit: Limit, sort: str, digits: int, name: str, kind: pa.DataType) -> Fraction:
    """A limit in the unit of the column's numbers."""
    if limit is None:
        return Fraction(0)
    if isinstance(limit, timedelta):
        micros = Fraction(limit // timedelta(microseconds=1))
        if sort == "date":
            return micros / MICROSECONDS["day"]
        if sort in ("timestamp", "interval") or not micros:
            return micros
        raise SpecError(
            f'a Band of {limit} does not fit column "{name}" ({kind}): give numbers as limits'
        )
    if sort in ("timestamp", "interval") and limit != 0:
        raise SpecError(
            f'a limit of {limit} does not fit column "{name}" ({kind}): give a duration such as '
            f'"5 seconds" or a datetime.timedelta'
        )
    # By its digits: the 0.29 of a band on decimals is 29 hundredths, not the nearest double.
    return Fraction(str(limit)) * Fraction(10**digits)
