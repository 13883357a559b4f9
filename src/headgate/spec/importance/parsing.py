"""Parses what a user gives as importance."""

from collections.abc import Mapping
from numbers import Real
from typing import Any

from headgate.spec.errors import SpecError
from headgate.spec.importance.expression import Expression
from headgate.spec.importance.importance import Importance, parse_amount
from headgate.spec.importance.source import Source

ImportanceLike = str | float | Importance | None
"""What a user may give: an expression, a number for the whole side, one of the tables, or none."""


def parse_importance(given: Any, which: str) -> Importance | None:
    """The importance of a side's rows from text, a number or an `Importance`; None says nothing.

    Examples
    --------
    >>> parse_importance("price * quantity", "left")
    Expression(sql='price * quantity')
    >>> parse_importance(3, "left")
    Source(value=3.0)
    >>> parse_importance({"sports": 1}, "left")
    Traceback (most recent call last):
    ...
    headgate.spec.errors.SpecError: left={'sports': 1} does not say which column has the \
categories: give hg.Categories("column", {'sports': 1})
    """
    if given is None or isinstance(given, Importance):
        return given
    if isinstance(given, str):
        return Expression(given)
    if isinstance(given, Mapping):
        shown = repr(given) if len(given) <= 3 else "{...}"
        raise SpecError(
            f"{which}={shown} does not say which column has the categories: give "
            f'hg.Categories("column", {shown})'
        )
    if isinstance(given, int | float | Real) and not isinstance(given, bool):
        try:
            return Source(parse_amount(given, "value"))
        except SpecError as error:
            raise SpecError(f"{which}: {error}") from None
    raise SpecError(
        f"{which}={given!r} is not an importance: give a column or expression as text, a "
        f"number for all rows of the side, hg.Categories(...) or hg.Histogram(...)"
    )
