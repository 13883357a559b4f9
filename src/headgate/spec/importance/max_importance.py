"""MaxImportance: the goal of a join whose rows differ in importance."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa

from headgate.spec.bounded_json import read_json, shortened
from headgate.spec.errors import SpecError
from headgate.spec.goal import Goal
from headgate.spec.importance.categories import Categories
from headgate.spec.importance.combine import COMBINATIONS, Combine, pair_importance
from headgate.spec.importance.importance import Importance
from headgate.spec.importance.parsing import ImportanceLike, parse_importance
from headgate.spec.importance.publishing import write_definition

Combination = Literal["min", "product", "sum", "max"]

LONGEST_TEXT = 500_000
"""Characters of a definition: it is shipped with every task."""
ROWS_TRIED = 3
DEEPEST_TEXT = 8
"""Lists and objects of a definition inside one another; five are needed."""


@dataclass(frozen=True, init=False)
class MaxImportance(Goal):
    """Produce result rows of as much total importance as the budget can buy.

    Parameters
    ----------
    left, right
        How much rows of each side matter: a column or a Spark SQL expression as text, a number for
        all rows of the side, `Categories` or a `Histogram`. If one side is left out, the importance
        of a pair is that of the other side's row.
    combine
        The importance of a pair if both sides are given: the ``"min"`` (as in iJoin),
        ``"product"``, ``"sum"`` or ``"max"`` of its rows'.
    column
        Name of the column added to the result: the importance of each result row.
    fairness
        The share of evictions that take the oldest row rather than the least valuable one, from 0
        (none) to 1 (all: first in, first out).

    Examples
    --------
    >>> MaxImportance(left="price", right=2)
    MaxImportance(left=Expression(sql='price'), right=Source(value=2.0), combine='min', \
column='importance', fairness=0.0)
    >>> MaxImportance(left="price", right=2).pair(np.array([1.0, 5.0]), np.array([2.0, 2.0]))
    array([1., 2.])
    """

    left: Importance | None
    right: Importance | None
    combine: Combination
    column: str
    fairness: float

    def __init__(
        self,
        left: ImportanceLike = None,
        right: ImportanceLike = None,
        combine: Combination = "min",
        column: str = "importance",
        fairness: float = 0.0,
    ) -> None:
        if left is None and right is None:
            raise SpecError(
                "MaxImportance is told the importance of neither side: give left=, right=, or "
                "both; where all rows count the same, the goal is hg.MaxSubset()"
            )
        if not isinstance(combine, str) or combine not in COMBINATIONS:
            names = ", ".join(f'"{name}"' for name in COMBINATIONS)
            raise SpecError(f"combine={combine!r} is unknown: give one of {names}")
        if not isinstance(column, str) or not column:
            raise SpecError(f"column={column!r} is not a name: name the result's new column")
        if not _is_share(fairness):
            raise SpecError(
                f"fairness={fairness!r} is not accepted: give the share of decisions that go by "
                f"age alone, from 0 to 1"
            )
        object.__setattr__(self, "left", parse_importance(left, "left"))
        object.__setattr__(self, "right", parse_importance(right, "right"))
        object.__setattr__(self, "combine", combine)
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "fairness", float(fairness))
        self._check_size()

    @property
    def sides(self) -> tuple[Importance | None, Importance | None]:
        """The importance of the left side and of the right."""
        return self.left, self.right

    @property
    def code(self) -> Combine:
        """How the importance of a pair is computed, as a code for the kernel.

        Examples
        --------
        >>> MaxImportance(left="price").code, MaxImportance("price", 2, combine="sum").code
        (<Combine.LEFT: 1>, <Combine.SUM: 5>)
        """
        if self.right is None:
            return Combine.LEFT
        return Combine.RIGHT if self.left is None else COMBINATIONS[self.combine]

    def pair(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """The importance of pairs, from those of their left and of their right rows."""
        return pair_importance(self.code, left, right)

    def evaluate(self, table: pa.Table, side: int) -> np.ndarray:
        """The importance of each row of a side, 0 for the left and 1 for the right.

        It is 1 where the side has no importance.

        Examples
        --------
        >>> bids = pa.table({"price": [10.0, None]})
        >>> goal = MaxImportance(right="price")
        >>> goal.evaluate(bids, 1).tolist(), goal.evaluate(bids, 0).tolist()
        ([10.0, 0.0], [1.0, 1.0])
        """
        importance = self.sides[side]
        return np.ones(table.num_rows) if importance is None else importance.of(table)

    def check(self, schemas: Sequence[pa.Schema]) -> None:
        """Raise a `SpecError` where importance cannot be computed from these schemas.

        Examples
        --------
        >>> schemas = pa.schema({"id": pa.int64()}), pa.schema({"price": pa.float64()})
        >>> MaxImportance(left="price").check(schemas)
        Traceback (most recent call last):
        ...
        headgate.spec.errors.SpecError: importance 'price' of the left side reads column "price", \
