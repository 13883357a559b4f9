"""One step of a join: stored rows and arriving rows in, pairs and survivors out.

Lays the rows out in event order, lets the kernel loose on them, and reads off who is left. Knows
rows by number alone; payload stays outside.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from headgate.kernel import advance, departure, event_order, layout, setup, skipped_rows
from headgate.kernel.layout import Arrays, Count
from headgate.kernel.pairs import PairBlock
from headgate.kernel.probe.indexes import no_changes
from headgate.kernel.progress import NO_WATERMARK, Progress, Thresholds
from headgate.kernel.rows import Batch
from headgate.kernel.terms import Terms
from headgate.kernel.watched import FollowedRows, Watched, Watching
from headgate.kernel.worth import definition_at
from headgate.policies.kinds import KINDS
from headgate.policies.kinds.kind import Block, Given
from headgate.policies.policy import Arrivals
from headgate.spec import RowWindow
from headgate.spec.importance.combine import pair_importance

PAIRS_AT_ONCE = 1 << 20


class Step:
    """A step under way: iterate `pairs`, then read the rest.

    Rows of a side are numbered stored rows first, then arrivals, then ghosts, as given.

    Parameters
    ----------
    terms
        Windows, policy and limits.
    stored, arriving
        Rows of the left and of the right side.
    codes
        How many different key codes there are.
    progress
        What the previous step left in `after`.
    watermark
        No row at or before this time will come any more.
    keep_late
        Whether rows may come out of order across steps, so that stored rows past their window are
        worth keeping while there is room.
    watching
        Which arrivals to follow through their whole window; none when left out.
    ghosts
        Rows watched by earlier steps that are not stored any more.
    """

    def __init__(
        self,
        terms: Terms,
        stored: tuple[Batch, Batch],
        arriving: tuple[Batch, Batch],
        codes: int,
        progress: Progress = Progress(),  # noqa: B008 - immutable
        watermark: int = NO_WATERMARK,
        keep_late: bool = False,
        watching: Watching | None = None,
        ghosts: tuple[Batch, Batch] | None = None,
    ) -> None:
        terms = replace(terms, policy=terms.policy.recalling(progress.memory))
        self._terms, self._before = terms, progress
        self._is_done = False
        self._is_taken_up = False
        self.importance = 0.0
        """Of the pairs made so far; their number where all count alike."""
        self._alive: dict[int, np.ndarray] = {}
        """Who is stored, by side; kept once all pairs are made."""
        groups = (*stored, *arriving, *(ghosts or (Batch.empty(), Batch.empty())))
        lengths = np.array([len(group.time) for group in groups])
        total = int(lengths.sum())
        self._ends = np.cumsum(lengths)
        time = np.concatenate([group.time for group in groups])
        side = np.repeat(np.array([0, 1, 0, 1, 0, 1], np.uint8), lengths)
        self._sequence = np.concatenate([group.sequence for group in groups])
        self._place = np.empty(total, np.int64)
        seen = np.array(progress.seen, np.int64)
        order = event_order.event_order(time, side)
        event_order.number_arrivals(
            order,
            self._place,
            side,
            (int(self._ends[1]), int(self._ends[3])),
            self._sequence,
            seen,
        )
        self._seen = (int(seen[0]), int(seen[1]))

        by_rows = np.array([isinstance(window, RowWindow) for window in terms.windows])
        weights = setup.weights_of(terms.policy, groups)
        importance = setup.importance_of(terms, groups)
        self._began_at = progress.clock >> 1
        now = definition_at(terms.changes, np.array([self._began_at]))[0]
        arrivals = Arrivals(time, side, self._sequence, weights, importance[now])
        scored = setup.Scores.of(
            terms.policy,
            arrivals,
            importance,
            needed=setup.may_run_full(terms, groups),
        )
        links, rows = np.empty(total, layout.LINK), np.empty(total, layout.ROW)
        skipped_parts = skipped_rows.skipped_parts(terms, groups, arrivals, self._ends)
        self._number = np.empty(total, np.int32)
        for which, group in enumerate(groups):
            own = slice(self._ends[which] - lengths[which], self._ends[which])
            event_order.fill(
                links,
                rows,
                self._number,
                event_order.Group(
                    side=which % 2,
                    arriving=int(which in (2, 3)),
                    first_number=int(lengths[which % 2 : which : 2].sum()),
                    place=self._place[own],
                    time=time[own],
                    sequence=self._sequence[own],
                    mark=self._sequence[own] if by_rows[which % 2] else time[own],
                    code=np.require(group.code, np.int32, ["C", "W"]),
                    size=np.require(group.size, np.int64, ["C", "W"]),
                    matches=np.require(group.matches, np.int32, ["C", "W"]),
                    touched=np.require(group.touched, np.int64, ["C", "W"]),
                    recent=np.empty(0) if group.recent is None else group.recent,
                    **setup.watched_rows(group, which, self._sequence[own], watching)._asdict(),
                    score=scored.score[now][own],
                    group=scored.group[now][own],
                    skip=skipped_parts[own] if which in (2, 3) else skipped_parts[:0],
                ),
            )
        self._weights, self._order, self._arrivals = weights, order, arrivals
        left_rows = int(lengths[::2].sum())
        self._desk = Arrays(
            links=links,
            rows=rows,
            sides=setup.sides_of(terms, by_rows, left_rows, total, progress, watching),
            pools=setup.pools_of(terms, progress),
            terms=skipped_rows.paced(
                setup.terms_of(terms, progress.clock, watermark, keep_late),
                terms,
                int(lengths[2] + lengths[3]),
                watched=watching is not None,
            ),
            newest=setup.no_heads(codes),
            side_rows=setup.rows_by_side(links, rows, by_rows, left_rows),
            heap=setup.heaps_of(terms, total, int(lengths[0] + lengths[1])),
            groups=scored.groups,
            ages=np.zeros((2, 1 if watching is None else watching.buckets), np.int64),
            thresholds=setup.thresholds_for(terms.policy, progress, int(lengths[2] + lengths[3])),
            own=setup.own_arrays(
                Given(
                    terms.policy,
                    terms.windows,
                    rows,
                    arrivals,
                    order,
                    left_rows=left_rows,
                    levels=len(scored.groups) // 2,
                    progress=progress,
                )
            ),
            worth=setup.worth_of(terms, importance, scored, order),
            lives=np.zeros((2, 2)),
            ranges=setup.ranges_of(terms, groups, side, order, codes),
            changes=no_changes(setup.kept_in(terms), (left_rows, total - left_rows)),
            tally=np.zeros((len(Count), 2), np.int64),
        )
        self._windows = setup.windows_of(terms, left_rows, total, codes)

    def take_up(self) -> None:
        """Take up the rows that earlier steps stored; `pairs` does it where nobody has."""
        if self._is_taken_up:
            return
        self._is_taken_up = True
        self._terms.policy.kind.take_up(self._desk, self._own)
        advance.restore(self._desk)

    def pairs(self) -> Iterator[PairBlock]:
        """Pairs in blocks: numbers of the left rows and of the right rows."""
        self.take_up()
        size = PAIRS_AT_ONCE
        block = self._room_for_pairs(size)
        at, end = 0, len(self._desk.rows)
        while at < end:
            before = at
            at, made = advance.advance(self._desk, self._windows, block, at)
            if made:
                yield self._numbered(block.pairs[:made], block.passed[:made])
            elif at == before:
                size *= 2
                block = self._room_for_pairs(size)
        self._is_done = True

    @property
    def _own(self) -> Any:
        """What the policy's kind has beside the kernel's arrays."""
        return self._desk.own[KINDS.index(self._terms.policy.kind)]

    def _room_for_pairs(self, size: int) -> Block:
        policy = self._terms.policy
        return Block(
            np.empty(size, layout.PAIR),
            np.empty(size if policy.samples else 0),
            np.empty(size if policy.kind.chooses_pairs else 0, np.int64),
        )

    def raise_watermark(self, watermark: int) -> None:
        """After the last pair: expire rows that nothing after this watermark can meet."""
        self._alive.clear()
        self._desk.terms["watermark"] = watermark
        departure.let_go_behind_watermark(self._desk)

    def count_pairs(self) -> int:
        """Process everything and count the pairs, without listing them.

        Meant for terms without limits: a history policy does not learn of uncounted matches.
        """
        self._desk.terms["count_only"] = 1
        self.take_up()
        advance.advance(self._desk, self._windows, self._room_for_pairs(0), 0)
        return int(self.counts[Count.PAIRS].sum())

    @property
    def counts(self) -> np.ndarray:
        """What happened so far, by `Count` and side."""
        return self._desk.tally

    @property
    def stored_rows(self) -> int:
        """Rows stored now."""
        return int(self._desk.pools["rows"].sum())

    @property
    def stored_bytes(self) -> int:
        """Bytes stored now."""
        return int(self._desk.pools["bytes"].sum())

    @property
    def after(self) -> Progress:
        """What the next step must know."""
        thresholds = (self._thresholds_passed(0), self._thresholds_passed(1))
        return self._before._replace(
            clock=int(self._desk.terms["clock"][0]),
            seen=self._seen,
            thresholds=thresholds,
            memory=self._memory(),
            **self._terms.policy.kind.progress(self._desk, self._own),
        )

    def _memory(self) -> str:
        """What the policy remembers of this step, if it observes."""
        policy = self._terms.policy
        if not policy.observes:
            return ""
        came = self._order[self._desk.links["arriving"] != 0]
        arrivals = Arrivals(*(column[came] for column in self._arrivals))
        return policy.kind.memory(policy, self._desk, arrivals)

    def _thresholds_passed(self, pool: int) -> Thresholds:
        """The pool's thresholds, less those that were there before any row now stored."""
        thresholds = self._desk.thresholds[pool][: self._desk.pools["thresholds"][pool]]
        if not thresholds.size:
            return ()
        links, rows = self._desk.links, self._desk.rows
        stored = links["alive"] != 0
        after = np.zeros(len(thresholds), bool)
        for side, seen in enumerate(("left", "right")):
            mine = rows["sequence"][stored & (links["side"] == side)]
            after |= thresholds[seen] > (mine.min() if mine.size else self._seen[side])
        return tuple(thresholds[after].tolist())

    def alive(self, side: int) -> np.ndarray:
        """For each stored row and arrival of a side, whether it is stored now."""
        if side in self._alive:
            return self._alive[side]
        places = self._of_side(self._place, side)
        alive: np.ndarray = self._desk.links["alive"][places[: self._own_rows(side)]] != 0
        if self._is_done:
            self._alive[side] = alive
        return alive

    @property
    def keeps_history(self) -> bool:
        """Whether what happened to stored rows matters to the steps to come."""
        return self._terms.policy.keeps_history

    def histories(self, side: int) -> tuple[np.ndarray, np.ndarray]:
        """For each stored row and arrival of a side, its matches and when last touched."""
        rows = self._desk.rows
        own = self._own_rows(side)
        matches, touched = (self._by_number(rows[name], side) for name in ("matches", "touched"))
        return matches[:own], touched[:own]

    def recent(self, side: int) -> np.ndarray:
        """For each stored row and arrival of a side, its matches of late."""
        return self._by_number(self._desk.rows["recent"], side)[: self._own_rows(side)]

    @property
    def definition(self) -> int:
        """Which definition of importance holds now."""
        return int(self._desk.terms["definition"][0])

    @property
    def redefined(self) -> int:
        """How many redefinitions of importance have come to hold in this step."""
        before = definition_at(self._terms.changes, np.array([self._began_at]))[0]
        return self.definition - int(before)

    @property
    def lives(self) -> tuple[float, float]:
        """Of the rows that left: the sum of their lifetimes in seconds, and of the squares."""
        total, squares = self._desk.lives.sum(axis=0)
        return float(total), float(squares)

    def watched(self, side: int) -> Watched:
        """For each row of a side, whether it is watched, and what it met."""
        rows = self._desk.rows
        return Watched(
            self._by_number(self._desk.links["watch"], side),
            self._by_number(rows["met"], side),
            self._by_number(rows["made"], side),
        )

    def followed(self, side: int) -> FollowedRows:
        """The watched rows of a side, in order of their numbers."""
        links = self._desk.links
        place = np.flatnonzero(links["watch"])
        place = place[links["side"][place] == side]
        number = self._number[place].astype(np.int64)
        place = place[np.argsort(number)]
        rows = self._desk.rows
        return FollowedRows(
            np.sort(number), links["watch"][place], rows["met"][place], rows["made"][place]
        )

    @property
    def ages(self) -> np.ndarray:
        """Partners that watched rows met in this step, by side and bucket of age."""
        return self._desk.ages

    def sequences(self, side: int) -> np.ndarray:
        """For each stored row and arrival of a side, its place among the side's rows."""
        return self._of_side(self._sequence, side)[: self._own_rows(side)]

    def _numbered(self, block: np.ndarray, passed: np.ndarray) -> PairBlock:
        links, partner = self._desk.links, block["partner"]
        from_left = links["side"][block["probe"]] == 0
        one, other = self._number[block["probe"]], self._number[partner]
        weight, cluster = np.empty(0), np.empty(0, np.int64)
        sampler = self._terms.policy.sampler
        if sampler is not None:
            weight = sampler.inverse_chance(passed, self._weight_of(partner))
            cluster = 2 * self._desk.rows["sequence"][partner] + links["side"][partner]
        left, right = np.where(from_left, one, other), np.where(from_left, other, one)
        importance = np.empty(0)
        if self._terms.combine:
            importance = self._worth(block)
        self.importance += float(importance.sum()) if self._terms.combine else len(block)
        return PairBlock(left, right, weight, cluster, importance)

    def _worth(self, block: np.ndarray) -> np.ndarray:
        """The importance of pairs, as defined when they were made."""
        probe, partner = block["probe"], block["partner"]
        time = np.maximum(self._desk.rows["time"][probe], self._began_at)
        definition = definition_at(self._terms.changes, time)
        one, other = (self._desk.worth.importance[definition, row] for row in (probe, partner))
        from_left = self._desk.links["side"][probe] == 0
        left, right = np.where(from_left, one, other), np.where(from_left, other, one)
        return pair_importance(self._terms.combine, left, right)

    def _weight_of(self, rows: np.ndarray) -> np.ndarray:
        """What the policy made of the keys of rows, given by their places in event order."""
        if not self._weights.size:
            return np.ones(len(rows))
        return np.asarray(self._weights[self._order[rows]])

    def _by_number(self, field: np.ndarray, side: int) -> np.ndarray:
        values: np.ndarray = field[self._of_side(self._place, side)]
        return values

    def _of_side(self, values: np.ndarray, side: int) -> np.ndarray:
        """The entries of a side's rows, by number, out of an array over all rows as given."""
        parts = np.split(values, self._ends[:-1])
        return np.concatenate(parts[side::2])

    def _own_rows(self, side: int) -> int:
        """Stored rows and arrivals of a side: all but its ghosts."""
        lengths = np.diff(self._ends, prepend=0)
        return int(lengths[side] + lengths[side + 2])
