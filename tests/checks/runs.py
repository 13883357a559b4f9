"""Drivers that run an input in one step or several, and all that can be known after each."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from headgate.kernel.layout import Count, WatchState
from headgate.kernel.meetings import MetBefore
from headgate.kernel.pair_block import PairBlock
from headgate.kernel.rows import Rows
from headgate.kernel.step import Step
from headgate.kernel.step_input import StepInput
from headgate.kernel.step_progress import NO_WATERMARK, StepProgress
from headgate.kernel.terms import Terms
from headgate.kernel.twin.twin import Twin
from headgate.kernel.twin.twin_meetings import TwinMeetings
from headgate.kernel.watched import Watched, Watching
from headgate.spec import How, RowWindow
from tests.checks.arrivals import NULL, Case, weigh

KEYS = 4
IMPORTANCES = (1.0, 3.0, 0.0, 1.0, 2.5, 8.0, 1.0)
EVERY_ROW = Watching(5, 1.0, 3)


class Part(NamedTuple):
    """What is handed over in one step: rows by their place in the input."""

    rows: Sequence[int]
    watermark: int = NO_WATERMARK
    terms: Terms | None = None
    """Where the budget changes on the way; else the terms of the case."""


class Snapshot(NamedTuple):
    """All that can be known after a step, in places of the input."""

    pairs: list[tuple[int, int]]
    weights: list[float]
    worths: list[float]
    """The importance of each pair."""
    lives: list[int]
    """Sums of the lifetimes of rows that left, and of their squares."""
    alive: list[int]
    counts: list[list[int]]
    histories: dict[int, tuple[int, int, float]]
    sequences: dict[int, int]
    watched: dict[int, tuple[int, float, float]]
    """State, partners met and pairs made of each row."""
    ages: list[list[int]]
    stored: tuple[int, int]
    after: StepProgress
    alone: list[tuple[int, bool]]
    """Rows put out without a partner, and whether that is certain."""
    fates: dict[int, int]
    """Of each row, where the join is not inner."""
    meetings: tuple[dict[tuple[int, ...], int], ...] = ({}, {})
    """What watched rows met, and for how long they waited, by class of row."""
    met_before: Mapping[int, tuple[int, int]] = {}
    """Of each watched row, where meetings are counted: partners so far, and the last of them."""
    ages_of: Mapping[int, list[int]] = {}
    """Of each watched row, where that is counted: what it met in the step, by class of age."""


class Kept(NamedTuple):
    """What a step hands to the next of a row that is stored or still watched."""

    sequence: int
    matches: int
    touched: int
    recent: float
    watch: int
    met: float
    made: float
    fate: int | None
    met_before: tuple[int, int] | None = None


class Run(NamedTuple):
    """The snapshots of all steps."""

    steps: list[Snapshot]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """All pairs, in order."""
        return [pair for step in self.steps for pair in step.pairs]

    @property
    def alone(self) -> list[tuple[int, bool]]:
        """All rows put out without a partner, and whether that is certain."""
        return [row for step in self.steps for row in step.alone]

    @property
    def alive(self) -> list[int]:
        """Rows stored at the end."""
        return self.steps[-1].alive

    def count(self, what: Count, side: int) -> int:
        """How often something happened over all steps."""
        return sum(step.counts[what][side] for step in self.steps)


class _Carried(NamedTuple):
    """What a step leaves to the next."""

    stored: tuple[list[int], ...] = ([], [])
    kept: Mapping[int, Kept] = {}
    progress: StepProgress = StepProgress()

    def input(
        self,
        case: Case,
        weights: np.ndarray,
        part: Part,
        keep_late: bool,
        watching: Watching | None = None,
    ) -> tuple[tuple[list[int], ...], StepInput]:
        """The rows of the next step by side, and all that it gets."""
        rows = tuple([i for i in part.rows if case.arrivals[i].side == side] for side in (0, 1))
        given = StepInput(
            part.terms or case.terms,
            tuple(_carried(case, weights, self.stored[side], self.kept) for side in (0, 1)),
            tuple(_arriving(case, weights, rows[side]) for side in (0, 1)),
            codes=KEYS,
            progress=self.progress,
            watermark=part.watermark,
            keep_late=keep_late,
            watching=watching,
        )
        return rows, given

    def after(self, snapshot: Snapshot, rows: tuple[list[int], ...]) -> "_Carried":
        """What the step leaves that had these rows and ended so."""
        open_rows = {i for i, (state, *_) in snapshot.watched.items() if state == WatchState.OPEN}
        survivors = set(snapshot.alive) | open_rows
        kept = {
            i: Kept(
                snapshot.sequences[i],
                *snapshot.histories[i],
                WatchState.GHOST if i not in snapshot.alive else snapshot.watched[i][0],
                *snapshot.watched[i][1:],
                snapshot.fates.get(i),
                snapshot.met_before.get(i),
            )
            for i in survivors
        }
        stored = tuple([i for i in self.stored[s] + rows[s] if i in survivors] for s in (0, 1))
        return _Carried(stored, kept, snapshot.after)


def run(
    case: Case,
    parts: Sequence[Part] | None = None,
    keep_late: bool = False,
    engine: type[Step] | type[Twin] = Step,
    watching: Watching | None = None,
) -> Run:
    """Run the parts, or the whole input at once, each step carrying on what the last one left."""
    parts = [Part(range(len(case.arrivals)))] if parts is None else parts
    if watching is not None and any(isinstance(window, RowWindow) for window in case.windows):
        watching = watching._replace(meetings=None)
    before, weights, steps = _Carried(), weigh(case), []
    for part in parts:
        rows, given = before.input(case, weights, part, keep_late, watching)
        places = (before.stored[0] + rows[0], before.stored[1] + rows[1])
        step = engine(given)
        steps.append(_snapshot(step, places, case.terms.how))
        if watching is not None and watching.meetings is not None:
            steps[-1] = _with_meetings(steps[-1], step, places, given)
        if watching is not None and watching.by_row:
            steps[-1] = _with_ages(steps[-1], step, places)
        before = before.after(steps[-1], rows)
    return Run(steps)


def pairs_of(
    case: Case, parts: Sequence[Part] | None = None, keep_late: bool = False
) -> list[tuple[int, int]]:
    """The kernel's pairs alone: what is left at the end is not read, which takes a third less."""
    parts = [Part(range(len(case.arrivals)))] if parts is None else parts
    before, weights = _Carried(), weigh(case)
    pairs: list[tuple[int, int]] = []
    for part in parts:
        rows, given = before.input(case, weights, part, keep_late)
        step = Step(given)
        places = (before.stored[0] + rows[0], before.stored[1] + rows[1])
        if part is parts[-1]:
            blocks = [block for block in step.pairs() if not block.certain.size]
            made = [pair for block in blocks for pair in np.stack(block[:2], axis=1).tolist()]
            return pairs + [(places[0][a], places[1][b]) for a, b in made]
        snapshot = _snapshot(step, places, case.terms.how)
        pairs += snapshot.pairs
        before = before.after(snapshot, rows)
    return pairs


