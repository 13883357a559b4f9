"""Importance over an ordered attribute: a histogram."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from headgate.columns.ordered_numbers import ordered_numbers
from headgate.spec.errors import SpecError
from headgate.spec.importance.importance import Importance, find_column, parse_amount, parse_column
from headgate.spec.importance.plain_values import (
    DATE,
    NUMBER,
    TIME,
    ZONED_TIME,
    check_family,
    family_of,
    family_of_column,
    plain_value,
    value_from_json,
    value_to_json,
)

ORDERED = (NUMBER, DATE, TIME, ZONED_TIME)
INT64 = np.iinfo(np.int64)


@dataclass(frozen=True, init=False)
class Histogram(Importance):
    """The importance of a row is that of the bin its value falls into.

    Parameters
    ----------
    column
        A column of numbers, dates or timestamps.
    edges
        Where bins begin and end, ascending, one more than there are bins. A bin has its lower edge
        and not its upper one. The first may be ``-inf`` and the last ``inf``: bins without end.
    importance
        The importance of each bin. Rows below the first edge, and at or above the last, have 0.

    Examples
    --------
    >>> prices = Histogram("price", edges=[0, 10, 100, float("inf")], importance=[1, 5, 2])
    >>> prices.of(pa.table({"price": [-1, 0, 10, 99, 100, None]})).tolist()
    [0.0, 1.0, 5.0, 5.0, 2.0, 0.0]
    >>> Histogram("day", [date(2026, 1, 1), date(2026, 7, 1)], [3]).edges
    (datetime.date(2026, 1, 1), datetime.date(2026, 7, 1))
    """

    kind: ClassVar[str] = "histogram"

    column: str
    edges: tuple[Any, ...]
    importance: tuple[float, ...]

    def __init__(self, column: str, edges: Iterable[Any], importance: Iterable[float]) -> None:
        object.__setattr__(self, "column", parse_column(column, "the column of Histogram"))
        worth = tuple(parse_amount(amount, "importance") for amount in _several(importance))
        object.__setattr__(self, "edges", _parse_edges(_several(edges), self._name))
        object.__setattr__(self, "importance", worth)
        if len(self.edges) != len(worth) + 1:
            raise SpecError(
                f"{self._name}: {len(self.edges)} edges and {len(worth)} values: give one edge "
                f"more than values, the first and the last may be -inf and inf"
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """The column the bins are over."""
        return (self.column,)

    def of(self, table: pa.Table) -> np.ndarray:
        """The worth of each row's bin."""
        kind = find_column(table.schema, self.column, self._name)
        self._check_type(kind, self._name)
        if pa.types.is_null(kind):
            return np.zeros(table.num_rows)
        real, column = _is_real(kind), table.column(self.column)
        if real:
            column = column.cast(pa.float64(), safe=False)
        elif pa.types.is_dictionary(kind):
            column = column.cast(kind.value_type)
        values, missing = ordered_numbers(column, real)
        bins = np.searchsorted(self._limits(real), values, side="right")
        found = self._worth()[bins]
        if real:  # infinity is at the last edge, even where that is infinite
            missing = missing | np.isposinf(values)
        return np.where(missing, 0.0, found)

    def check(self, schema: pa.Schema, which: str) -> None:
        """Raise where the column is missing or does not compare with the edges."""
        asked = f"{self._name} of the {which} side"
        self._check_type(find_column(schema, self.column, asked), asked)

    def to_json(self) -> dict[str, Any]:
        """Column, edges and values."""
        return {
            "kind": self.kind,
            "column": self.column,
            "edges": [value_to_json(edge) for edge in self.edges],
            "importance": list(self.importance),
        }

    @classmethod
    def _read(cls, parts: dict[str, Any]) -> "Histogram":
        edges = [value_from_json(edge) for edge in parts["edges"]]
        return cls(parts["column"], edges, parts["importance"])

    @property
    def _name(self) -> str:
        return f'the histogram of importance over "{self.column}"'

    def _check_type(self, kind: pa.DataType, asked: str) -> None:
        edge = next((edge for edge in self.edges if not _is_infinite(edge)), None)
        family = family_of(edge)
        if family is None:  # from -inf to inf: over any column with an order
            there = family_of_column(kind)
            family = there if there in ORDERED else NUMBER
        check_family(family, kind, asked, f"edge {edge!r}", self.column)

    def _limits(self, real: bool) -> np.ndarray:
        """The finite edges, on the scale of the column's numbers.

        A value is inside an infinite edge in any case, so only finite ones are searched: whole
        numbers then need no infinity, and are exact.
        """
        finite = [edge for edge in self.edges if not _is_infinite(edge)]
        if real:
            return np.array([_as_float(edge) for edge in finite], np.float64)
        whole = [max(_whole(edge), int(INT64.min)) for edge in finite]
        return np.array([edge for edge in whole if edge <= INT64.max], np.int64)

    def _worth(self) -> np.ndarray:
        """What a value is worth, by how many finite edges are at or below it."""
        below = [] if _is_infinite(self.edges[0]) else [0.0]
        above = [] if _is_infinite(self.edges[-1]) else [0.0]
        return np.array([*below, *self.importance, *above])


def _several(given: object) -> list[Any]:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise SpecError(
            f"a Histogram is given lists of edges and of importance, such as "
            f"edges=[0, 10, 100], importance=[1, 5]; {given!r} is none"
        )
    return list(given)


def _parse_edges(given: list[Any], asked: str) -> tuple[Any, ...]:
    edges = tuple(plain_value(edge) for edge in given)
    families: dict[str, Any] = {}
    for edge in edges:
        family = family_of(edge)
        if family not in ORDERED or edge != edge:
            raise SpecError(
                f"{asked}: {edge!r} is not an edge: give numbers, dates or datetimes, the first "
                f"and the last may be -inf and inf"
            )
        if not _is_infinite(edge):
            families.setdefault(family, edge)
    if len(families) > 1:
        one, other, *_ = families.values()
        raise SpecError(f"{asked}: edges {one!r} and {other!r} are of different types: give one")
    for at, (lower, upper) in enumerate(pairwise(edges)):
        # Infinity does not compare with dates; it is below or above them by its place.
        inner = (lower == -math.inf and at == 0) or (upper == math.inf and at == len(edges) - 2)
        if not inner and (_is_infinite(lower) or _is_infinite(upper) or not lower < upper):
            raise SpecError(
                f"{asked}: edge {upper!r} comes after {lower!r}: give edges that ascend, each once"
            )
    return edges


def _is_infinite(edge: object) -> bool:
    return isinstance(edge, float) and math.isinf(edge)


def _is_real(kind: pa.DataType) -> bool:
    """Whether values of the column are compared as real numbers: not all of them fit an int64."""
    if pa.types.is_dictionary(kind):
        return _is_real(kind.value_type)
    types = pa.types
    return bool(types.is_floating(kind) or types.is_decimal(kind) or types.is_uint64(kind))


def _as_float(edge: Any) -> float:
    """The edge as a double; one beyond all doubles is at their end."""
    try:
        return float(edge)
    except OverflowError:
        return math.inf if edge > 0 else -math.inf


def _whole(edge: Any) -> int:
    """The least whole number at or above the edge: days of dates, microseconds of timestamps."""
    if isinstance(edge, datetime):
        epoch = datetime(1970, 1, 1, tzinfo=edge.tzinfo)
        return (edge - epoch) // timedelta(microseconds=1)
    if isinstance(edge, date):
        return (edge - date(1970, 1, 1)).days
    above: int = math.ceil(edge)
    return above
