"""One step of a join: stored rows and arriving rows in, pairs and survivors out.

Lays the rows out in event order, lets the kernel loose on them, and reads off who is left. Knows
rows by number alone; payload stays outside.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from headgate.engine import arrange, flips, heap, kernel, layout, ranges
from headgate.engine.batch import (
    NO_WATERMARK,
    Bars,
    Batch,
    FollowedRows,
    PairBlock,
    Progress,
    Terms,
    Watched,
    Watching,
    bucket_us,
)
from headgate.engine.layout import NONE, Count, Desk, Watch
from headgate.policies.base import (
    AgeScore,
    Arrivals,
    FixedScore,
    Flips,
    HistoryScore,
    Kind,
    Policy,
    Sampler,
    ValueScore,
)
from headgate.policies.history import no_history
from headgate.spec import RowWindow, Window

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
        self._terms = terms
        self._is_done = False
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
        order = arrange.event_order(time, side)
        arrange.number_arrivals(
            order,
            self._place,
            side,
            (int(self._ends[1]), int(self._ends[3])),
            self._sequence,
            seen,
        )
        self._seen = (int(seen[0]), int(seen[1]))

        by_rows = np.array([isinstance(window, RowWindow) for window in terms.windows])
        weights = _weights(terms.policy, groups)
        scored = _Scores.of(
            terms.policy,
            terms.windows,
            Arrivals(time, side, self._sequence, weights),
            needed=_may_run_full(terms, groups),
        )
        links, rows = np.empty(total, layout.LINK), np.empty(total, layout.ROW)
        self._number = np.empty(total, np.int32)
        for which, group in enumerate(groups):
            own = slice(self._ends[which] - lengths[which], self._ends[which])
            arrange.fill(
                links,
                rows,
                self._number,
                arrange.Group(
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
                    **_watched(group, which, self._sequence[own], watching)._asdict(),
                    score=scored.score[own],
                    group=scored.group[own],
                ),
            )
        self._weights, self._order = weights, order
        left_rows = int(lengths[::2].sum())
        self._desk = Desk(
            links=links,
            rows=rows,
            sides=_sides(terms, by_rows, left_rows, total, progress, watching),
            pools=_pools(terms, progress),
            terms=_terms(terms, progress.clock, watermark, keep_late),
            newest=_newest(codes),
            side_rows=_side_rows(links, rows, by_rows, left_rows),
            heap=_heap(terms, total, int(lengths[0] + lengths[1])),
            groups=scored.groups,
            pieces=scored.pieces,
            ages=np.zeros((2, 1 if watching is None else watching.buckets), np.int64),
            bars=_bars(terms.policy, progress, int(lengths[2] + lengths[3])),
            flips=_flips(terms.policy, weights, order),
            ranges=_ranges(terms, groups, side, order, codes),
            tally=np.zeros((len(Count), 2), np.int64),
        )

    def pairs(self) -> Iterator[PairBlock]:
        """Pairs in blocks: numbers of the left rows and of the right rows."""
        rescore = self._restore()
        size = PAIRS_AT_ONCE
        block, passed, spent = self._room_for_pairs(size)
        at, end = 0, len(self._desk.rows)
        while at < end:
            before = at
            at, made = kernel.advance(self._desk, rescore, block, passed, spent, at)
            if made:
                yield self._numbered(block[:made], passed[:made])
            elif at == before:
                size *= 2
                block, passed, spent = self._room_for_pairs(size)
        self._is_done = True

    def _room_for_pairs(self, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        policy = self._terms.policy
        return (
            np.empty(size, layout.PAIR),
            np.empty(size if policy.samples else 0),
            np.empty(size if policy.kind == Kind.FLIPS else 0, np.int64),
        )

    def raise_watermark(self, watermark: int) -> None:
        """After the last pair: expire rows that nothing after this watermark can meet."""
        self._alive.clear()
        self._desk.terms["watermark"] = watermark
        kernel.let_go_behind_watermark(self._desk)

    def count_pairs(self) -> int:
        """Process everything and count the pairs, without listing them.

        Meant for terms without limits: a history policy does not learn of uncounted matches.
        """
        self._desk.terms["count_only"] = 1
        rescore = self._restore()
        kernel.advance(self._desk, rescore, *self._room_for_pairs(0), 0)
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
        bars = (self._bars_passed(0), self._bars_passed(1))
        return Progress(int(self._desk.terms["clock"][0]), self._seen, bars)

    def _bars_passed(self, pool: int) -> Bars:
        """The pool's bars, less those that were there before any row now stored."""
        bars = self._desk.bars[pool][: self._desk.pools["bars"][pool]]
        if not bars.size:
            return ()
        links, rows = self._desk.links, self._desk.rows
        stored = links["alive"] != 0
        after = np.zeros(len(bars), bool)
        for side, seen in enumerate(("left", "right")):
            mine = rows["sequence"][stored & (links["side"] == side)]
            after |= bars[seen] > (mine.min() if mine.size else self._seen[side])
        return tuple(bars[after].tolist())

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

    def _restore(self) -> Any:
        policy = self._terms.policy
        rescore = no_history
        if isinstance(policy, HistoryScore):
            rescore = type(policy).rescore
            kernel.rescore_stored(self._desk, rescore)
        elif policy.kind == Kind.FLIPS:
            flips.take_up(self._desk)
        kernel.restore(self._desk)
        return rescore

    def _numbered(self, block: np.ndarray, passed: np.ndarray) -> PairBlock:
        links, partner = self._desk.links, block["partner"]
        from_left = links["side"][block["probe"]] == 0
        one, other = self._number[block["probe"]], self._number[partner]
        weight, cluster = np.empty(0), np.empty(0, np.int64)
        if isinstance(self._terms.policy, Sampler):
            weight = self._terms.policy.inverse_chance(passed, self._weight_of(partner))
            cluster = 2 * self._desk.rows["sequence"][partner] + links["side"][partner]
        left, right = np.where(from_left, one, other), np.where(from_left, other, one)
        return PairBlock(left, right, weight, cluster)

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


