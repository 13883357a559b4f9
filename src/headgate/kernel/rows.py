"""Rows of one side as numbers: what a step takes and hands on."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from headgate.kernel.watched import Watched


def joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Arrays one after the other; an empty one does not turn whole numbers into real ones."""
    filled = [part for part in parts if part.size]
    return np.concatenate(filled) if filled else parts[-1]


class Batch(NamedTuple):
    """Rows of one side, an entry a row.

    Code, size and value are empty where they are not known yet: rows beside an Arrow table get
    theirs in every step.
    """

    time: np.ndarray  # int64, microseconds
    code: np.ndarray  # int32, equal for equal keys of this step
    size: np.ndarray  # int64, bytes
    weight: np.ndarray  # float64, what the policy made of the key
    sequence: np.ndarray  # int64, counts the rows of the side (arrivals: to be filled in)
    matches: np.ndarray  # int32
    touched: np.ndarray  # int64
    value: np.ndarray  # int64 or float64, for the predicate; empty where there is none
    watched: Watched | None = None
    importance: np.ndarray | None = None  # float64 (definition, row); None where all count alike
    recent: np.ndarray | None = None  # float64: matches when last touched, old ones counting less
    effort: np.ndarray | None = None  # float64 (2, row): shares of arrivals to probe, and to store

    @classmethod
    def of_arrivals(
        cls,
        time: np.ndarray,
        code: np.ndarray,
        size: np.ndarray,
        weight: np.ndarray,
        value: np.ndarray | None = None,
    ) -> "Batch":
        """Rows without a past."""
        return cls(
            time,
            code,
            size,
            weight,
            sequence=np.zeros(len(time), np.int64),
            matches=np.zeros(len(time), np.int32),
            touched=time,
            value=np.empty(0) if value is None else value,
        )

    @classmethod
    def empty(cls) -> "Batch":
        """No rows."""
        none = np.empty(0, np.int64)
        return cls.of_arrivals(none, none.astype(np.int32), none, none.astype(np.float64))

    def take(self, numbers: np.ndarray) -> "Batch":
        """Some of the rows, in the order asked for; not what is watched."""
        columns = [column[numbers] if column.size else column for column in self[:8]]
        taken = Batch(*columns)  # type: ignore[arg-type]  # all that may not be left out
        return taken._replace(
            importance=None if self.importance is None else self.importance[:, numbers],
            recent=None if self.recent is None else self.recent[numbers],
            effort=None if self.effort is None else self.effort[:, numbers],
        )

    def where(self, keep: np.ndarray) -> "Batch":
        """Only some of the rows; not what is watched."""
        return self if keep.all() and self.watched is None else self.take(np.flatnonzero(keep))

    def followed_by(self, other: "Batch") -> "Batch":
        """These rows, then those, with all that is kept from step to step."""
        columns = [joined(both) for both in zip(self[:8], other[:8], strict=True)]
        rows = Batch(*columns)  # type: ignore[arg-type]  # all that may not be left out
        important = [part.importance for part in (self, other) if part.importance is not None]
        if other.importance is not None:
            rows = rows._replace(importance=np.concatenate(important, axis=1))
        if self.recent is not None or other.recent is not None:
            recent = [
                np.zeros(len(part.time)) if part.recent is None else part.recent
                for part in (self, other)
            ]
            rows = rows._replace(recent=np.concatenate(recent))
        return rows
