"""LIFE: keep the rows expected to match most often before their window passes."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa

from headgate.models import Frequencies
from headgate.policies.kinds.value_score import ValueScore
from headgate.policies.policy import Arrivals, RanksBy
from headgate.spec import How, SpecError, TimeWindow, Window

MOST_CLASSES = 64


@dataclass(frozen=True, eq=False)
class Life(ValueScore):
    """Evict the row with the least product of match probability and remaining lifetime.

    Rows of one probability form a class, whose oldest row has the lowest score, so an eviction
    compares classes, not rows. Where the model has more than 64 different probabilities they are
    rounded to 64 levels in equal ratios (under 14 % apart for probabilities from 1 to 0.0003).

    In a semi join a left row brings its first match alone, so the product counts as the chance of
    one; in an anti join the row expected to match most is evicted first. In outer joins matches
    alone count: a row without a partner must be stored to its very end, and the product falls
    towards it.

    Parameters
    ----------
    frequencies
        The frequency model of both sides.
    rows_per_us
        For semi joins: rows of the other side that come in a microsecond, for rows of each side; by
        default what the model says.

    Examples
    --------
    >>> model = Frequencies.of_mappings({"a": 0.9, "b": 0.1}, {"a": 0.5, "b": 0.5})
    >>> Life(model).class_weights().tolist()
    [0.0, 0.1, 0.5, 0.9]

    References
    ----------
    Das, Gehrke, Riedewald, SIGMOD 2003; as defined in Xie, Yang, Chen, SIGMOD 2005, section 1.
    """

    frequencies: Frequencies | None
    levels: tuple[float, ...] = field(default=(), repr=False)
    rows_per_us: tuple[float, float] | None = field(default=None, repr=False)

    name: ClassVar[str] = "life"
    weighs_keys: ClassVar[bool] = True
    ranks_by: ClassVar[RanksBy] = RanksBy.FREQUENCY
    weighs_matches: ClassVar[bool] = True
    goes_by_kind: ClassVar[bool] = True
    model: ClassVar[str] = "frequencies"

    def __post_init__(self) -> None:
        if self.frequencies is None:
            return
        if not isinstance(self.frequencies, Frequencies):
            raise SpecError(f"Life takes a Frequencies model, not {self.frequencies!r}")
        if self.rows_per_us is None:
            object.__setattr__(self, "rows_per_us", self.frequencies.rows_per_us)
        shares = np.concatenate([self.frequencies.left.share, self.frequencies.right.share])
        object.__setattr__(self, "levels", tuple(_levels(shares).tolist()))

    @classmethod
    def of_weights(cls, weights: np.ndarray) -> "Life":
        """LIFE for rows that come with the matches expected of them a microsecond."""
        return cls(None, tuple(_levels(weights).tolist()), rows_per_us=(1.0, 1.0))

    def serving(self, how: How, windows: tuple[Window, Window]) -> "Life":
        """By what rows of a key bring to this kind of join."""
        per_us = self.rows_per_us
        if per_us is None or not all(isinstance(window, TimeWindow) for window in windows):
            per_us = (0.0, 0.0)
        return replace(self, brings=how.brings, matches_a_unit=per_us)

    def check(self, windows: tuple[Window, Window]) -> None:
        """Require windows of the same unit, so that remaining lifetimes can be compared."""
        if type(windows[0]) is not type(windows[1]):
            raise SpecError(
                f'policy "life" compares remaining windows, and these are {windows[0]} and '
                f"{windows[1]}: give both in time or both in rows"
            )

    def weigh(self, columns: Sequence[pa.ChunkedArray], side: int) -> np.ndarray:
        """The probability that the other side's next row has the key."""
        if self.frequencies is None:
            raise SpecError("this Life was shipped without its model and cannot weigh keys")
        return self.frequencies.match_probability(columns, side)

    def without_model(self) -> "Life":
        """The policy without its model: weights travel with the rows, and levels class them."""
        return replace(self, frequencies=None)

    def class_weights(self) -> np.ndarray:
        """The levels."""
        return np.array(self.levels)

    def classify(self, arrivals: Arrivals) -> np.ndarray:
        """The nearest level."""
        levels = np.array(self.levels)
        between = (levels[1:] + levels[:-1]) / 2
        return np.searchsorted(between, arrivals.weight).astype(np.int32)


def _levels(shares: np.ndarray) -> np.ndarray:
    distinct = np.unique(np.append(shares, 0.0))
    if len(distinct) <= MOST_CLASSES:
        return distinct
    return np.append(0.0, np.geomspace(distinct[1], distinct[-1], MOST_CLASSES - 1))