def count_pairs(case: Case) -> int:
    """How many pairs the engine counts when it does not list them."""
    weights = weigh(case)
    sides = tuple([i for i, row in enumerate(case.arrivals) if row.side == side] for side in (0, 1))
    arriving = tuple(_arriving(case, weights, rows) for rows in sides)
    nothing = (Rows.empty(), Rows.empty())
    return Step(StepInput(case.terms, nothing, arriving, codes=KEYS)).count_pairs()


def _arriving(case: Case, weights: np.ndarray, rows: list[int]) -> Rows:
    mine = [case.arrivals[i] for i in rows]
    where = case.terms.where
    codes = [NULL if case.is_null(row) else row.key if case.keyed else 0 for row in mine]
    return Rows.of_arrivals(
        np.array([row.time for row in mine], np.int64),
        np.array(codes, np.int32),
        np.array([row.size for row in mine], np.int64),
        weights[rows],
        None
        if where is None
        else np.array([case.value(row) for row in mine], np.float64 if where.real else np.int64),
    )._replace(importance=_importance(case, rows), effort=_effort(case, rows))


def _effort(case: Case, rows: list[int]) -> np.ndarray | None:
    if case.effort is None:
        return None
    return np.array([case.effort[i] for i in rows], np.float64).reshape(-1, 2).T


def _importance(case: Case, rows: list[int]) -> np.ndarray | None:
    """By definition and row; all count alike where nothing is said."""
    if case.importance is not None:
        drawn = np.array([case.importance[i] for i in rows], np.float64)
        return np.tile(drawn, (len(case.terms.changes) + 1, 1))
    if not case.terms.combine:
        return None
    which = np.arange(len(case.terms.changes) + 1)[:, None]
    return np.array(IMPORTANCES)[(5 * np.array(rows, int) + 3 * which) % len(IMPORTANCES)]


def _carried(case: Case, weights: np.ndarray, rows: list[int], kept: Mapping[int, Kept]) -> Rows:
    return _arriving(case, weights, rows)._replace(
        sequence=np.array([kept[i].sequence for i in rows], np.int64),
        matches=np.array([kept[i].matches for i in rows], np.int32),
        touched=np.array([kept[i].touched for i in rows], np.int64),
        recent=np.array([kept[i].recent for i in rows], np.float64),
        watched=Watched(
            np.array([kept[i].watch for i in rows], np.uint8),
            np.array([kept[i].met for i in rows], np.float64),
            np.array([kept[i].made for i in rows], np.float64),
        ),
        meetings=MetBefore(
            np.array([(kept[i].met_before or (0, 0))[0] for i in rows], np.int32),
            np.array(
                [(kept[i].met_before or (0, case.arrivals[i].time))[1] for i in rows], np.int64
            ),
        ),
        fate=None
        if any(kept[i].fate is None for i in rows)
        else np.array([kept[i].fate for i in rows], np.uint8),
    )


