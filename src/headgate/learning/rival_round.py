"""Rivals: policies tried on a small share of the rows, alongside the one followed.

Each rival gets a random share of the arrivals, the same on every restart, and the same share of the
join's budget. All arrivals probe the rows a rival stores, so it makes that share of the pairs it
would make at full scale, whether it ranks by key, age or history. Sampling keys instead would
either miss the heaviest key or let it fill the small budget.

In joins other than inner ones a rival's results are those of the join's own kind: rows that meet
their first partner, pairs, and rows of its share that certainly have no partner. Where rows differ
in importance, results count by theirs.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from headgate.kernel.given_up import hashes_of_codes
from headgate.kernel.layout import NULL_KEY, Fate
from headgate.kernel.pair_block import NOBODY, PairBlock
from headgate.kernel.rows import Rows, joined
from headgate.kernel.step import Step
from headgate.kernel.step_input import StepInput
from headgate.kernel.step_progress import StepProgress
from headgate.kernel.terms import Terms
from headgate.kernel.worth import definition_at
from headgate.learning.standing import GROUPS
from headgate.policies.chance import uniform
from headgate.policies.policy import Policy
from headgate.spec import How, RowWindow
from headgate.spec.budget import UNLIMITED

NOT_YET, MATCHED = np.uint8(0), np.uint8(Fate.MATCHED)
CANNOT_BE_ALONE = np.uint8(Fate.MATCHED | Fate.DOUBTFUL)
COIN_SEED, GROUP_SEED = 0x71A15, 0x960B5


class RivalRows(NamedTuple):
    """Rows of a side that some rival stores, an entry a row; in two dimensions, by rival."""

    time: np.ndarray  # int64
    size: np.ndarray  # int64
    sequence: np.ndarray  # int64
    code: np.ndarray  # int32, of the key in the step at hand
    value: np.ndarray  # what a predicate looks at, on the step's scale; empty where there is none
    held: np.ndarray  # bool (rival, row): who stores it
    matches: np.ndarray  # int32 (rival, row)
    touched: np.ndarray  # int64 (rival, row)
    recent: np.ndarray  # float64 (rival, row): decayed matches; empty where all rows count alike
    met: np.ndarray  # bool (rival, row): cannot come out alone any more; empty in inner joins
    importance: np.ndarray  # float64, as defined when it came; empty where all count alike
    source: np.ndarray  # int64: where it stood among the rows before, then the side's arrivals

    @classmethod
    def none(cls, rivals: int) -> "RivalRows":
        """No rows."""
        none = np.zeros(0, np.int64)
        by_rival = np.zeros((rivals, 0), np.int64)
        return cls(
            time=none,
            size=none,
            sequence=none,
            code=none.astype(np.int32),
            value=np.empty(0),
            held=by_rival.astype(np.bool_),
            matches=by_rival.astype(np.int32),
            touched=by_rival,
            recent=by_rival.astype(np.float64),
            met=by_rival.astype(np.bool_),
            importance=np.empty(0),
            source=none,
        )

    def where(self, keep: np.ndarray) -> "RivalRows":
        """Some of the rows."""
        return RivalRows(*(column[..., keep] if column.size else column for column in self))

    def unmoved(self) -> "RivalRows":
        """The same rows after a step in which nothing was put to the rivals."""
        return self._replace(source=np.arange(len(self.time)))

    def batch(self, rival: int, terms: Terms) -> Rows:
        """What a rival stores, as a step wants it."""
        mine = self.held[rival]
        rows = Rows.of_arrivals(
            self.time[mine],
            self.code[mine],
            self.size[mine],
            np.zeros(int(np.count_nonzero(mine))),
            self.value[mine] if self.value.size else self.value,
        )
        fate = None
        if terms.how != How.INNER:
            fate = np.where(self.met[rival][mine], MATCHED, NOT_YET)
        return rows._replace(
            sequence=self.sequence[mine],
            matches=self.matches[rival][mine],
            touched=self.touched[rival][mine],
            recent=self.recent[rival][mine] if self.recent.size else None,
            importance=_as_ever(self.importance[mine], terms) if terms.combine else None,
            fate=fate,
        )


def _as_ever(importance: np.ndarray, terms: Terms) -> np.ndarray:
    """The importance of rows under every definition: for rivals, that of their arrival stays.

    So what they store does not depend on how a stream is cut into steps.
    """
    return np.broadcast_to(importance, (len(terms.changes) + 1, len(importance)))


BothRows = tuple[RivalRows, RivalRows]
Weigh = Callable[[Rows, int], Rows]
"""Gives rows of a side the weight that policies by key go by."""


def coins(seed: int, side: int, sequence: np.ndarray) -> np.ndarray:
    """A number in [0, 1) for each row: a row is tried while it is below the share."""
    return uniform(seed ^ COIN_SEED, np.full(len(sequence), side, np.uint8), sequence)


def at_arrival(rows: Rows, terms: Terms) -> np.ndarray:
    """The importance of arrivals by the definition that held when they came."""
    if rows.importance is None:
        return np.ones(len(rows.time))
    definition = definition_at(terms.changes, rows.time)
    importance: np.ndarray = rows.importance[definition, np.arange(len(rows.time))]
    return importance


class RivalRound(NamedTuple):
    """What rivals are tried on in a step."""

    given: StepInput
    """What the join's own step is given."""
    sequence: tuple[np.ndarray, np.ndarray]
    """The arrivals' places among their side's rows."""
    seed: int
    share: float
    most: int
    """Rows that a rival may store."""

    def play(
        self, policies: tuple[Policy, ...], stored: BothRows, weigh: Weigh
    ) -> tuple[BothRows, np.ndarray]:
        """Let every rival have its step: what they store after it, and pairs by rival and group."""
        drawn = [coins(self.seed, side, self.sequence[side]) < self.share for side in (0, 1)]
        chosen = [np.flatnonzero(part) for part in self._relevant(drawn, stored)]
        arrivals = [
            self._put_to_rivals(side, chosen[side], drawn[side][chosen[side]]) for side in (0, 1)
        ]
        after = [_Gathering(stored[side], arrivals[side], len(policies)) for side in (0, 1)]
        made = np.zeros((len(policies), GROUPS))
        groups, counted = self._groups(stored, chosen), self._counted(stored, drawn, chosen)
        numbers = (self.sequence[0][chosen[0]], self.sequence[1][chosen[1]])
        keys = _FewKeys.of(self.given, [*arrivals, *stored])
        new = [keys.coded(side, rows, weigh) for side, rows in enumerate(arrivals)]
        for rival, policy in enumerate(policies):
            batches = [
                keys.coded(side, stored[side].batch(rival, self.given.terms), weigh)
                for side in (0, 1)
            ]
            given = self.given._replace(
                stored=(batches[0], batches[1]),
                arriving=(new[0], new[1]),
                codes=keys.codes,
                hashes=keys.hashes,
                numbers=numbers,
            )
            step = self._step(policy, given)
            own = [
                np.concatenate([np.flatnonzero(stored[s].held[rival]), after[s].arrivals])
                for s in (0, 1)
            ]
            for block in step.pairs():
                if block.certain.size:
                    side = int(block.left[0] == NOBODY)
                    alone = own[side][block[side]]
                    group = groups[side][alone[counted[side][alone]]]
                else:
                    left, right = own[0][block.left], own[1][block.right]
                    # The row that was stored is the earlier of the two.
                    from_left = after[0].time[left] <= after[1].time[right]
                    group = np.where(from_left, groups[0][left], groups[1][right])
                made[rival] += np.bincount(group, _weights(block), minlength=GROUPS)
            for side in (0, 1):
                after[side].take_in(rival, own[side], step, side)
        left, right = (
            gathered.rows(chosen[side], self.sequence[side]) for side, gathered in enumerate(after)
        )
        return (left, right), made

    def _step(self, policy: Policy, given: StepInput) -> Step:
        """A rival's step: the join's own, with a share of its limits."""
        before = self.given.progress
        progress = StepProgress(before.clock, before.seen)
        return Step(given._replace(terms=self._terms(policy), progress=progress))

    def _put_to_rivals(self, side: int, chosen: np.ndarray, drawn: np.ndarray) -> Rows:
        """The arrivals chosen: all probe, as far as they do in the join, and some are stored."""
        terms, arrivals = self.given.terms, self.given.arriving[side].take(chosen)
        effort = np.stack([np.ones(len(drawn)), drawn])
        if arrivals.effort is not None:
            effort = effort * arrivals.effort
        importance = _as_ever(at_arrival(arrivals, terms), terms) if terms.combine else None
        return arrivals._replace(effort=effort, importance=importance, recent=None, traits=None)

    def _relevant(self, drawn: list[np.ndarray], stored: BothRows) -> list[np.ndarray]:
        """Arrivals that may be stored, or meet what is: others would change nothing."""
        if any(isinstance(window, RowWindow) for window in self.given.terms.windows):
            # They count on; and where the last rows matter, so does their number.
            return [np.ones(len(part), np.bool_) for part in drawn]
        known = np.zeros(self.given.codes + 1, np.bool_)
        for side in (0, 1):
            known[stored[side].code] = True
            known[self.given.arriving[side].code[drawn[side]]] = True
        known[-1] = False  # null
        return [drawn[side] | known[self.given.arriving[side].code] for side in (0, 1)]

    def _groups(self, stored: BothRows, chosen: list[np.ndarray]) -> list[np.ndarray]:
        """The group of each row: those stored before, then arrivals."""
        groups = []
        for side in (0, 1):
            sequence = np.concatenate([stored[side].sequence, self.sequence[side][chosen[side]]])
            sides = np.full(len(sequence), side, np.uint8)
            drawn = uniform(self.seed ^ GROUP_SEED, sides, sequence)
            groups.append((drawn * GROUPS).astype(np.int64))
        return groups

    def _counted(
        self, stored: BothRows, drawn: list[np.ndarray], chosen: list[np.ndarray]
    ) -> list[np.ndarray]:
        """Which rows, as in `_groups`, count when they come out alone: those that are tried, and in
        a semi join all, since they come out for what is stored of the other side."""
        is_semi = self.given.terms.how == How.SEMI
        return [
            np.concatenate([np.ones(len(stored[s].time), np.bool_), drawn[s][chosen[s]] | is_semi])
            for s in (0, 1)
        ]

    def _terms(self, policy: Policy) -> Terms:
        """The join's own, with a share of its limits."""

        def part(limit: int) -> int:
            return limit if limit in (0, UNLIMITED) else max(1, round(limit * self.share))

        rows, size = self.given.terms.most_rows, self.given.terms.most_bytes
        # Where bytes are limited rows may be small, and all rivals together have room for so many.
        limits = rows if rows[0] < UNLIMITED else size
        left, right = (max(int(self.most * limit / sum(limits)), 1) for limit in limits)
        most_rows = (min(part(rows[0]), left), min(part(rows[1]), right))
        return replace(
            self.given.terms,
            policy=policy.within(None if most_rows[0] == UNLIMITED else most_rows[0]),
            most_rows=most_rows,
            most_bytes=(part(size[0]), part(size[1])),
            pace=None,
            indexes=None,
        )


