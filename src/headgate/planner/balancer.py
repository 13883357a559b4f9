"""Sharing one budget among running joins, anew as their streams drift.

Limits travel to a join with its rows and hold from some batch on, so for a while it is not known
whether an old limit or a new one is in force. Whoever is to have less is told first; what that
frees is given away when its metrics show the new limit. So the limits in force never exceed the
budget together, whatever is slow or fails meanwhile.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from headgate.planner.budget_allocation import Allocation, alloc, in_whole
from headgate.planner.live_curve import FIGURES, FULL, PASSED, live_curve
from headgate.planner.quality_curve import QualityCurve

EVERY = 3
"""Batches of every join between two decisions."""
FADES = 0.6
"""What a batch counts for beside the one after it."""
SETTLES = 1.0
"""Windows that a new limit must have been in force before what comes of it is measured: what is
stored was chosen under the old one."""
WORTH_IT = 0.02
"""How much better off the worst-off join must be for limits to be moved."""
LEAST_PART = 0.05
"""Of the budget that every join keeps, or half an even part where that is less: with too little it
could not tell how it fares."""


@dataclass
class Member:
    """A running join: what it was told, and what it says."""

    told: int
    """The limit it was told last."""
    in_force: int
    """The limit that its metrics showed last."""
    shards: int = 1
    batches: int = 0
    """Heard of since the last decision, and since its limit has settled."""
    settles: float = 0.0
    """Windows until then."""
    pairs: float = 0.0
    exact: float = 0.0
    """Pairs made, and pairs of the exact join, in the batches of late."""
    figures: dict[str, float] = field(default_factory=dict)

    @property
    def most(self) -> int:
        """What it may hold now, at most."""
        return max(self.told, self.in_force)

    def hear(self, figures: Mapping[str, Any]) -> None:
        """Take in the metrics of a batch; one without rows says what is in force, and no more."""
        self.in_force = int(figures["limit"])
        if figures[FULL]:
            self.figures = {name: float(figures[name]) for name in FIGURES}
        if self.in_force != self.told:
            self.batches, self.pairs, self.exact, self.settles = 0, 0.0, 0.0, SETTLES
            return
        if not figures["left_rows"] + figures["right_rows"]:
            return
        if self.settles > 0:
            self.settles -= figures[PASSED] / self.shards
            return
        self.batches += 1
        exact = figures["exact_pairs"]
        if exact:
            self.pairs = FADES * self.pairs + figures["pairs"]
            self.exact = FADES * self.exact + exact

    def curve(self) -> QualityCurve | None:
        """Its recall against memory, as far as is known."""
        if not self.figures or self.exact <= 0:
            return None
        return live_curve(self.figures, self.in_force, min(self.pairs / self.exact, 1.0))


class Balancer:
    """Decides who gets how much; tell it what was heard, pass on what it says.

    Parameters
    ----------
    whole
        The budget, in rows or bytes.
    weights
        How good joins are to be, relative to each other.
    members
        The joins with the limits they begin with.

    Examples
    --------
    >>> balancer = Balancer(100, {"a": 1.0, "b": 1.0}, {"a": Member(50, 50), "b": Member(50, 50)})
    >>> balancer.wants({"a": 80, "b": 20})
    {'b': 20}
    >>> told = {"limit": 20, "left_rows": 3, "right_rows": 3, "pairs": 1, "exact_pairs": 1, FULL: 0}
    >>> balancer.hear("b", told)
    {'a': 80}
    """

    def __init__(
        self, whole: int, weights: Mapping[str, float], members: Mapping[str, Member]
    ) -> None:
        self.whole, self.members = whole, dict(members)
        self._weights = dict(weights)
        self._wanted = {name: member.told for name, member in members.items()}

    @property
    def least(self) -> int:
        """What every join keeps."""
        return int(min(self.whole * LEAST_PART, self.whole / (2 * len(self.members))))

    def hear(self, name: str, figures: Mapping[str, Any]) -> dict[str, int]:
        """Take in a join's metrics; returns the limits that are to be told now, by join."""
        self.members[name].hear(figures)
        if self._settled and all(member.batches >= EVERY for member in self.members.values()):
            better = self._better()
            if better is not None:
                return self.wants({name: int(part) for name, part in better.memory.items()})
        return self._moves()

    def wants(self, limits: Mapping[str, int]) -> dict[str, int]:
        """Set out for other limits; returns those that are to be told now."""
        for name, member in self.members.items():
            # Every shard gets the same, so that what they show adds up to what was told.
            self._wanted[name] = max(limits[name] // member.shards, 1) * member.shards
            member.batches = 0
        return self._moves()

    @property
    def _settled(self) -> bool:
        """Whether all limits wanted are in force."""
        return all(
            self._wanted[name] == member.told == member.in_force
            for name, member in self.members.items()
        )

    def _better(self) -> Allocation | None:
        """An allocation that is worth moving limits for."""
        curves = {}
        for name, member in self.members.items():
            member.batches = 0
            curve = member.curve()
            if curve is None:
                return None
            curves[name] = curve
        best = alloc(curves, self.whole, self._weights)
        best = in_whole(curves, best, self.whole, self._weights, self.least)
        now = min(
            curves[name].standing(member.in_force, self._weights[name])
            for name, member in self.members.items()
        )
        return best if best.worst > now + WORTH_IT else None

    def _moves(self) -> dict[str, int]:
        """Limits that can be told now: all that are lowered, and those raised there is room for."""
        moves = {}
        for name, member in self.members.items():
            if self._wanted[name] < member.told:
                member.told = moves[name] = self._wanted[name]
        free = self.whole - sum(member.most for member in self.members.values())
        for name, member in self.members.items():
            more = self._wanted[name] - member.most
            if self._wanted[name] > member.told and more <= free:
                member.told = moves[name] = self._wanted[name]
                free -= max(more, 0)
        return moves
