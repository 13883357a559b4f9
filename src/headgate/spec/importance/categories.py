"""Importance of categories: a lookup table."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.columns.key_codes import comparable
from headgate.spec.errors import SpecError
from headgate.spec.importance.importance import Importance, find_column, parse_amount, parse_column
from headgate.spec.importance.plain_values import (
    check_family,
    family_of,
    plain_value,
    value_from_json,
    value_to_json,
)

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 8
"""How many categories are written out where one is shown."""


@dataclass(frozen=True, init=False, repr=False)
class Categories(Importance):
    """The importance of a row is that of its category, from a lookup table.

    Parameters
    ----------
    column
        The column with the category: text, numbers, booleans, dates, timestamps or bytes.
    table
        The importance of each category. Kept as pairs in order of the category.
    default
        The importance of all other categories, and of null.

    Examples
    --------
    >>> news = Categories("category", {"sports": 1, "politics": 3})
    >>> news
    Categories(column='category', table=(('politics', 3.0), ('sports', 1.0)), default=0.0)
    >>> news.of(pa.table({"category": ["politics", "weather", None, "sports"]})).tolist()
    [3.0, 0.0, 0.0, 1.0]
    """

    kind: ClassVar[str] = "categories"

    column: str
    table: tuple[tuple[Any, float], ...]
    default: float

    def __init__(
        self,
        column: str,
        table: Mapping[Any, float] | Iterable[tuple[Any, float]],
        default: float = 0.0,
    ) -> None:
        object.__setattr__(self, "column", parse_column(column, "the column of Categories"))
        pairs = table.items() if isinstance(table, Mapping) else _pairs(table)
        object.__setattr__(self, "table", _parse_table(pairs, self._name))
        object.__setattr__(self, "default", parse_amount(default, "default"))

    @classmethod
    def from_table(
        cls,
        table: "pa.Table | pd.DataFrame",
        column: str,
        category: str = "category",
        importance: str = "importance",
        default: float = 0.0,
    ) -> "Categories":
        """A lookup table from an Arrow table or a pandas frame.

        Parameters
        ----------
        table
            One row a category.
        column
            The column of the stream.
        category, importance
            The columns of `table` with the categories and their importance.
        default
            The importance of all other categories, and of null.

        Examples
        --------
        >>> table = pa.table({"topic": ["sports", "politics"], "points": [1, 3]})
        >>> Categories.from_table(table, "category", "topic", "points").table
        (('politics', 3.0), ('sports', 1.0))
        """
        given = table
        if not isinstance(table, pa.Table):
            import pandas as pd  # slow to import

            given = pa.Table.from_pandas(table) if isinstance(table, pd.DataFrame) else table
        if not isinstance(given, pa.Table):
            raise SpecError(
                f"{type(table).__name__} is not a table: give a pyarrow.Table or a pandas frame, "
                f'or hg.Categories("{column}", {{...}}) a dict'
            )
        for name in (category, importance):
            find_column(given.schema, name, f'the lookup table of column "{column}"')
        pairs = zip(given[category].to_pylist(), given[importance].to_pylist(), strict=True)
        return cls(column, pairs, default)

    @property
    def columns(self) -> tuple[str, ...]:
        """The column with the category."""
        return (self.column,)

    def of(self, table: pa.Table) -> np.ndarray:
        """The importance of each row's category."""
        kind = find_column(table.schema, self.column, self._name)
        if pa.types.is_null(kind):
            return np.full(table.num_rows, self.default)
        column = _searchable(table.column(self.column))
        known = _searchable(pa.chunked_array([self._known(kind, self._name)])).combine_chunks()
        places = pc.fill_null(pc.index_in(column, value_set=known), len(self.table))
        worth = np.array([*(amount for _, amount in self.table), self.default])
        found: np.ndarray = worth[places.to_numpy()]
        return found

    def check(self, schema: pa.Schema, which: str) -> None:
        """Raise where the column is missing or cannot hold these categories."""
        asked = f"{self._name} of the {which} side"
        kind = find_column(schema, self.column, asked)
        family = family_of(self.table[0][0])
        assert family is not None  # checked at construction
        check_family(family, kind, asked, f"category {self.table[0][0]!r}", self.column)
        if not pa.types.is_null(kind):
            self._known(kind, asked)

    def to_json(self) -> dict[str, Any]:
        """Column, pairs and default."""
        return {
            "kind": self.kind,
            "column": self.column,
            "table": [[value_to_json(category), amount] for category, amount in self.table],
            "default": self.default,
        }

    @classmethod
    def _read(cls, parts: dict[str, Any]) -> "Categories":
        pairs = [(value_from_json(category), amount) for category, amount in parts["table"]]
        return cls(parts["column"], pairs, parts["default"])

    @property
    def _name(self) -> str:
        return f'the importance of categories in "{self.column}"'

    def _known(self, kind: pa.DataType, asked: str) -> pa.Array:
        """The categories as the column would hold them."""
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        try:
            return pa.array([_as_held(category, kind) for category, _ in self.table], kind)
        except (pa.ArrowException, ArithmeticError, ValueError, TypeError):
            for category, _ in self.table:
                try:
                    pa.array([_as_held(category, kind)], kind)
                except (pa.ArrowException, ArithmeticError, ValueError, TypeError) as error:
                    raise SpecError(
                        f'{asked}: category {category!r} can never be in column "{self.column}" '
                        f"({kind}): leave it out, or give one of the column's type"
                    ) from error
            raise

    def __repr__(self) -> str:
        shown = repr(self.table)
        if len(self.table) > SHOWN:
            first = ", ".join(map(repr, self.table[:SHOWN]))
            shown = f"({first}, ... {len(self.table):,} in all)"
        return f"Categories(column={self.column!r}, table={shown}, default={self.default!r})"