class _Scores(NamedTuple):
    """A policy's scores, laid out for the kernel."""

    score: np.ndarray
    group: np.ndarray
    groups: np.ndarray
    pieces: np.ndarray

    @classmethod
    def of(
        cls, policy: Policy, windows: tuple[Window, Window], arrivals: Arrivals, needed: bool
    ) -> "_Scores":
        score, group = np.empty(0), np.empty(0, np.int32)
        weights = np.zeros(1)
        by_side: list[tuple[Any, ...]] = [(), ()]
        if isinstance(policy, FixedScore) and needed:
            score = policy.score(arrivals)
        elif isinstance(policy, AgeScore):
            by_side = [policy.pieces(side, windows[side]) for side in (0, 1)]
        elif isinstance(policy, ValueScore):
            weights = policy.class_weights()
            first = arrivals.side.astype(np.int32) * len(weights)
            group = (policy.classify(arrivals) + first).astype(np.int32)
        groups = np.zeros(2 * len(weights), layout.GROUP)
        groups["weight"] = np.tile(weights, 2)
        groups["eldest"] = groups["youngest"] = NONE
        pieces = np.zeros((2, max(1, *(len(side) for side in by_side))), layout.PIECE)
        pieces["age"] = np.inf
        pieces["edge"] = NONE
        for side, given in enumerate(by_side):
            for place, piece in enumerate(given):
                pieces[side, place] = (*piece, NONE)
        return cls(np.asarray(score, np.float64), group, groups, pieces)


def _watched(group: Batch, which: int, sequence: np.ndarray, watching: Watching | None) -> Watched:
    if which not in (2, 3) or watching is None:
        return group.watched or Watched.none(0)
    chosen = watching.chooses(np.full(len(sequence), which % 2, np.uint8), sequence)
    chosen &= watching.sides[which % 2]
    state = np.where(chosen & (group.code != layout.NULL_KEY), Watch.OPEN, Watch.NONE)
    return Watched.none(0)._replace(state=state.astype(np.uint8))


def _weights(policy: Policy, groups: tuple[Batch, ...]) -> np.ndarray:
    if not policy.weighs_keys:
        return np.empty(0)
    return np.concatenate([group.weight for group in groups])


def _may_run_full(terms: Terms, groups: tuple[Batch, ...]) -> bool:
    """Whether scores can matter at all: not where everything fits at once."""
    if terms.policy.samples:
        return True  # a row without a chance is not stored
    pools = (0,) if terms.pooled else (0, 1)
    rows = sum(len(group.time) for group in groups)
    size = sum(int(group.size.sum()) for group in groups)
    return rows > min(terms.most_rows[p] for p in pools) or size > min(
        terms.most_bytes[p] for p in pools
    )


