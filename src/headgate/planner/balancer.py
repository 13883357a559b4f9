"""Rebalances one budget among running joins, or the shards of one, as their streams drift.

A new limit reaches a join with its rows and takes effect at some later batch, so for a while either
limit may be in force. Limits are therefore lowered first; the memory this frees is handed out only
once the join's metrics report the lower limit. The limits in force never add up to more than the
budget, even if a join is slow or fails.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from headgate.models.memory_curve import MemoryCurve
from headgate.planner.budget_allocation import alloc, in_whole
from headgate.planner.live_curve import FIGURES, FULL, PASSED, live_curve, live_output
from headgate.planner.quality_curve import QualityCurve
from headgate.planner.total_allocation import most_output

EVERY = 3
"""Batches of every join between two decisions."""
FADES = 0.6
"""Decay factor: the weight of a batch relative to the next one."""
SETTLES = 1.0
"""Windows that a new limit must be in force before its effect is measured: until then, stored rows
were chosen under the old one."""
WORTH_IT = 0.02
"""The gain in recall required for limits to be moved: of the worst-off join, or of all together."""
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
    made: float = 0.0
    rows: float = 0.0
    """Pairs made and rows that came, also in batches in which recall was not known."""
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
            self.batches, self.settles = 0, SETTLES
            self.pairs = self.exact = self.made = self.rows = 0.0
            return
        rows = figures["left_rows"] + figures["right_rows"]
        if not rows:
            return
        if self.settles > 0:
            self.settles -= figures[PASSED] / self.shards
            return
        self.batches += 1
        self.made = FADES * self.made + figures["pairs"]
        self.rows = FADES * self.rows + rows
        exact = figures["exact_pairs"]
        if exact:
            self.pairs = FADES * self.pairs + figures["pairs"]
            self.exact = FADES * self.exact + exact

    def curve(self) -> QualityCurve | None:
        """Its recall as a function of memory, as far as it is known."""
        if not self.figures or self.exact <= 0:
            return None
        return live_curve(self.figures, self.in_force, min(self.pairs / self.exact, 1.0))

    def output(self) -> MemoryCurve:
        """Pairs against memory, in proportion to those it makes now; flat where it is not known."""
        curve = live_output(self.figures, self.in_force) if self.figures else None
        if curve is None or curve.at(self.in_force) <= 0:
            return MemoryCurve(np.zeros(1), np.array([self.made]))
        return MemoryCurve(curve.rows, curve.output * self.made / curve.at(self.in_force))


Members = Mapping[str, Member]


class Division(Protocol):
    """What a budget is divided for."""

    def better(
        self, members: Mapping[str, Member], whole: int, least: int
    ) -> dict[str, int] | None:
        """Limits enough better than those in force to justify moving them."""


@dataclass(frozen=True)
class WorstOff:
    """Make the join of lowest recall as good as possible: ALLOC.

    Parameters
    ----------
    weights
        Target quality of the joins relative to each other.
    """

    weights: Mapping[str, float]

    def better(
        self, members: Mapping[str, Member], whole: int, least: int
    ) -> dict[str, int] | None:
        """The limits of ALLOC, if the worst-off join gains."""
        curves = {}
        for name, member in members.items():
            curve = member.curve()
            if curve is None:
                return None
            curves[name] = curve
        best = alloc(curves, whole, self.weights)
        best = in_whole(curves, best, whole, self.weights, least)
        now = min(
            curves[name].standing(member.in_force, self.weights[name])
            for name, member in members.items()
        )
        if best.worst <= now + WORTH_IT:
            return None
        return {name: int(part) for name, part in best.memory.items()}


@dataclass
class MostResults:
    """Make the most results in total: for the shards of one join, whose results count alike.

    What a shard would make with more memory is what its models expect, in proportion to what it
    makes now, which is counted. A move after which fewer results are made, for the rows that come,
    is taken back; the next one then waits longer.
    """

    patience: int = 1
    """Decisions to wait after a move that was taken back; doubles each time."""
    _waits: int = 0
    _before: tuple[dict[str, int], float] | None = None
    """The limits before the last move, and the results made a row."""

    def better(self, members: Members, whole: int, least: int) -> dict[str, int] | None:
        """The limits that make the most results, if that is enough more than now."""
        made = sum(member.made for member in members.values())
        made_a_row = made / sum(member.rows for member in members.values())
        if self._before is not None:
            (limits, made_a_row_before), self._before = self._before, None
            if made_a_row < made_a_row_before:
                self._waits, self.patience = self.patience, 2 * self.patience
                return limits
            self.patience = 1
        if self._waits:
            self._waits -= 1
            return None
        outputs = {name: member.output() for name, member in members.items()}
        best = most_output(
            outputs,
            whole,
            least=dict.fromkeys(members, least),
            most=dict.fromkeys(members, whole),
        )
        gain = sum(
            output.at(best[name]) - output.at(members[name].in_force)
            for name, output in outputs.items()
        )
        if gain <= WORTH_IT * made:
            return None
        self._before = ({name: member.told for name, member in members.items()}, made_a_row)
        return best


class Balancer:
    """Decides each join's limit: feed it the joins' metrics and send on the limits it returns.

    Parameters
    ----------
    whole
        The budget, in rows or bytes.
    division
        What it is divided for.
    members
        The joins with their initial limits.

    Examples
    --------
    >>> even = {"a": Member(50, 50), "b": Member(50, 50)}
    >>> balancer = Balancer(100, WorstOff({"a": 1.0, "b": 1.0}), even)
    >>> balancer.wants({"a": 80, "b": 20})
    {'b': 20}
    >>> told = {"limit": 20, "left_rows": 3, "right_rows": 3, "pairs": 1, "exact_pairs": 1, FULL: 0}
    >>> balancer.hear("b", told)
    {'a': 80}
    """

    def __init__(self, whole: int, division: Division, members: Members) -> None:
        self.whole, self.members = whole, dict(members)
        self._division = division
        self._wanted = {name: member.told for name, member in members.items()}

    @property
    def least(self) -> int:
        """The minimum that every join keeps."""
        return int(min(self.whole * LEAST_PART, self.whole / (2 * len(self.members))))

    def hear(self, name: str, figures: Mapping[str, Any]) -> dict[str, int]:
        """Record a join's metrics; returns the limits to send now, by join."""
        self.members[name].hear(figures)
        if self._settled and all(member.batches >= EVERY for member in self.members.values()):
            for member in self.members.values():
                member.batches = 0
            better = self._division.better(self.members, self.whole, self.least)
            if better is not None:
                return self.wants(better)
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
