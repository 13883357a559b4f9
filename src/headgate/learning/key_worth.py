"""Key weights and the age model, as learned by a monitor."""

from dataclasses import dataclass, field

import numpy as np

from headgate.kernel.rows import Rows
from headgate.learning import Monitor
from headgate.learning.column_learner import BESIDE, GROUPS, ColumnLearner
from headgate.models import AgeCurves
from headgate.models.match_density import MatchDensity


@dataclass(frozen=True)
class KeyWorth:
    """Weights of keys by code, in rows of each side per microsecond; and the age model."""

    by_code: np.ndarray | None
    curves: AgeCurves | None
    levels: np.ndarray | None = None
    """All weights that keys have, also of those that are not in the step at hand."""
    density: MatchDensity | None = None
    """The match density of rows, where it is learned."""
    columns: ColumnLearner = field(default_factory=lambda: ColumnLearner((0, 0)))
    """What the columns of rows tell, where some are named."""
    tail: np.ndarray | None = None
    """By code, the class of keys that are not counted by themselves; see `KeyTail`."""

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
        by_code = levels = tail = None
        if monitor.knows_keys:
            rates = monitor.counts / monitor.counted
            rarest = rates[rates > 0].min(initial=np.inf)
            rest = rarest / 2 if important and rarest < np.inf else 0.0
            rates = np.maximum(rates, rest)
            by_code = np.full((len(places), 2), rest)
            levels = np.append(rates.ravel(), [rest, 0.0])
            if len(monitor.tail.cells):
                tail = monitor.tail.classes(hashes, places, len(rates))
                of_class = np.maximum(monitor.tail.rates, rest)
                levels = np.append(levels, of_class.ravel())
                if (of_class != rest).any():
                    by_code = of_class[tail]
            code = np.flatnonzero((places >= 0) & (places < len(rates)))
            by_code[code] = rates[places[code]]
            by_code[-1] = 0.0  # the code of null
        density = monitor.density() if dense else None
        return cls(by_code, monitor.curves(), levels, density, monitor.columns, tail)

    def weights(self, side: int, code: np.ndarray) -> np.ndarray:
        """For rows of a side: how many rows of the other come with their key, a microsecond."""
        if self.by_code is None:
            return np.zeros(len(code))
        weights: np.ndarray = self.by_code[code, 1 - side]
        return weights

    def by_side(self, codes: int) -> np.ndarray:
        """By code of a key, and side: what rows of that side have as weight."""
        if self.by_code is None:
            return np.zeros((codes, 2))
        weights: np.ndarray = self.by_code[:codes, ::-1]
        return weights

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
