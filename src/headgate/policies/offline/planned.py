"""A policy that follows a plan made in advance, which says until when to keep each row."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from headgate.policies.kinds.fixed_score import FixedScore
from headgate.policies.policy import Arrivals
from headgate.spec import SpecError

NOT_KEPT = -1
"""The planned end of a row that is not to be stored."""


@dataclass(frozen=True, eq=False)
class Planned(FixedScore):
    """Evict the row whose planned end comes first.

    A row's end is the event, a place in event order, up to which it is kept. Where a plan never
    has more rows before their end than fit, the row whose end comes first is one whose end has
    passed, or the newcomer that was not to be stored: so memory holds what was planned. Rows are
    known by side and by their number among the side's rows in event order, and a plan is for one
    run over one input: it cannot be cut into shards.

    Parameters
    ----------
    ends_left, ends_right
        The ends of each side's rows, `NOT_KEPT` for a row that is not stored; rows beyond these
        are worth nothing.
    title
        What figures call it.

    Examples
    --------
    >>> plan = Planned(np.array([4, NOT_KEPT]), np.array([3]), "BY HAND")
    >>> side, sequence = np.array([0, 0, 1, 1], np.uint8), np.array([0, 1, 0, 1])
    >>> plan.score(Arrivals(sequence, side, sequence, sequence, sequence)).tolist()
    [4.0, -1.0, 3.0, -1.0]
    """

    ends_left: np.ndarray = field(repr=False)
    ends_right: np.ndarray = field(repr=False)
    title: str = ""

    name: ClassVar[str] = "planned"

    def __post_init__(self) -> None:
        for which in ("ends_left", "ends_right"):
            ends = np.asarray(getattr(self, which))
            if ends.ndim != 1 or not (np.issubdtype(ends.dtype, np.integer) or not ends.size):
                raise SpecError(
                    f"{which}={ends!r} is not a plan: give the place in event order up to which "
                    f"each row is kept, a whole number a row, {NOT_KEPT} where it is not stored"
                )
            object.__setattr__(self, which, ends.astype(np.int64))

    @property
    def label(self) -> str:
        """The title, or else the name."""
        return self.title or super().label

    def for_shard(self, shard: int) -> "Planned":
        """A plan is for all rows together."""
        if shard:
            raise SpecError(
                f'policy "{self.name}" plans a whole input at once and cannot serve a join in '
                f"several shards: use run, or shards=1"
            )
        return self

    def score(self, arrivals: Arrivals) -> np.ndarray:
        """The planned end."""
        score = np.full(len(arrivals.sequence), float(NOT_KEPT))
        for side, ends in enumerate((self.ends_left, self.ends_right)):
            known = (arrivals.side == side) & (arrivals.sequence < len(ends))
            score[known] = ends[arrivals.sequence[known]]
        return score