class _FewKeys(NamedTuple):
    """The keys of a round, which are few of all: codes of their own keep its tables small."""

    place: np.ndarray
    """By the join's code, the one in the round; the last is that of null."""
    codes: int
    hashes: np.ndarray | None

    @classmethod
    def of(cls, given: StepInput, rows: Sequence[Rows | RivalRows]) -> "_FewKeys":
        """The keys of some rows."""
        is_used = np.zeros(given.codes + 1, np.bool_)
        for part in rows:
            is_used[part.code] = True
        is_used[NULL_KEY] = False
        place = np.cumsum(is_used, dtype=np.int32) - np.int32(1)
        codes, place[NULL_KEY] = int(place[-1]) + 1, NULL_KEY
        if given.terms.how == How.INNER:
            return cls(place, codes, None)
        hashes = hashes_of_codes(given.codes) if given.hashes is None else given.hashes
        return cls(place, codes, hashes[np.flatnonzero(is_used)])

    def coded(self, side: int, rows: Rows, weigh: Weigh) -> Rows:
        """Rows of a side with their weights, and the codes of the round."""
        return weigh(rows, side)._replace(code=self.place[rows.code])


def _weights(block: PairBlock) -> np.ndarray | None:
    """What each result counts; None where all count alike, as rows without a partner do."""
    return block.importance if block.importance.size else None


