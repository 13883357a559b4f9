"""Importance by a column, or by an expression over columns."""

import re
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from headgate.spec.bounded_json import shortened
from headgate.spec.errors import SpecError
from headgate.spec.importance.importance import Importance, check_text, cleaned, find_column

if TYPE_CHECKING:
    from headgate.spec.importance.spark_sql import Translation

LONGEST_EXPRESSION = 20_000
"""Characters; parsing takes seconds beyond."""
_QUOTED = re.compile(r"`((?:[^`]|``)+)`")


@dataclass(frozen=True)
class Expression(Importance):
    """The importance of a row is the value of a Spark SQL expression over its columns.

    Users give the text itself: ``hg.MaxImportance(left="price * quantity")``. The name of a column
    is read as it is, from numbers, decimals or booleans. Everything else is computed by DuckDB
    (``pip install "headgate[importance]"``) with Spark's meaning. Expressions without a
    value, such as ``1 / 0``, ``ln(0)`` or ``cast("x" as int)``, are null rather than an error, even
    where Spark's ANSI mode would raise one; so are numbers too large for their type. Null counts
    as 0.

    Parameters
    ----------
    sql
        A column, or an expression over the columns of one row: no aggregates, windows or
        subqueries. Columns are named as they are spelt, in backquotes where they hold spaces.

    Examples
    --------
    >>> bids = pa.table({"price": [10.0, 4.0, None], "seller": ["new", "old", "old"]})
    >>> Expression("price").of(bids).tolist()
    [10.0, 4.0, 0.0]
    >>> Expression("case when seller = 'old' then 2 * price else price end").of(bids).tolist()
    [10.0, 8.0, 0.0]
    >>> Expression("price / length(seller)").columns
    ('price', 'seller')
    """

    kind: ClassVar[str] = "expression"

    sql: str

    def __post_init__(self) -> None:
        if not isinstance(self.sql, str) or not self.sql.strip():
            raise SpecError(
                f"importance {self.sql!r} is not an expression: give a column name or a Spark SQL "
                f'expression such as "price * quantity"'
            )
        if len(self.sql) > LONGEST_EXPRESSION:
            raise SpecError(
                f"importance {shortened(self.sql)} has {len(self.sql):,} characters, and at most "
                f"{LONGEST_EXPRESSION:,} are read: for a long list of cases give "
                f"hg.Categories(...) or hg.Histogram(...), or add a column to the stream"
            )
        check_text(self.sql, "importance")
        object.__setattr__(self, "sql", self.sql.strip())
        if self._column is None:
            # Both packages are needed later, and it is better to fail now.
            self._translation()
            self._evaluation()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads; of a field of a struct, the struct."""
        return self._translation().columns if self._column is None else (self._column,)

    def of(self, table: pa.Table) -> np.ndarray:
        """The expression's value for each row."""
        for name in self.columns:
            self._check_column(table.schema, name, self._name)
        if self._column is not None:
            return cleaned(table.column(self._column))
        return cleaned(self._evaluation().evaluate(self._translation(), table, self._name))

    def check(self, schema: pa.Schema, which: str) -> None:
        """Raise where columns are missing or the value would not be a number."""
        asked = f"{self._name} of the {which} side"
        for name in self.columns:
            self._check_column(schema, name, asked)
        if self._column is None:
            self._evaluation().check_binds(self._translation(), schema, asked)
            self._evaluation().check_computes(self._translation(), schema, asked)

    def to_json(self) -> dict[str, Any]:
        """The text."""
        return {"kind": self.kind, "sql": self.sql}

    @property
    def _name(self) -> str:
        return f"importance {self.sql!r}"

    @property
    def _column(self) -> str | None:
        """The column's name where the text is just that; needs no parser."""
        if self.sql.isidentifier():
            return self.sql
        quoted = _QUOTED.fullmatch(self.sql)
        return quoted.group(1).replace("``", "`") if quoted else None

    def _check_column(self, schema: pa.Schema, name: str, asked: str) -> None:
        kind = find_column(schema, name, asked)
        if self._column is not None and not _is_countable(kind):
            raise SpecError(
                f"{asked} is a column of {kind}: give one of numbers, decimals or booleans, or "
                f"for categories a table, hg.Categories({name!r}, {{...}})"
            )

    def _translation(self) -> "Translation":
        translated: Translation = self._module("spark_sql").translate(self.sql)
        return translated

    def _evaluation(self) -> ModuleType:
        return self._module("evaluation")

    def _module(self, name: str) -> ModuleType:
        """Import a module that depends on optional packages, which are slow to import."""
        try:
            return import_module(f"headgate.spec.importance.{name}")
        except ModuleNotFoundError as missing:
            raise SpecError(
                f"importance {self.sql!r} is an expression, and {missing.name} is missing to "
                f'compute it: pip install "headgate[importance]"'
            ) from missing


def _is_countable(kind: pa.DataType) -> bool:
    types = pa.types
    if types.is_dictionary(kind):
        return _is_countable(kind.value_type)
    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_null)
    return any(test(kind) for test in tests)