def _pairs(given: object) -> list[tuple[Any, float]]:
    pairs: list[Any] = list(given) if isinstance(given, Iterable) else [given]
    if not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in pairs):
        raise SpecError(
            f"table {given!r} of Categories is not a lookup table: give a dict such as "
            f'{{"politics": 3, "sports": 1}}'
        )
    return [(category, amount) for category, amount in pairs]


def _parse_table(pairs: Iterable[tuple[Any, float]], asked: str) -> tuple[tuple[Any, float], ...]:
    table: dict[Any, float] = {}
    families: dict[str, Any] = {}
    for given, amount in pairs:
        category = plain_value(given)
        family = family_of(category)
        if given is None or category != category:
            raise SpecError(
                f"{asked}: {given!r} is not a category: rows without one have the default, "
                f"give default="
            )
        if family is None:
            raise SpecError(
                f"{asked}: {given!r} is not a category: give text, numbers, booleans, dates, "
                f"timestamps or bytes"
            )
        families.setdefault(family, category)
        if len(families) > 1:
            one, other = families.values()
            raise SpecError(
                f"{asked}: categories {one!r} and {other!r} are of different types, and a column "
                f"has one: give all of one type"
            )
        if category in table:
            raise SpecError(f"{asked}: category {category!r} is there twice: give it once")
        table[category] = parse_amount(amount, f"importance of {category!r}")
    if not table:
        raise SpecError(
            f"{asked}: the lookup table is empty: give at least one category, or one number for "
            f"all rows of the side"
        )
    return tuple(sorted(table.items()))


def _as_held(category: Any, kind: pa.DataType) -> Any:
    """A category as a column of this type holds it; an error where it cannot."""
    if not isinstance(category, int | float | Decimal) or isinstance(category, bool):
        return category
    if pa.types.is_integer(kind):
        if category != int(category):
            raise ValueError(category)
        return int(category)
    if pa.types.is_decimal(kind):
        return Decimal(str(category)) if isinstance(category, float) else Decimal(category)
    return float(category)


def _searchable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column in a form that Arrow can search, with Spark's equality (-0.0 is 0.0)."""
    column = comparable(column)
    if pa.types.is_string_view(column.type):
        return column.cast(pa.large_string())
    if pa.types.is_binary_view(column.type):
        return column.cast(pa.large_binary())
    return column
