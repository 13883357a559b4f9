"""AGE: keep rows while they are at the ages at which they match most."""

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import ClassVar

import numpy as np

from headgate.compiling import compiled
from headgate.models import AgeCurves
from headgate.policies.kinds.age_score import AgeScore, Piece
from headgate.policies.policy import ONLY_PAIRS, RanksBy, require_times
from headgate.policies.row_yields import rates_by_age
from headgate.spec import Brings, How, SpecError, Window

TOLERANCE, MOST_PIECES = 0.01, 16
"""Relative error allowed when a priority is approximated by linear pieces; raised where that takes
too many pieces."""


@dataclass(frozen=True)
class Age(AgeScore):
    """Evict the row with the lowest achievable match rate from now on.

    If memory cannot hold every row up to the best age, some rows are kept to that age and others
    refused; with more memory, every row is kept as long as memory allows. Where the curve falls
    and rises again, rows are evicted in the trough and kept at the next rise.

    In a semi join that is the rate of first matches, among rows that have none yet; in an anti join
    the chance to have none to the end, for the time that is left, which rises with age; in an outer
    join both, until a row has met a partner.

    Parameters
    ----------
    curves
        The age model of both sides.
    of_first
        For semi and anti joins: whether the left curve has first matches alone; a learned one does.

    Examples
    --------
    >>> from headgate.models import AgeCurve
    >>> Age(AgeCurves(AgeCurve(10, [1, 2]), AgeCurve(10, [1]))).label
    'AGE'

    References
    ----------
    Srivastava and Widom, VLDB 2004, section 3.2.
    """

    curves: AgeCurves
    of_first: bool = field(default=False, repr=False)
    brings: tuple[Brings, Brings] = field(default=ONLY_PAIRS, repr=False)

    name: ClassVar[str] = "age"
    ranks_by: ClassVar[RanksBy] = RanksBy.AGE
    goes_by_kind: ClassVar[bool] = True
    model: ClassVar[str] = "ages"
    weighs_importance: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.curves, AgeCurves):
            raise SpecError(f"Age takes an AgeCurves model, not {self.curves!r}")

    def check(self, windows: tuple[Window, Window]) -> None:
        """Require time windows, since ages are times."""
        require_times(windows, 'policy "age" ranks rows by how long they have waited')

    def serving(self, how: How, windows: tuple[Window, Window]) -> "Age":
        """By what rows of an age bring to this kind of join."""
        return replace(self, brings=how.brings)

    @property
    def falls(self) -> bool:
        """Whether rows count for staying without a partner beside their matches."""
        return Brings.EITHER in self.brings

    def pieces(self, side: int, window: Window) -> tuple[Piece, ...]:
        """The greedy priority per age bucket; zero beyond the curve."""
        return self._pieces(side, self.brings[side])

    def fallen_pieces(self, side: int, window: Window) -> tuple[Piece, ...]:
        """Likewise, by matches alone."""
        return self._pieces(side, Brings.PAIRS)

    def _pieces(self, side: int, brings: Brings) -> tuple[Piece, ...]:
        curve = self.curves[side]
        starts, ends = rates_by_age(curve, brings, self.of_first)
        # Rows compete with arrivals, so scores below an arrival's need little precision.
        tolerance = TOLERANCE * np.maximum(starts, starts[0])
        cuts = np.empty(len(starts), np.int64)
        while (count := _cut_straight(starts, ends, tolerance, cuts)) > MOST_PIECES:
            tolerance *= 1.5
        pieces = []
        for first, beyond in pairwise((*cuts[:count].tolist(), len(starts))):
            rise = ends[beyond - 1] - starts[first]
            slope = rise / ((beyond - first) * curve.width)
            pieces.append(Piece(float(first * curve.width), float(starts[first]), float(slope)))
        return (*pieces, Piece(float(curve.window), 0.0, 0.0))


@compiled
def _cut_straight(
    starts: np.ndarray, ends: np.ndarray, tolerance: np.ndarray, cuts: np.ndarray
) -> int:
    """Cut a priority into nearly linear pieces; ``cuts`` receives their first buckets.

    An eviction looks at every piece, so few pieces are worth a small loss of precision.
    """
    count = 0
    first = 0
    while first < starts.size:
        cuts[count] = first
        count += 1
        beyond = first + 1
        while beyond < starts.size:
            slope = (ends[beyond] - starts[first]) / (beyond + 1 - first)
            straight = True
            for bucket in range(first, beyond + 1):
                line = starts[first] + slope * (bucket - first)
                if (
                    abs(starts[bucket] - line) > tolerance[bucket]
                    or abs(ends[bucket] - line - slope) > tolerance[bucket]
                ):
                    straight = False
                    break
            if not straight:
                break
            beyond += 1
        first = beyond
    return count
