"""One step of a join: stored rows and arriving rows in, pairs and survivors out.

Sorts the rows into event order, runs the kernel on them, and reads off which rows are still stored.
Rows are known by number only; their payload stays outside.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from headgate.compiling.compiled import shared
from headgate.kernel import advance, departure, event_order, given_up, layout, meetings, setup
from headgate.kernel.judged_rows import JudgedRows
from headgate.kernel.layout import Count
from headgate.kernel.ordered_rows import InOrder, OrderedRows
from headgate.kernel.pair_block import PairBlock
from headgate.kernel.rows import Rows
from headgate.kernel.step_arrays import Records, arrays_of
from headgate.kernel.step_input import StepInput
from headgate.kernel.step_progress import StepProgress, Thresholds
from headgate.kernel.watched import Watched
from headgate.kernel.worth import definition_at
from headgate.policies.kinds import KINDS
from headgate.policies.kinds.kind import Block
from headgate.policies.policy import Arrivals
from headgate.policies.structures.observed_stretch import Departures, ObservedStretch
from headgate.spec import How, RowWindow
from headgate.spec.importance.combine import pair_importance

PAIRS_AT_ONCE = 1 << 20


class Step:
    """One step of a join: iterate `pairs` first, then read the other results."""

    def __init__(self, given: StepInput) -> None:
        policy = given.terms.policy.recalling(given.progress.memory)
        policy = policy.serving(given.terms.how, given.terms.windows)
        terms = replace(given.terms, policy=policy)
        given = given._replace(terms=terms)
        self._terms, self._before = terms, given.progress
        self._is_done = False
        self._is_taken_up = False
        self.importance = 0.0
        """Importance of the pairs made so far; their number where all count alike."""
        self._alive: dict[int, np.ndarray] = {}
        """Which rows are stored, by side; cached once all pairs are made."""
        self._watched: np.ndarray | None = None
        """Where watched rows are; once all pairs are made, they stay there."""
        self._began_at = given.progress.clock >> 1
        self._given = OrderedRows.of(given)
        self._judged = JudgedRows.of(terms, self._given, self._began_at)
        records = Records.of(given, self._given, self._judged)
        self._number = records.number
        self._arrays = arrays_of(given, self._given, self._judged, records)
        self._shared = shared(self._arrays)
        """The same, for compiled functions."""
        self._windows = setup.windows_of(
            terms, self._given.left_rows, self._given.total, given.codes
        )

    def take_up(self) -> None:
        """Load the rows that earlier steps stored; `pairs` does it if not done yet."""
        if self._is_taken_up:
            return
        self._is_taken_up = True
        policy = self._terms.policy
        policy.kind.take_up(policy, self._arrays, self._own)
        advance.restore(self._shared)

    def pairs(self) -> Iterator[PairBlock]:
        """Pairs in blocks: numbers of the left rows and of the right rows.

        Rows that come out alone are in blocks of their own.
        """
        self.take_up()
        yield from self.gone()
        size = PAIRS_AT_ONCE
        block = self._room_for_pairs(size)
        at, end = 0, len(self._arrays.rows)
        while at < end:
            before = at
            at, made = advance.advance(self._shared, self._windows, block, at)
            if made:
                yield self._numbered(block.pairs[:made], block.passed[:made])
                yield from self.gone()
            elif at == before:
                size *= 2
                block = self._room_for_pairs(size)
        yield from self.gone()
        self._is_done = True

    def gone(self) -> Iterator[PairBlock]:
        """Rows that come out alone and were not handed out yet; none in an inner join."""
        count = int(self._arrays.terms["gone"][0])
        if not count:
            return
        entries = self._arrays.settling.gone[:count].copy()
        self._arrays.terms["gone"] = 0
        is_right = None
        if self._terms.how.outputs[1]:
            is_right = self._arrays.links["side"][entries["row"]] != 0
        for which in (0, 1):
            mine = entries[:0] if which else entries
            if is_right is not None:
                mine = entries[is_right == which]
            if len(mine):
                certain = mine["certain"] != 0
                self.importance += float(np.count_nonzero(certain))
                rows = self._number[mine["row"]].astype(np.int64)
                yield PairBlock.alone(which, rows, certain)

    @property
    def _own(self) -> Any:
        """The further arrays of the policy's kind of score."""
        return self._arrays.own[KINDS.index(self._terms.policy.kind)]

    def _room_for_pairs(self, size: int) -> Block:
        policy = self._terms.policy
        lets_go = policy.kind.chooses_pairs or self._terms.how.frees_left
        return Block(
            np.empty(size, layout.PAIR),
            np.empty(size if policy.samples else 0),
            np.empty(size if lets_go else 0, np.int64),
            policy.kind.score_function(policy).address,
        )

    def raise_watermark(self, watermark: int) -> None:
        """After the last pair: expire rows that no row after this watermark can match.

        Those without a partner are then to be had from `gone`.
        """
        self._alive.clear()
        self._arrays.terms["watermark"] = watermark
        departure.let_go_behind_watermark(self._shared)

    def count_pairs(self) -> int:
        """Process all arrivals and count the pairs, without listing them.

        For inner joins without limits: a history policy does not learn of matches that are not
        listed.
        """
        self._arrays.terms["count_only"] = 1
        self.take_up()
        advance.advance(self._shared, self._windows, self._room_for_pairs(0), 0)
        return int(self.counts[Count.PAIRS].sum())

    def are_behind_watermark(self, side: int, time: np.ndarray) -> np.ndarray:
        """Whether no row that may still come can meet rows of a side with these times."""
        window, watermark = self._terms.windows[side], int(self._arrays.terms["watermark"][0])
        if isinstance(window, RowWindow):
            return np.zeros(len(time), np.bool_)
        behind: np.ndarray = time <= watermark - window.span
        return behind

    @property
    def counts(self) -> np.ndarray:
        """Counters so far, by `Count` and side."""
        return self._arrays.tally

    @property
    def stored_rows(self) -> int:
        """Rows stored now."""
        return int(self._arrays.pools["rows"].sum())

    @property
    def stored_bytes(self) -> int:
        """Bytes stored now."""
        return int(self._arrays.pools["bytes"].sum())

    @property
    def after(self) -> StepProgress:
        """The progress to hand to the next step."""
        thresholds = (self._thresholds_passed(0), self._thresholds_passed(1))
        return self._before._replace(
            clock=int(self._arrays.terms["clock"][0]),
            seen=self._given.seen,
            thresholds=thresholds,
            memory=self._memory(),
            given_up=given_up.filters_after(self._terms, self._arrays.settling.given_up),
            **self._terms.policy.kind.progress(self._arrays, self._own),
        )

    def _memory(self) -> str:
        """What the policy has learned from this step, if it observes its rows."""
        policy = self._terms.policy
        if not policy.observes:
            return ""
        came = self._given.order[self._arrays.links["arriving"] != 0]
        seen = ObservedStretch(
            Arrivals(*(column[came] for column in self._judged.arrivals)),
            Departures.none(),
            bytes=sum(int(rows.size.sum()) for rows in self._given.groups[2:4]),
            seen=sum(self._given.seen),
            limits=self._terms.limits,
        )
        return policy.kind.memory(policy, self._arrays, self._before.clock, seen)

    def _thresholds_passed(self, pool: int) -> Thresholds:
        """The pool's thresholds, except those older than every row now stored."""
        thresholds = self._arrays.thresholds[pool][: self._arrays.pools["thresholds"][pool]]
        if not thresholds.size:
            return ()
        links, rows = self._arrays.links, self._arrays.rows
        stored = links["alive"] != 0
        after = np.zeros(len(thresholds), bool)
        for side, seen in enumerate(("left", "right")):
            mine = rows["sequence"][stored & (links["side"] == side)]
            after |= thresholds[seen] > (mine.min() if mine.size else self._given.seen[side])
        return tuple(thresholds[after].tolist())

    def alive(self, side: int) -> np.ndarray:
        """For each stored row and arrival of a side, whether it is stored now."""
        if side in self._alive:
            return self._alive[side]
        places = self._given.of_side(self._given.place, side)
        alive: np.ndarray = (
            self._arrays.links["alive"][places[: self._given.without_ghosts(side)]] != 0
        )
        if self._is_done:
            self._alive[side] = alive
        return alive

    @property
    def in_order(self) -> InOrder:
        """The event order of its rows."""
        return InOrder(self._given.order, self._given.stored)

    @property
    def keeps_history(self) -> bool:
        """Whether later steps need the match history of stored rows."""
        return self._terms.policy.keeps_history

    def histories(self, side: int) -> tuple[np.ndarray, np.ndarray]:
        """For each stored row and arrival of a side, its matches and the time of the last one."""
        rows = self._arrays.rows
        own = self._given.without_ghosts(side)
        matches, touched = (self._by_number(rows[name], side) for name in ("matches", "touched"))
        return matches[:own], touched[:own]

    def recent(self, side: int) -> np.ndarray:
        """For each stored row and arrival of a side, its decayed matches."""
        return self._by_number(self._arrays.rows["recent"], side)[
            : self._given.without_ghosts(side)
        ]

    def fates(self, side: int) -> np.ndarray | None:
        """For each stored row and arrival of a side, its `Fate`; None in an inner join."""
        if self._terms.how == How.INNER:
            return None
        own = self._given.without_ghosts(side)
        return self._by_number(self._arrays.links["fate"], side)[:own]

    def watched_fates(self, side: int, numbers: np.ndarray) -> np.ndarray:
        """The `Fate` of some of a side's stored rows, arrivals and ghosts, given by number."""
        if self._terms.how == How.INNER:
            return np.zeros(len(numbers), np.uint8)
        fates: np.ndarray = self._arrays.links["fate"][self._given.places_of(side, numbers)]
        return fates

    def brought_forward(self, side: int, rows: Rows, kept: np.ndarray) -> Rows:
        """Some of a side's stored rows and arrivals, with sequence numbers and updated history.

        ``kept`` is a mask over all of them that selects these.
        """
        given, own = self._given.given_at(side, np.flatnonzero(kept)), self._arrays.rows
        place = self._given.place[given]
        fate = None if self._terms.how == How.INNER else self._arrays.links["fate"][place]
        rows = rows._replace(sequence=self._given.sequence[given], fate=fate)
        if not self.keeps_history:
            return rows
        matches, touched = np.empty(len(place), np.int32), np.empty(len(place), np.int64)
        recent = np.empty(len(place))
        event_order.read_histories(own, place, matches, touched, recent)
        return rows._replace(matches=matches, touched=touched, recent=recent)

    def survivors(self, side: int, stored: Rows, arriving: Rows) -> Rows:
        """The rows of a side that are stored now, as input for the next step."""
        alive = self.alive(side)
        return self.brought_forward(side, stored.followed_by(arriving).where(alive), alive)

    @property
    def definition(self) -> int:
        """Which definition of importance holds now."""
        return int(self._arrays.terms["definition"][0])

    @property
    def redefined(self) -> int:
        """How many redefinitions of importance took effect in this step."""
        before = definition_at(self._terms.changes, np.array([self._began_at]))[0]
        return self.definition - int(before)

    @property
    def lives(self) -> tuple[float, float]:
        """Sum of the lifetimes, in seconds, of rows that left, and of their squares."""
        total, squares = self._arrays.lives.sum(axis=0)
        return float(total), float(squares)

    def watched(self, side: int) -> Watched:
        """For each row of a side, its watch state and its matches."""
        rows = self._arrays.rows
        return Watched(
            self._by_number(self._arrays.links["watch"], side),
            self._by_number(rows["met"], side),
            self._by_number(rows["made"], side),
        )

    def watched_rows(self, side: int) -> tuple[np.ndarray, Watched]:
        """The numbers of a side's watched rows, ascending, and their watch state."""
        links, rows = self._arrays.links, self._arrays.rows
        if self._watched is None:
            self._watched = np.flatnonzero(links["watch"])
        place = self._watched[links["side"][self._watched] == side]
        number = self._number[place].astype(np.int64)
        in_order = np.argsort(number)
        number, place = number[in_order], place[in_order]
        return number, Watched(links["watch"][place], rows["met"][place], rows["made"][place])

    def met_before(self, side: int, numbers: np.ndarray) -> meetings.MetBefore:
        """What some of a side's rows, given by number, have met by now, if that is counted."""
        own = self._arrays.meetings
        if not own.partners.size:
            time = self._given.times_of(side, numbers)
            return meetings.MetBefore(np.zeros(len(numbers), np.int32), time)
        place = self._given.places_of(side, numbers)
        return meetings.MetBefore(own.partners[place], own.last[place])

    def ages_met(self, side: int, numbers: np.ndarray) -> np.ndarray:
        """What watched rows of a side, given by number, met in this step, by class of age."""
        own = self._arrays.by_row
        if not own.slot.size:
            return np.zeros((len(numbers), own.met.shape[1]), np.int32)
        met: np.ndarray = own.met[own.slot[self._given.places_of(side, numbers)]]
        return met

    @property
    def meetings(self) -> tuple[np.ndarray, np.ndarray]:
        """By class of row, what watched rows met in this step, and for how long they waited."""
        meetings.spend_all(self._shared)
        return self._arrays.meetings.met, self._arrays.meetings.spent

    @property
    def ages(self) -> np.ndarray:
        """Matches of watched rows in this step, by side and age bucket."""
        return self._arrays.ages

    def sequences(self, side: int) -> np.ndarray:
        """For each stored row and arrival of a side, its sequence number on that side."""
        return self._given.of_side(self._given.sequence, side)[: self._given.without_ghosts(side)]

    def _numbered(self, block: np.ndarray, passed: np.ndarray) -> PairBlock:
        links, partner = self._arrays.links, block["partner"]
        from_left = links["side"][block["probe"]] == 0
        one, other = self._number[block["probe"]], self._number[partner]
        weight, cluster = np.empty(0), np.empty(0, np.int64)
        sampler = self._terms.policy.sampler
        if sampler is not None:
            weight = sampler.inverse_chance(passed, self._weight_of(partner))
            cluster = 2 * self._arrays.rows["sequence"][partner] + links["side"][partner]
        left, right = np.where(from_left, one, other), np.where(from_left, other, one)
        importance = np.empty(0)
        if self._terms.combine:
            importance = self._worth(block)
        self.importance += float(importance.sum()) if self._terms.combine else len(block)
        return PairBlock(left, right, weight, cluster, importance)

    def _worth(self, block: np.ndarray) -> np.ndarray:
        """The importance of pairs, by the definition in force when they were made."""
        probe, partner = block["probe"], block["partner"]
        time = np.maximum(self._arrays.rows["time"][probe], self._began_at)
        definition = definition_at(self._terms.changes, time)
        one, other = (self._arrays.worth.importance[definition, row] for row in (probe, partner))
        from_left = self._arrays.links["side"][probe] == 0
        left, right = np.where(from_left, one, other), np.where(from_left, other, one)
        return pair_importance(self._terms.combine, left, right)

    def _weight_of(self, rows: np.ndarray) -> np.ndarray:
        """The policy's key weights of rows, given by position in event order."""
        weights = self._judged.arrivals.weight
        if not weights.size:
            return np.ones(len(rows))
        return np.asarray(weights[self._given.order[rows]])

    def _by_number(self, field: np.ndarray, side: int) -> np.ndarray:
        values: np.ndarray = field[self._given.of_side(self._given.place, side)]
        return values
