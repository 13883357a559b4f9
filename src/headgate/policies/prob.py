"""PROB: keep the rows most likely to match the next arrival."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa

from headgate.models import Frequencies
from headgate.policies.kinds.fixed_score import FixedScore
from headgate.policies.policy import ONLY_PAIRS, Arrivals, RanksBy
from headgate.policies.row_yields import rate_by_key
from headgate.spec import Brings, How, SpecError, TimeWindow, Window


@dataclass(frozen=True, eq=False)
class Prob(FixedScore):
    """Evict the row whose key is rarest on the other side.

    Where the goal is importance, the row of least probability × importance. In an anti join the row
    whose key is most frequent, since it is likely to match; in an outer join a row is worth its
    matches and, while it has none, the chance to stay without.

    Parameters
    ----------
    frequencies
        The frequency model of both sides.
    rows_per_us
        For outer joins: rows of the other side that come in a microsecond, for rows of each side;
        by default what the model says. Where it is not known, matches alone count.
    knows_all
        For outer joins: whether a key of which the model has nothing is known not to come. Where
        few keys are counted it is not, and rows of others count by their matches alone.

    Examples
    --------
    >>> model = Frequencies.of_mappings({"a": 0.9, "b": 0.1}, {"a": 0.5, "b": 0.5})
    >>> Prob(model).label
    'PROB'

    References
    ----------
    Das, Gehrke, Riedewald, SIGMOD 2003; as defined in Srivastava and Widom, VLDB 2004,
    section 3.3.
    """

    frequencies: Frequencies | None
    rows_per_us: tuple[float, float] | None = field(default=None, repr=False)
    knows_all: bool = field(default=True, repr=False)
    brings: tuple[Brings, Brings] = field(default=ONLY_PAIRS, repr=False)
    windows_us: tuple[float, float] = field(default=(0.0, 0.0), repr=False)

    name: ClassVar[str] = "prob"
    caches: ClassVar[bool] = True
    weighs_keys: ClassVar[bool] = True
    ranks_by: ClassVar[RanksBy] = RanksBy.FREQUENCY
    weighs_matches: ClassVar[bool] = True
    goes_by_kind: ClassVar[bool] = True
    model: ClassVar[str] = "frequencies"

    def __post_init__(self) -> None:
        if self.frequencies is not None and not isinstance(self.frequencies, Frequencies):
            raise SpecError(f"Prob takes a Frequencies model, not {self.frequencies!r}")
        if self.frequencies is not None and self.rows_per_us is None:
            object.__setattr__(self, "rows_per_us", self.frequencies.rows_per_us)

    def weigh(self, columns: Sequence[pa.ChunkedArray], side: int) -> np.ndarray:
        """The probability that the other side's next row has the key."""
        if self.frequencies is None:
            raise SpecError("this Prob was shipped without its model and cannot weigh keys")
        return self.frequencies.match_probability(columns, side)

    def without_model(self) -> "Prob":
        """The policy without its model, since weights travel with the rows."""
        return replace(self, frequencies=None)

    def serving(self, how: How, windows: tuple[Window, Window]) -> "Prob":
        """By what rows of a key bring to this kind of join."""
        brings = how.brings
        timed = all(isinstance(window, TimeWindow) for window in windows)
        if self.rows_per_us is None or not timed:
            left, right = (Brings.PAIRS if one == Brings.EITHER else one for one in brings)
            brings = left, right
        spans = float(windows[0].span), float(windows[1].span)
        return replace(self, brings=brings, windows_us=spans)

    @property
    def refuses_equals(self) -> bool:
        """Whether rows come out for having waited: then those that have waited longer stay."""
        return (self.falls and self.knows_all) or Brings.ALONE in self.brings

    @property
    def falls(self) -> bool:
        """Whether rows count for staying without a partner beside their matches."""
        return Brings.EITHER in self.brings

    def score(self, arrivals: Arrivals) -> np.ndarray:
        """Match probability × importance, or what else a row brings."""
        if not (self.falls or Brings.ALONE in self.brings):
            return self.fallen_score(arrivals)
        rate = self._rates(arrivals)
        left, right = (
            rate_by_key(brings, rate, window)
            for brings, window in zip(self.brings, self.windows_us, strict=True)
        )
        score: np.ndarray = np.where(arrivals.side == 0, left, right) * arrivals.importance
        if self.falls and not self.knows_all:
            score = np.where(rate > 0, score, 0.0)
        return score

    def fallen_score(self, arrivals: Arrivals) -> np.ndarray:
        """Match probability × importance."""
        score: np.ndarray = self._rates(arrivals) * arrivals.importance
        return score

    def _rates(self, arrivals: Arrivals) -> np.ndarray:
        """Match probabilities; matches a microsecond where they are compared with other rows."""
        if not self.falls or self.rows_per_us is None:
            return arrivals.weight
        rates: np.ndarray = arrivals.weight * np.array(self.rows_per_us)[arrivals.side]
        return rates
