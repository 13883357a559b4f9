"""Key values as integers, for policies that model how values move."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from headgate.columns.ordered_numbers import ordered_numbers
from headgate.spec import SpecError


def key_values(columns: Sequence[pa.ChunkedArray], unit: float, label: str) -> np.ndarray:
    """The values of a numeric key column, in multiples of ``unit``; 0 for nulls.

    Examples
    --------
    >>> key_values([pa.chunked_array([[20.5, None]])], 0.1, "HEEB").tolist()
    [205.0, 0.0]
    >>> key_values([pa.chunked_array([["a"]])], 1, "HEEB")
    Traceback (most recent call last):
    ...
    headgate.spec.errors.SpecError: policy "heeb" follows the values of one key column of numbers,
    dates or times, and the keys here are string: choose another policy
    """
    kind = columns[0].type
    if len(columns) != 1 or not _is_number(kind):
        kinds = ", ".join(str(column.type) for column in columns)
        raise SpecError(
            f'policy "{label.lower()}" follows the values of one key column of numbers, dates or '
            f"times, and the keys here are {kinds}: choose another policy"
        )
    real = unit != 1 or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    numbers, _ = ordered_numbers(columns[0], real)
    return np.rint(numbers / unit) if real else numbers.astype(np.float64)


def _is_number(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_date(kind)
        or pa.types.is_timestamp(kind)
    )
