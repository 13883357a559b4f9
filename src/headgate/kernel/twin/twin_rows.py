"""Rows as the twin has them: objects with names for everything, in event order."""

from dataclasses import dataclass

import numpy as np

from headgate.kernel.layout import NULL_KEY, Skip, Watch
from headgate.kernel.pace import SKIP_SALT
from headgate.kernel.progress import Progress
from headgate.kernel.rows import Batch
from headgate.kernel.skipped_rows import most_at_once
from headgate.kernel.terms import Terms
from headgate.kernel.watched import Watched, Watching
from headgate.policies.importance_levels import importance_levels
from headgate.policies.policy import Arrivals, FixedScore, ValueScore
from headgate.policies.random import uniform
from headgate.spec import RowWindow


@dataclass(eq=False)
class Row:
    """A stored or arriving row: who it is, its columns of `Batch`, and its places in order."""

    side: int
    number: int
    arriving: bool
    time: int
    code: int
    size: int
    weight: float
    sequence: int
    matches: int
    touched: int
    value: float  # what a band or comparison looks at; 0 where there is none
    watch: int = Watch.NONE
    met: float = 0.0
    made: float = 0.0
    importance: tuple[float, ...] = (1.0,)  # by definition
    recent: float = 0.0  # matches, as they counted when last touched
    skip: int = 0  # what is left skipped with it, as `Skip`
    priority: float = 0.0  # residence: as last computed
    is_ripe: bool = False  # residence: has been a candidate
    position: int = 0  # in event order among all rows of the step
    by_rows: bool = False  # its window counts rows of its side, not time
    mark: int = 0  # its place on its window's scale: sequence or time
    end: int = 0  # where its window ends on that scale


def rows_of(side: int, stored: Batch, arriving: Batch, definitions: int) -> list[Row]:
    """A side's rows, stored ones first, with their importance by each of so many definitions."""
    rows: list[Row] = []
    for batch, is_arriving in ((stored, False), (arriving, True)):
        values = batch.value if batch.value.size else np.zeros(len(batch.time))
        watched = batch.watched or Watched.none(len(batch.time))
        columns = (*batch[:7], values, *watched)
        for at, entry in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
            rows.append(Row(side, len(rows), is_arriving, *entry))
            rows[-1].importance = (1.0,) * definitions
            if batch.importance is not None:
                rows[-1].importance = tuple(batch.importance[:, at].tolist())
            if batch.recent is not None:
                rows[-1].recent = float(batch.recent[at])
    return rows


def age_order(row: Row) -> tuple[int, int]:
    """What rows of a side are older by."""
    return row.mark, row.position


def in_event_order(by_side: list[list[Row]], terms: Terms, progress: Progress) -> list[Row]:
    """The rows by time, then side, then as given; arrivals get their sequence numbers."""
    rows = sorted((row for rows in by_side for row in rows), key=lambda row: (row.time, row.side))
    seen = list(progress.seen)
    for position, row in enumerate(rows):
        row.position = position
        if row.arriving:
            row.sequence = seen[row.side]
            seen[row.side] += 1
        row.by_rows = isinstance(terms.windows[row.side], RowWindow)
        row.mark = row.sequence if row.by_rows else row.time
        row.end = row.mark + terms.windows[row.side].span
    return rows


def choose_watched(rows: list[Row], watching: Watching) -> None:
    """Mark the arrivals to be watched."""
    for row in rows:
        chosen = watching.chooses(np.array([row.side], np.uint8), np.array([row.sequence]))
        wanted = row.arriving and row.code != NULL_KEY and watching.sides[row.side]
        if wanted and chosen[0]:
            row.watch = Watch.OPEN


def skip_parts(
    by_side: list[list[Row]], arriving: tuple[Batch, Batch], terms: Terms, definition: int
) -> None:
    """Say what is left skipped with each arrival, for want of processor time."""
    came = [[row for row in rows if row.arriving] for rows in by_side]
    stored = np.ones(len(came[0]) + len(came[1]))
    if terms.pace is not None:
        told_of = as_arrivals([*came[0], *came[1]], definition)
        stored = terms.pace.shares_stored(told_of, most_at_once(terms, arriving))
    shares = [stored[: len(came[0])], stored[len(came[0]) :]]
    for side, rows in enumerate(came):
        effort = arriving[side].effort
        told = np.ones((2, len(rows))) if effort is None else effort
        for at, row in enumerate(rows):
            number = (np.array([side], np.uint8), np.array([row.sequence]))
            coin = uniform(terms.seed ^ SKIP_SALT, *number)[0]
            if coin >= told[0, at]:
                row.skip |= Skip.PROBE
            if coin >= told[1, at] * shares[side][at]:
                row.skip |= Skip.STORE


def known_worth(terms: Terms, rows: list[Row], definition: int) -> list[float]:
    """What the policy knows of each row in advance: its fixed score, or the weight of its class."""
    arrivals = as_arrivals(rows, definition)
    known = np.zeros(len(rows))
    if isinstance(terms.policy, FixedScore):
        known = terms.policy.score(arrivals)
    elif isinstance(terms.policy, ValueScore):
        known = terms.policy.class_weights()[terms.policy.classify(arrivals)]
    return [float(value) for value in known]


def rounded_importance(terms: Terms, rows: list[Row], definition: int) -> list[float]:
    """What each row's importance is rounded to, where scores change all the time."""
    if not terms.policy.weighs_importance:
        return [1.0] * len(rows)
    own = np.array([row.importance[definition] for row in rows], np.float64)
    level, weights = importance_levels(own)
    return [float(weights[at]) for at in level]


def as_arrivals(rows: list[Row], definition: int = 0) -> Arrivals:
    """Rows as a policy is told of them."""
    return Arrivals(
        np.array([row.time for row in rows], np.int64),
        np.array([row.side for row in rows], np.uint8),
        np.array([row.sequence for row in rows], np.int64),
        np.array([row.weight for row in rows], np.float64),
        np.array([row.importance[definition] for row in rows], np.float64),
    )
