"""Rebalances one budget among running joins as their streams drift.

A new limit reaches a join with its rows and takes effect at some later batch, so for a while either
limit may be in force. Limits are therefore lowered first; the memory this frees is handed out only
once the join's metrics report the lower limit. The limits in force never add up to more than the
budget, even if a join is slow or fails.
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
"""Decay factor: the weight of a batch relative to the next one."""
SETTLES = 1.0
"""Windows that a new limit must be in force before its effect is measured: until then, stored rows
were chosen under the old one."""
WORTH_IT = 0.02
"""The gain of the worst-off join required for limits to be moved."""
LEAST_PART = 0.05
"""Share of the budget that every join keeps, or half an even share where that is less: with too
little memory a join could not measure its quality."""


@dataclass
class Member:
    """A running join: the limits sent to it and the metrics it reports."""

    told: int
    """The limit last sent to it."""
    in_force: int
    """The limit that its metrics last reported."""
    shards: int = 1
    batches: int = 0
    """Batches since the last decision and since its limit settled."""
    settles: float = 0.0
    """Windows left until its limit has settled."""
    pairs: float = 0.0
    exact: float = 0.0
    """Pairs made, and pairs of the exact join, in recent batches."""
    figures: dict[str, float] = field(default_factory=dict)

    @property
    def most(self) -> int:
        """The most it may hold now: the largest limit that may be in force."""
        return max(self.told, self.in_force)

    def hear(self, figures: Mapping[str, Any]) -> None:
        """Record a batch's metrics; a batch without rows only reports the limit in force."""
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
        """Its recall as a function of memory, as far as it is known."""
        if not self.figures or self.exact <= 0:
            return None
        return live_curve(self.figures, self.in_force, min(self.pairs / self.exact, 1.0))


class Balancer:
    """Decides each join's limit: feed it the joins' metrics and send on the limits it returns.

    Parameters
    ----------
    whole
        The budget, in rows or bytes.
    weights
        Target quality of the joins relative to each other.
    members
        The joins with their initial limits.

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
        """The minimum that every join keeps."""
        return int(min(self.whole * LEAST_PART, self.whole / (2 * len(self.members))))

    def hear(self, name: str, figures: Mapping[str, Any]) -> dict[str, int]:
        """Record a join's metrics; returns the limits to send now, by join."""
        self.members[name].hear(figures)
        if self._settled and all(member.batches >= EVERY for member in self.members.values()):
            better = self._better()
            if better is not None:
                return self.wants({name: int(part) for name, part in better.memory.items()})
        return self._moves()

    def wants(self, limits: Mapping[str, int]) -> dict[str, int]:
        """Start moving to new limits; returns those to send now."""
        for name, member in self.members.items():
            # Every shard gets the same, so that the limits they report add up to the limit sent.
            self._wanted[name] = max(limits[name] // member.shards, 1) * member.shards
            member.batches = 0
        return self._moves()

    @property
    def _settled(self) -> bool:
        """Whether all target limits are in force."""
        return all(
            self._wanted[name] == member.told == member.in_force
            for name, member in self.members.items()
        )

    def _better(self) -> Allocation | None:
        """An allocation enough better to justify moving limits."""
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
        """Limits that can be sent now: all lowered ones, and raised ones that fit."""
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