class _Gathering:
    """What becomes of a side's rows under one rival after the other."""

    def __init__(self, stored: RivalRows, arrivals: Rows, rivals: int) -> None:
        self._stored, self._arrivals = stored, arrivals
        before, total = len(stored.time), len(stored.time) + len(arrivals.time)
        self.arrivals = np.arange(before, total)
        self.time = np.concatenate([stored.time, arrivals.time])
        self._held = np.zeros((rivals, total), np.bool_)
        self._matches = np.zeros((rivals, total), np.int32)
        self._touched = np.zeros((rivals, total), np.int64)
        self._importance = np.empty(0)
        if arrivals.importance is not None:
            self._importance = np.concatenate([stored.importance, arrivals.importance[0]])
        self._recent = np.zeros((rivals, len(self._importance)))
        self._met = np.zeros((rivals, 0), np.bool_)

    def take_in(self, rival: int, own: np.ndarray, step: Step, side: int) -> None:
        """After a rival's step, whose rows stand at ``own``."""
        self._held[rival, own] = step.alive(side)
        matches, touched = step.histories(side)
        fates = step.fates(side)
        if fates is not None:
            # All that later steps must know of a row's fate is whether it may come out alone.
            if not self._met.size:
                self._met = np.zeros_like(self._held)
            self._met[rival, own] = fates & CANNOT_BE_ALONE != 0
        self._matches[rival, own], self._touched[rival, own] = matches, touched
        if self._recent.size:
            self._recent[rival, own] = step.recent(side)

    def rows(self, chosen: np.ndarray, sequence: np.ndarray) -> RivalRows:
        """The rows that anybody stores now."""
        stored, new = self._stored, self._arrivals
        every = RivalRows(
            time=self.time,
            size=np.concatenate([stored.size, new.size]),
            sequence=np.concatenate([stored.sequence, sequence[chosen]]),
            code=np.concatenate([stored.code, new.code]),
            value=joined((stored.value, new.value)),
            held=self._held,
            matches=self._matches,
            touched=self._touched,
            recent=self._recent,
            met=self._met,
            importance=self._importance,
            source=np.concatenate([np.arange(len(stored.time)), len(stored.time) + chosen]),
        )
        anybody: np.ndarray = np.any(self._held, axis=0)
        return every.where(anybody)