def _sides(
    terms: Terms,
    by_rows: np.ndarray,
    left_rows: int,
    total: int,
    progress: Progress,
    watching: Watching | None,
) -> np.ndarray:
    sides = np.zeros(2, layout.SIDE)
    sides["bucket_us"] = [
        bucket_us(window, 1 if watching is None else watching.buckets) for window in terms.windows
    ]
    sides["span"] = [window.span for window in terms.windows]
    sides["by_rows"] = by_rows
    sides["pool"] = [0, 0 if terms.pooled else 1]
    sides["seen"] = progress.seen
    sides["pointer"] = [0, left_rows]
    sides["end"] = [left_rows, total]
    return sides


def _pools(terms: Terms, progress: Progress) -> np.ndarray:
    pools = np.zeros(2, layout.POOL)
    pools["most_rows"] = terms.most_rows
    pools["most_bytes"] = terms.most_bytes
    pools["bars"] = [len(bars) for bars in progress.bars]
    return pools


def _bars(policy: Policy, progress: Progress, arriving: int) -> np.ndarray:
    """Room for the bars so far, and for one more an arrival."""
    if not policy.samples:
        return np.empty((2, 0), layout.BAR)
    most = max(len(bars) for bars in progress.bars) + arriving + 1
    bars = np.empty((2, most), layout.BAR)
    for pool, before in enumerate(progress.bars):
        bars[pool, : len(before)] = np.array(list(before), layout.BAR)
    return bars


def _flips(policy: Policy, weights: np.ndarray, order: np.ndarray) -> np.ndarray:
    if not isinstance(policy, Flips):
        return np.empty(0, layout.FLIP)
    coins = np.zeros(len(order), layout.FLIP)
    coins["most"] = policy.most_matches(weights)[order]
    return coins


def _terms(given: Terms, clock: int, watermark: int, keep_late: bool) -> np.ndarray:
    policy = given.policy
    terms = np.zeros(1, layout.TERMS)
    terms["clock"] = clock
    terms["watermark"] = watermark
    terms["keep_late"] = keep_late
    terms["ranged"] = given.where is not None
    terms["kind"] = policy.kind
    terms["parameter"] = policy.parameter if isinstance(policy, HistoryScore) else 0.0
    terms["samples"] = policy.samples
    terms["unique"] = given.unique
    terms["takes_newcomers"] = policy.takes_newcomers
    if isinstance(policy, Flips):
        terms["seed"] = policy.seed % (1 << 64)
        terms["share"] = policy.share
    return terms


def _ranges(
    terms: Terms, groups: tuple[Batch, ...], side: np.ndarray, order: np.ndarray, codes: int
) -> ranges.Ranges:
    """The ordered index; ``side`` is as given, ``order`` the event order."""
    if terms.where is None:
        return ranges.no_ranges()
    kind = np.float64 if terms.where.real else np.int64
    value = np.concatenate([group.value.astype(kind, copy=False) for group in groups])
    code = np.concatenate([group.code for group in groups])
    return ranges.index_rows(terms.where, code[order], value[order], side[order], codes)


def _newest(codes: int) -> np.ndarray:
    newest = np.zeros(2 * max(codes, 1), layout.HEAD)
    newest["row"] = NONE
    return newest


def _side_rows(
    links: np.ndarray, rows: np.ndarray, by_rows: np.ndarray, left_rows: int
) -> np.ndarray:
    side_rows = np.empty(len(rows), np.int32)
    arrange.queue_by_side(links, rows, side_rows, left_rows)
    for side, part in enumerate((slice(0, left_rows), slice(left_rows, len(rows)))):
        if by_rows[side]:
            mine = side_rows[part]
            side_rows[part] = mine[np.argsort(links["mark"][mine], kind="stable")]
            rows["side_index"][side_rows[part]] = np.arange(part.start, part.stop)
    return side_rows


def _heap(terms: Terms, total: int, stored: int) -> np.ndarray:
    if terms.policy.kind in (Kind.AGE, Kind.VALUE):
        return np.empty((2, 0), layout.ENTRY)
    most = max(min(total, max(terms.most_rows)), stored)
    return heap.empty_heaps(most)