def _snapshot(step: Step | Twin, places: tuple[list[int], list[int]], how: How) -> Snapshot:
    if isinstance(step, Step):
        every = list(step.pairs())
        blocks = [block for block in every if not block.certain.size]
        alone = [entry for block in every for entry in _alone(block)]
        pairs = [pair for block in blocks for pair in np.stack(block[:2], axis=1).tolist()]
        weights = [weight for block in blocks for weight in block.weight.tolist()]
        worths = [worth for block in blocks for worth in block.importance.tolist()]
    else:
        pairs, weights, worths = step.pairs, step.weights, step.worths
        alone = step.settled.alone
    left, right = places
    alive, histories, sequences, watched, fates = [], {}, {}, {}, {}
    for side in (0, 1):
        own = places[side]
        alive += [i for i, is_alive in zip(own, step.alive(side), strict=True) if is_alive]
        matches, touched = (values.tolist() for values in step.histories(side))
        recent = step.recent(side).tolist()
        histories |= dict(zip(own, zip(matches, touched, recent, strict=True), strict=True))
        known = None if how == How.INNER else step.fates(side)
        fates |= {} if known is None else dict(zip(own, known.tolist(), strict=True))
        sequences |= dict(zip(own, step.sequences(side).tolist(), strict=True))
        states = zip(*(column.tolist() for column in step.watched(side)), strict=True)
        watched |= dict(zip(own, states, strict=True))
    return Snapshot(
        pairs=[(left[a], right[b]) for a, b in pairs],
        weights=weights,
        worths=worths,
        # Whole microseconds and their squares, whatever order they were added up in.
        lives=[round(total * unit) for total, unit in zip(step.lives, (1e6, 1e12), strict=True)],
        alive=alive,
        counts=step.counts.tolist(),
        histories=histories,
        sequences=sequences,
        watched=watched,
        ages=step.ages.tolist(),
        stored=(step.stored_rows, step.stored_bytes),
        after=step.after,
        alone=sorted((places[side][number], certain) for side, number, certain in alone),
        fates=fates,
    )


def _with_ages(
    snapshot: Snapshot, step: Step | Twin, places: tuple[list[int], list[int]]
) -> Snapshot:
    """With what each watched row met, by class of age."""
    found: dict[int, list[int]] = {}
    for side in (0, 1):
        numbers = [n for n, row in enumerate(places[side]) if snapshot.watched[row][0]]
        met = step.ages_met(side, np.array(numbers, np.int64)).tolist()
        found |= dict(zip([places[side][number] for number in numbers], met, strict=True))
    assert sum(map(sum, found.values())) == sum(map(sum, snapshot.ages))
    return snapshot._replace(ages_of=found)


def _with_meetings(
    snapshot: Snapshot, step: Step | Twin, places: tuple[list[int], list[int]], given: StepInput
) -> Snapshot:
    """With what watched rows met by class of row."""
    assert given.watching is not None
    if isinstance(step, Step):
        tables = tuple(
            {tuple(at): int(table[tuple(at)]) for at in np.argwhere(table).tolist()}
            for table in step.meetings
        )
        known = [step.met_before(side, np.arange(len(places[side]))) for side in (0, 1)]
        partners, last = ([column.tolist() for column in both] for both in zip(*known, strict=True))
    else:
        rows = [row for side in step.by_side for row in side if row.watch]
        now = given.progress.clock >> 1, step.after.clock >> 1
        counted = TwinMeetings.of(step.log, rows, now, given.terms, given.watching)
        tables = tuple(
            {at: count for at, count in table.items() if count}
            for table in (counted.met, counted.spent)
        )
        partners, last = (
            [[table.get((side, at), 0) for at in range(len(places[side]))] for side in (0, 1)]
            for table in (counted.partners, counted.last)
        )
    before = {
        i: (partners[side][at], last[side][at])
        for side in (0, 1)
        for at, i in enumerate(places[side])
        if snapshot.watched[i][0] != WatchState.NONE
    }
    return snapshot._replace(meetings=tables, met_before=before)


def _alone(block: PairBlock) -> list[tuple[int, int, bool]]:
    """Side, number and certainty of the rows in a block of rows without a partner."""
    if not block.certain.size:
        return []
    side = int(block.left[0] < 0)
    return [
        (side, number, certain)
        for number, certain in zip(block[side].tolist(), block.certain.tolist(), strict=True)
    ]
