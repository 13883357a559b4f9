"""Rows of one side as arrays of numbers: the input and output of a step."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from headgate.kernel.meetings import MetBefore
from headgate.kernel.watched import Watched


def joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Concatenate arrays; an empty float array does not turn integers into floats."""
    filled = [part for part in parts if part.size]
    return np.concatenate(filled) if filled else parts[-1]


def one_after_the_other(numbers: np.ndarray) -> np.ndarray | slice:
    """The same numbers as a slice where they ascend by one, which copies nothing.

    Examples
    --------
    >>> one_after_the_other(np.array([3, 4, 5])), one_after_the_other(np.array([3, 5, 4, 6]))
    (slice(3, 6, None), array([3, 5, 4, 6]))
    """
    count = len(numbers)
    if not count or numbers[-1] - numbers[0] != count - 1 or (numbers[1:] <= numbers[:-1]).any():
        return numbers
    return slice(int(numbers[0]), int(numbers[-1]) + 1)


class Rows(NamedTuple):
    """Rows of one side; each array has one entry per row.

    Code, size and value are empty where not known yet: rows of Arrow tables get theirs anew in
    every step.
    """

    time: np.ndarray  # int64, microseconds
    code: np.ndarray  # int32, equal for equal keys within this step
    size: np.ndarray  # int64, bytes
    weight: np.ndarray  # float64, the policy's weight of the key
    sequence: np.ndarray  # int64, counts the rows of the side (arrivals: to be filled in)
    matches: np.ndarray  # int32
    touched: np.ndarray  # int64
    value: np.ndarray  # int64 or float64, for the predicate; empty where there is none
    watched: Watched | None = None
    importance: np.ndarray | None = None  # float64 (definition, row); None where all count alike
    recent: np.ndarray | None = None  # float64: decayed matches as of `touched`
    effort: np.ndarray | None = None  # float64 (2, row): shares of arrivals to probe, and to store
    fate: np.ndarray | None = None  # uint8: bits of `Fate`; None for inner joins, and arrivals
    meetings: MetBefore | None = None  # watched rows: what they met before; None where not known
    traits: np.ndarray | None = None  # float32 (row, trait): named columns; None where none are

    @classmethod
    def of_arrivals(
        cls,
        time: np.ndarray,
        code: np.ndarray,
        size: np.ndarray,
        weight: np.ndarray,
        value: np.ndarray | None = None,
    ) -> "Rows":
        """A batch of arriving rows: no matches yet, last touched on arrival."""
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
    def empty(cls) -> "Rows":
        """No rows."""
        none = np.empty(0, np.int64)
        return cls.of_arrivals(none, none.astype(np.int32), none, none.astype(np.float64))

    def take(self, numbers: np.ndarray) -> "Rows":
        """The rows with these numbers, in that order; drops the watch state."""
        which = one_after_the_other(numbers)
        columns = [column[which] if column.size else column for column in self[:8]]
        taken = Rows(*columns)  # type: ignore[arg-type]  # all that may not be left out
        return taken._replace(
            importance=None if self.importance is None else self.importance[:, numbers],
            recent=None if self.recent is None else self.recent[which],
            effort=None if self.effort is None else self.effort[:, numbers],
            fate=None if self.fate is None else self.fate[which],
            traits=None if self.traits is None else self.traits[which],
        )

    def where(self, keep: np.ndarray) -> "Rows":
        """The rows selected by a mask; drops the watch state."""
        return self if keep.all() and self.watched is None else self.take(np.flatnonzero(keep))

    def followed_by(self, other: "Rows") -> "Rows":
        """Concatenate two batches, with all columns that persist between steps."""
        columns = [joined(both) for both in zip(self[:8], other[:8], strict=True)]
        rows = Rows(*columns)  # type: ignore[arg-type]  # all that may not be left out
        important = [part.importance for part in (self, other) if part.importance is not None]
        if other.importance is not None:
            rows = rows._replace(importance=np.concatenate(important, axis=1))
        if self.recent is not None or other.recent is not None:
            recent = [
                np.zeros(len(part.time)) if part.recent is None else part.recent
                for part in (self, other)
            ]
            rows = rows._replace(recent=np.concatenate(recent))
        if self.fate is not None or other.fate is not None:
            rows = rows._replace(fate=np.concatenate([self.fates, other.fates]))
        known = [part.traits for part in (self, other) if part.traits is not None]
        if known:
            rows = rows._replace(traits=np.concatenate(known))
        return rows

    @property
    def fates(self) -> np.ndarray:
        """What is known of the partners of each row; see `Fate`."""
        return np.zeros(len(self.time), np.uint8) if self.fate is None else self.fate
