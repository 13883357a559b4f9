"""Importance: the base class of all ways to compute the importance of rows."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.spec.bounded_json import shortened
from headgate.spec.errors import SpecError


@dataclass(frozen=True)
class Importance(ABC):
    """How much each row of a side matters: a number of zero or more, computed from its columns.

    Unusable results count as 0: null, NaN, infinite and negative ones.

    Users rarely make one by name: text is an `Expression`, a number a `Source`; `Categories` and
    `Histogram` are the tables.

    Examples
    --------
    >>> from headgate.spec.importance import Expression
    >>> rows = pa.table({"price": [3.0, None, -1.0]})
    >>> parts = Expression("price").to_json()
    >>> parts
    {'kind': 'expression', 'sql': 'price'}
    >>> Importance.from_json(parts).of(rows).tolist()
    [3.0, 0.0, 0.0]
    """

    kind: ClassVar[str]
    _kinds: ClassVar[dict[str, type["Importance"]]] = {}

    def __init_subclass__(cls) -> None:
        Importance._kinds[cls.kind] = cls

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns it reads."""

    @abstractmethod
    def of(self, table: pa.Table) -> np.ndarray:
        """The importance of each row: finite, zero or more, float64."""

    @abstractmethod
    def check(self, schema: pa.Schema, which: str) -> None:
        """Raise a `SpecError` where it cannot be computed from rows of this schema.

        ``which`` is the side, "left" or "right", for the message.
        """

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """All of it, as what JSON can carry; `from_json` reads it back."""

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> "Importance":
        """The importance that `to_json` wrote, whichever kind it is."""
        parts = dict(given)
        kind = parts.pop("kind", None)
        if kind not in cls._kinds:
            known = ", ".join(f'"{name}"' for name in sorted(cls._kinds))
            raise SpecError(f"importance of kind {kind!r} is unknown: known are {known}")
        return cls._kinds[kind]._read(parts)

    @classmethod
    def _read(cls, parts: dict[str, Any]) -> "Importance":
        return cls(**parts)


def cleaned(raw: pa.ChunkedArray | pa.Array | np.ndarray) -> np.ndarray:
    """The results, with 0 for null, NaN, infinite and negative ones.

    The importance of such a row is unknown, so it counts as 0.

    Examples
    --------
    >>> cleaned(pa.array([1.5, None, float("nan"), float("inf"), -2.0])).tolist()
    [1.5, 0.0, 0.0, 0.0, 0.0]
    """
    if not isinstance(raw, np.ndarray):
        # safe=False: whole numbers past 2**53 are rounded rather than refused.
        real = raw.cast(pa.float64(), safe=False)
        if real.null_count:
            real = pc.fill_null(real, 0.0)
        raw = real.to_numpy() if isinstance(real, pa.ChunkedArray) else real.to_numpy(False)
    numbers = np.asarray(raw, np.float64)
    return np.where(np.isfinite(numbers) & (numbers > 0), numbers, 0.0)


def parse_amount(given: object, what: str) -> float:
    """An importance that was given as a number: finite, zero or more.

    Examples
    --------
    >>> parse_amount(3, "default")
    3.0
    """
    amount = math.nan
    if isinstance(given, bool | np.bool_):
        pass  # bool is a number in Python, but not a valid importance
    elif isinstance(given, Real | Decimal):
        try:
            amount = float(given)
        except (OverflowError, ValueError):  # too large for a float, or a signalling NaN
            amount = math.nan
    if not 0 <= amount < math.inf:
        raise SpecError(
            f"{what}={given!r} is not an importance: give a number of zero or more, and finite"
        )
    return amount


def parse_column(given: object, what: str) -> str:
    """The name of a column, checked to be one."""
    if not isinstance(given, str) or not given:
        raise SpecError(f"{what} {given!r} is not a column name: give the column to look at")
    check_text(given, what)
    return given


def check_text(given: str, what: str) -> None:
    """Raise where text cannot be encoded as UTF-8: lone surrogates, from broken JSON."""
    try:
        given.encode()
    except UnicodeEncodeError as error:
        raise SpecError(
            f"{what} {shortened(given)} is not text: character {error.start} is half of a pair"
        ) from error


def find_column(schema: pa.Schema, name: str, asked: str) -> pa.DataType:
    """The type of a column; an error that names all columns where it is not there once."""
    places = schema.get_all_field_indices(name)
    if len(places) == 1:
        return schema.field(places[0]).type
    if places:
        raise SpecError(f'{asked} reads column "{name}", and there are {len(places)} of that name')
    there = ", ".join(f'"{column}"' for column in schema.names)
    raise SpecError(f'{asked} reads column "{name}", which is missing: there are {there}')
