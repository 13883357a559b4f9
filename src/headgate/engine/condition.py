"""A predicate bound to the types of its columns: how values become numbers, and what must hold."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction

import numpy as np
import pyarrow as pa

from headgate.columns.ordered import ordered_numbers, ranks_together
from headgate.engine.relation import Bound, Relation
from headgate.spec import Band, Compare, Predicate, SpecError
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


@dataclass(frozen=True)
class Condition:
    """The predicate's columns, how their values become numbers, and the relation on these.

    Examples
    --------
    >>> Condition.of(Band("t", lower=0, upper="1 second"), (pa.timestamp("us"),) * 2).relation
    Relation(lower_bound=<Bound.DIFFERENCE: 1>, upper_bound=<Bound.DIFFERENCE: 1>, lower=0, \
upper=1000000, inverted=False, real=False)
    """

    columns: tuple[str, str]
    relation: Relation
    digits: int = 0
    """Of decimals: digits after the point that count."""
    ranked: bool = False
    """Values have an order and no differences: their ranks are the numbers."""

    @classmethod
    def of(cls, where: Predicate, types: tuple[pa.DataType, pa.DataType]) -> "Condition":
        """Raise unless the columns' types fit each other and the predicate's limits."""
        families = [
            _family(kind, which, name)
            for kind, which, name in zip(
                types, ("left", "right"), (where.left, where.right), strict=True
            )
        ]
        if families[0] != families[1] and {*families} != {"whole", "real"}:
            raise SpecError(
                f'columns "{where.left}" ({types[0]}) and "{where.right}" ({types[1]}) cannot be '
                f"compared: cast one of them to the type of the other"
            )
        family = "real" if "real" in families else families[0]
        digits = _digits(where, types) if family == "decimal" else 0
        ranked = family in ("text", "bytes", "truth")
        if ranked and isinstance(where, Band):
            raise SpecError(
                f'column "{where.left}" ({types[0]}) has no differences for a Band to limit: use '
                f"hg.Compare, or a column of numbers, dates or timestamps"
            )
        relation = _relation(where, family, digits, types[0])
        return cls((where.left, where.right), relation, digits, ranked)

    def numbers(self, column: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
        """A number for each value, and which values match nothing; not for ranked ones."""
        return ordered_numbers(column, self.relation.real, self.digits)

    def numbers_together(
        self, columns: Sequence[pa.ChunkedArray]
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """The same for several columns, on one scale."""
        if self.ranked:
            return ranks_together(columns)
        return [self.numbers(column) for column in columns]


def _family(kind: pa.DataType, which: str, name: str) -> str:
    if pa.types.is_integer(kind) and not pa.types.is_uint64(kind):
        return "whole"
    if pa.types.is_floating(kind):
        return "real"
    if pa.types.is_decimal(kind):
        return "decimal"
    if pa.types.is_date(kind):
        return "date"
    if pa.types.is_timestamp(kind):
        return "timestamp" if kind.tz is None else "instant"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "text"
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return "bytes"
    if pa.types.is_boolean(kind):
        return "truth"
    raise SpecError(
        f'column "{name}" of the {which} side is {kind}: bands and comparisons take integers, '
        f"floating-point numbers, decimals, dates and timestamps, comparisons also text, bytes "
        f"and booleans (cast it first)"
    )


def _digits(where: Predicate, types: tuple[pa.DataType, pa.DataType]) -> int:
    digits = max(0, *(kind.scale for kind in types))
    if max(kind.precision - kind.scale for kind in types) + digits > MOST_DIGITS:
        raise SpecError(
            f'columns "{where.left}" ({types[0]}) and "{where.right}" ({types[1]}) need more than '
            f"{MOST_DIGITS} digits together: cast them to a shorter decimal, or to double"
        )
    return int(digits)


def _relation(where: Predicate, family: str, digits: int, kind: pa.DataType) -> Relation:
    real = family == "real"
    if isinstance(where, Compare):
        lower, upper = _COMPARISONS[where.op]
        zero = 0.0 if real else 0
        return Relation(lower, upper, zero, zero, where.op == "!=", real)
    if not isinstance(where, Band):
        raise TypeError(f"{where!r} is no predicate known here")
    ends = []
    for limit, rounded in ((where.lower, math.ceil), (where.upper, math.floor)):
        exact = _scaled(limit, family, digits, where.left, kind)
        # Between whole numbers, a limit of 1.5 means the next whole number inwards.
        ends.append(float(exact) if real else rounded(exact))
        if not real and abs(ends[-1]) >= 1 << 63:
            raise SpecError(
                f'a limit of {limit} is out of range for column "{where.left}" ({kind}): '
                f"leave it out where there is none"
            )
    bounds = [
        Bound.NONE if limit is None else Bound.DIFFERENCE for limit in (where.lower, where.upper)
    ]
    return Relation(bounds[0], bounds[1], ends[0], ends[1], real=real)


def _scaled(limit: Limit, family: str, digits: int, name: str, kind: pa.DataType) -> Fraction:
    """A limit in the unit of the column's numbers."""
    if limit is None:
        return Fraction(0)
    if isinstance(limit, timedelta):
        micros = Fraction(limit // timedelta(microseconds=1))
        if family == "date":
            return micros / MICROSECONDS["day"]
        if family in ("timestamp", "instant") or not micros:
            return micros
        raise SpecError(
            f'a Band of {limit} does not fit column "{name}" ({kind}): give numbers as limits'
        )
    if family in ("timestamp", "instant") and limit != 0:
        raise SpecError(
            f'a limit of {limit} does not fit column "{name}" ({kind}): give a duration such as '
            f'"5 seconds" or a datetime.timedelta'
        )
    # By its digits: the 0.29 of a band on decimals is 29 hundredths, not the nearest double.
    return Fraction(str(limit)) * Fraction(10**digits)
