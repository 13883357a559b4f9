"""Rows whose importance is told, and what every way of telling it must stand."""

import json
import math
import pickle
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from headgate.spec import Importance, SpecError

INF = math.inf

ROWS = pa.table(
    {
        "price": [10.0, 4.0, None, -1.0],
        "quantity": pa.array([1, 2, 3, 0], pa.int32()),
        "category": ["sports", "politics", None, "weather"],
        "wanted": [True, False, None, True],
        "day": pa.array([date(2026, 1, day) for day in (1, 2, 3, 4)]),
        "seen at": pa.array([0, 1, 2, None], pa.timestamp("us", "UTC")),
        "exact": pa.array([Decimal("1.50"), None, Decimal("-2.00"), Decimal("7.25")]),
    }
)


def message(call: Any, *args: Any, **kwargs: Any) -> str:
    """What the error says."""
    with pytest.raises(SpecError) as error:
        call(*args, **kwargs)
    return str(error.value)


def checked(importance: Importance, table: pa.Table = ROWS) -> list[float]:
    """What rows are worth, once the schema is found to do, in the same form from all copies."""
    importance.check(table.schema, "left")
    found = importance.of(table)
    assert found.dtype == np.float64
    assert found.shape == (table.num_rows,)
    for copy in (
        Importance.from_json(json.loads(json.dumps(importance.to_json()))),
        pickle.loads(pickle.dumps(importance)),
    ):
        assert copy == importance
        assert hash(copy) == hash(importance)
        np.testing.assert_array_equal(copy.of(table), found)
    chunked = pa.concat_tables([table.slice(0, 1), table.slice(1)])
    np.testing.assert_array_equal(importance.of(chunked), found)
    assert importance.of(table.slice(0, 0)).tolist() == []
    return found.tolist()
