"""Importance by source: all rows of a side count the same."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from headgate.spec.importance.importance import Importance, parse_amount


@dataclass(frozen=True)
class Source(Importance):
    """Every row of the side has importance `value`: source-based importance.

    Users give the number itself: ``hg.MaxImportance(left=3, right=1, combine="sum")``.

    Examples
    --------
    >>> Source(3)
    Source(value=3.0)
    >>> Source(3).of(pa.table({"id": [7, 8]})).tolist()
    [3.0, 3.0]
    """

    kind: ClassVar[str] = "source"

    value: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", parse_amount(self.value, "value"))

    @property
    def columns(self) -> tuple[str, ...]:
        """None."""
        return ()

    def of(self, table: pa.Table) -> np.ndarray:
        """The same for each row."""
        return np.full(table.num_rows, self.value)

    def check(self, schema: pa.Schema, which: str) -> None:
        """Any schema will do."""

    def to_json(self) -> dict[str, Any]:
        """The value."""
        return {"kind": self.kind, "value": self.value}