which is missing: there are "id"
        """
        for importance, schema, which in zip(self.sides, schemas, ("left", "right"), strict=True):
            if importance is not None:
                importance.check(schema, which)
                _check_computes(importance, schema, which)

    def redefined(self, other: "MaxImportance") -> "MaxImportance":
        """Return `other` if this goal may change to it while the join runs, else raise.

        What rows are worth may change; which sides have importance, how the importance of a pair
        follows, the column's name and fairness may not.

        Examples
        --------
        >>> MaxImportance(left="price").redefined(MaxImportance(left="price * 2")).left
        Expression(sql='price * 2')
        """
        if not isinstance(other, MaxImportance):
            raise SpecError(f"{other!r} does not redefine importance: give a MaxImportance")
        changed = [
            f"{name} was {was!r} and is {now!r}"
            for name, was, now in zip(
                ("sides", "combine", "column", "fairness"), self._fixed, other._fixed, strict=True
            )
            if was != now
        ]
        if changed:
            raise SpecError(
                f"a running join cannot take up this importance: {'; '.join(changed)}. Only what "
                f"rows are worth may change: keep the rest, or start another join"
            )
        return other

    def to_json(self) -> str:
        """All of it as text; `from_json` reads it back."""
        return json.dumps(
            {
                "left": None if self.left is None else self.left.to_json(),
                "right": None if self.right is None else self.right.to_json(),
                "combine": self.combine,
                "column": self.column,
                "fairness": self.fairness,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> "MaxImportance":
        """The goal that `to_json` wrote.

        Examples
        --------
        >>> goal = MaxImportance(left="price", fairness=0.1)
        >>> MaxImportance.from_json(goal.to_json()) == goal
        True
        """
        given = read_json(text, "a definition of importance", LONGEST_TEXT, DEEPEST_TEXT)
        try:
            left, right = (
                None if given[which] is None else Importance.from_json(given[which])
                for which in ("left", "right")
            )
            return cls(left, right, given["combine"], given["column"], given["fairness"])
        except SpecError:
            raise
        except (ValueError, KeyError, TypeError, ArithmeticError) as error:
            raise SpecError(
                f"{shortened(text)} is not a definition of importance: give what "
                f"MaxImportance.to_json() wrote"
            ) from error

    def publish(self, folder: str | os.PathLike[str], at: datetime | str | None = None) -> Path:
        """Hand this definition to running joins that watch a folder.

        Parameters
        ----------
        folder
            The folder; it is made where it is missing.
        at
            The event time from which it holds, a datetime or ISO text with its zone. When left
            out, it holds from the next batch on.

        Returns
        -------
        Path
            The file, written atomically.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = MaxImportance(left="price").publish(folder, at="2026-01-01T18:00:00+00:00")
        ...     print(file.read_text())
        {"definition": "{...}", "at": "2026-01-01T18:00:00.000000+00:00"}
        """
        return write_definition(folder, self.to_json(), at)

    @property
    def _fixed(self) -> tuple[object, ...]:
        given = [
            which
            for which, side in zip(("left", "right"), self.sides, strict=True)
            if side is not None
        ]
        return " and ".join(given), self.combine, self.column, self.fairness

    def _check_size(self) -> None:
        length = len(self.to_json())
        if length > LONGEST_TEXT:
            categories = sum(len(s.table) for s in self.sides if isinstance(s, Categories))
            raise SpecError(
                f"this importance takes {length:,} characters with its {categories:,} categories, "
                f"and at most {LONGEST_TEXT:,} are shipped with every task: put the importance "
                f"into a column of the stream, by a join with the table, and name that column"
            )


def _check_computes(importance: Importance, schema: pa.Schema, which: str) -> None:
    """Raise where it fails at once, on no rows or on rows without values: it would on a stream."""
    kinds = {name: schema.field(name).type for name in importance.columns}
    for rows in (0, ROWS_TRIED):
        try:
            importance.of(pa.table({name: pa.nulls(rows, kind) for name, kind in kinds.items()}))
        except (pa.ArrowException, ArithmeticError, ValueError, TypeError) as error:
            if isinstance(error, SpecError):
                raise
            raise SpecError(
                f"the importance of the {which} side cannot be computed: {error}"
            ) from error


def _is_share(given: object) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given <= 1
