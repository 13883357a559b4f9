"""Key weights and the age model, as learned by a monitor."""

from dataclasses import dataclass, field

import numpy as np

from headgate.kernel.rows import Rows
from headgate.learning import Monitor
from headgate.learning.column_learner import BESIDE, GROUPS, ColumnLearner
from headgate.learning.key_tail import COUNTED
from headgate.models import AgeCurves
from headgate.models.match_density import MatchDensity


@dataclass(frozen=True)
class KeyWorth:
    """Weights of keys, in rows of each side per microsecond; and the age model.

    Keys of one level have the same weights: each key that is counted by itself has a level, and
    each class of the tail, and null.
    """

    levels: np.ndarray | None
    """By level, and side that comes."""
    curves: AgeCurves | None
    level: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    """By code."""
    counted: int = 0
    """The first so many levels are of keys that are counted by themselves."""
    density: MatchDensity | None = None
    """The match density of rows, where it is learned."""
    columns: ColumnLearner = field(default_factory=lambda: ColumnLearner((0, 0)))
    """What the columns of rows tell, where some are named."""
    has_tail: bool = False
    """Whether other keys are told apart by class; see `KeyTail`."""
    stands_for: np.ndarray | None = None
    """By code and side, how many rows each stands for; one where left out."""

    @classmethod
    def of(
        cls,
        monitor: Monitor,
        places: np.ndarray,
        hashes: np.ndarray,
        important: bool,
        dense: bool = False,
    ) -> "KeyWorth":
        """What a monitor makes of keys, given the places of those it tracks, and hashes, by code.

        Other keys are worth what rows of their class met. As long as that is not known they are
        worth nothing; but where rows matter differently (``important``) they are told apart by
        that, so they get half of what the rarest has. Match density is looked at where it is
        wanted (``dense``).
        """
        density = monitor.density() if dense else None
        if not monitor.knows_keys:
            return cls(None, monitor.curves(), density=density, columns=monitor.columns)
        rates = monitor.counts / monitor.counted
        rarest = rates[rates > 0].min(initial=np.inf)
        rest = rarest / 2 if important and rarest < np.inf else 0.0
        others = np.maximum(monitor.tail.rates, rest)
        return cls(
            np.concatenate([np.maximum(rates, rest), others, np.zeros((1, 2))]),
            monitor.curves(),
            monitor.tail.levels(hashes, places, len(rates)),
            len(rates),
            density=density,
            columns=monitor.columns,
            has_tail=len(monitor.tail.cells) > 0,
        )

    def weights(self, side: int, code: np.ndarray) -> np.ndarray:
        """For rows of a side: how many rows of the other come with their key, a microsecond."""
        if self.levels is None:
            return np.zeros(len(code))
        weights: np.ndarray = self.levels[:, 1 - side][self.level[code]]
        if self.stands_for is not None:
            weights = weights / self.stands_for[code, 1 - side]
        return weights

    @property
    def by_side(self) -> np.ndarray:
        """By level of a key, and side: what rows of that side have as weight."""
        return np.zeros((1, 2)) if self.levels is None else self.levels[:, ::-1]

    def levels_of(self, codes: int) -> np.ndarray:
        """By code, the level of a key in `by_side`."""
        return np.zeros(codes, np.int32) if self.levels is None else self.level[:codes]

    def tail_classes(self, code: np.ndarray) -> np.ndarray:
        """The classes of keys that are not counted by themselves, and `COUNTED` for others."""
        behind = self.level[code] - self.counted
        return np.where(behind < 0, COUNTED, np.minimum(behind, COUNTED))

    def weighed(self, batch: Rows, side: int) -> Rows:
        """Rows of a side with their weights."""
        return batch._replace(weight=self.weights(side, batch.code))

    def traits(self, batch: Rows, side: int, hashes: np.ndarray) -> np.ndarray:
        """The traits of a side's rows: their columns, nulls for those that the side has not, the
        matches that their key lets expect in a window, and the group of their key."""
        columns, count = self.columns, len(batch.time)
        found = np.full((count, columns.traits), np.nan, np.float32)
        if not columns.learns or batch.traits is None:
            return found
        found[:, : batch.traits.shape[1]] = batch.traits
        found[:, -BESIDE] = self.weights(side, batch.code) * columns.windows_us[side]
        found[:, -1] = hashes[batch.code] >> np.uint64(64 - GROUPS.bit_length() + 1)
        return found

    def classed(self, batch: Rows, side: int) -> Rows:
        """Rows of a side with their class as weight."""
        known = self.traits(batch, side, np.zeros(1 + batch.code.max(initial=0), np.uint64))
        classes = self.columns.trees[side].classes(known)
        return batch._replace(weight=classes.astype(np.float64))

    def with_history(self, batch: Rows, side: int, now: int, stay_us: float) -> Rows:
        """Rows of a side with the history that their keys suggest: as many matches as come in their
        time, the last of them as long ago as they are apart."""
        weights = self.weights(side, batch.code)
        with np.errstate(divide="ignore"):
            last = np.maximum(batch.time, now - np.minimum(1 / weights, 1e18))
        return batch._replace(
            matches=np.minimum(weights * (now - batch.time), 1e9).astype(np.int32),
            touched=last.astype(np.int64),
            recent=weights * stay_us,
        )
