"""Builds all arrays of a step: one record per row in event order, and the other structures."""

from typing import NamedTuple

import numpy as np

from headgate.kernel import event_order, given_up, layout, setup, skipped_rows
from headgate.kernel.ages_by_row import AgesByRow, ages_by_row, no_ages_by_row
from headgate.kernel.judged_rows import JudgedRows
from headgate.kernel.layout import Arrays, Count, WatchState
from headgate.kernel.meetings import Meetings, meetings_for, no_meetings
from headgate.kernel.ordered_rows import ARRIVING, GHOSTS, OrderedRows
from headgate.kernel.probe.indexes import no_changes
from headgate.kernel.step_input import StepInput
from headgate.kernel.terms import Terms
from headgate.policies.kinds.kind import Given
from headgate.spec import RowWindow


class Records(NamedTuple):
    """One record per row, by position in event order."""

    links: np.ndarray
    rows: np.ndarray
    number: np.ndarray
    """Number of each row among the rows of its side."""

    @classmethod
    def of(cls, given: StepInput, ordered: OrderedRows, judged: JudgedRows) -> "Records":
        """The records of all rows of a step."""
        total = ordered.total
        records = cls(
            np.empty(total, layout.LINK), np.empty(total, layout.ROW), np.empty(total, np.int32)
        )
        by_rows = counted_windows(given.terms)
        for which in np.flatnonzero(ordered.lengths).tolist():
            group = _group(given, ordered, judged, which, bool(by_rows[which % 2]))
            event_order.fill(records.links, records.rows, records.number, group)
        return records


def counted_windows(terms: Terms) -> np.ndarray:
    """Which sides' windows count rows."""
    return np.array([isinstance(window, RowWindow) for window in terms.windows])


def arrays_of(
    given: StepInput, ordered: OrderedRows, judged: JudgedRows, records: Records
) -> Arrays:
    """Everything the kernel works on in a step."""
    terms, progress, watching = given.terms, given.progress, given.watching
    by_rows, left_rows, total = counted_windows(terms), ordered.left_rows, ordered.total
    scores = judged.scores
    own = Given(
        terms.policy,
        terms.windows,
        records.rows,
        judged.arrivals,
        ordered.order,
        left_rows=left_rows,
        levels=len(scores.groups) // 2,
        weights=scores.groups["weight"][: len(scores.groups) // 2],
        progress=progress,
    )
    return Arrays(
        links=records.links,
        rows=records.rows,
        sides=setup.sides_of(terms, by_rows, left_rows, total, progress, watching),
        pools=setup.pools_of(terms, progress),
        terms=skipped_rows.paced(
            setup.terms_of(terms, progress.clock, given.watermark, given.keep_late),
            terms,
            ordered.arriving,
            watched=watching is not None,
        ),
        newest=setup.no_heads(given.codes),
        side_rows=setup.rows_by_side(records.links, records.rows, by_rows, left_rows),
        heap=setup.heaps_of(terms, total, ordered.stored),
        groups=scores.groups,
        ages=np.zeros((2, 1 if watching is None else watching.buckets), np.int64),
        thresholds=setup.thresholds_for(terms.policy, progress, ordered.arriving),
        own=setup.own_arrays(own),
        worth=setup.worth_of(terms, judged.importance, scores, ordered.order),
        lives=np.zeros((2, 2)),
        ranges=setup.ranges_of(terms, ordered.groups, ordered.side, ordered.order, given.codes),
        changes=no_changes(setup.kept_in(terms), (left_rows, total - left_rows)),
        tally=np.zeros((len(Count), 2), np.int64),
        settling=given_up.settling_for(given, total),
        meetings=meetings_of(given, ordered, records.rows["time"]),
        by_row=_by_row(given, records),
    )


def _by_row(given: StepInput, records: Records) -> AgesByRow:
    """What each watched row meets in the step, where that is asked for."""
    if given.watching is None or not given.watching.by_row:
        return no_ages_by_row()
    return ages_by_row(records.links["watch"] != WatchState.NONE, given.watching.buckets)


def meetings_of(given: StepInput, ordered: OrderedRows, time: np.ndarray) -> Meetings:
    """What watched rows met before, by position; ``time`` is that of all rows."""
    if given.watching is None or given.watching.meetings is None:
        return no_meetings()
    classes = given.watching.meetings
    meetings = meetings_for(classes, time, given.progress.clock >> 1)
    if classes.stored > 0 and given.terms.policy.kind.tells_of_classes:
        meetings = meetings._replace(stored=np.zeros(len(time), np.uint8))
    for which, group in enumerate(ordered.groups):
        own = ordered.own(which)
        place = ordered.place[own]
        if which in ARRIVING:
            meetings.since[place] = time[place]
        if meetings.stored.size and which not in GHOSTS:
            meetings.stored[place] = classes.follows(which % 2, ordered.sequence[own])
            meetings.partners[place], meetings.last[place] = group.matches, group.touched
        if group.meetings is not None and group.watched is not None:
            watched = group.watched.state != WatchState.NONE
            place = place[watched]
            meetings.partners[place] = group.meetings.partners[watched]
            meetings.last[place] = group.meetings.last[watched]
    return meetings


def _group(
    given: StepInput, ordered: OrderedRows, judged: JudgedRows, which: int, counts_rows: bool
) -> event_order.Group:
    """A group's rows in the kernel's form; ``counts_rows`` says whether its window counts rows."""
    own, group = ordered.own(which), ordered.groups[which]
    time, sequence = ordered.time[own], ordered.sequence[own]
    watched = setup.watched_rows(group, which, sequence, given.watching)
    score, score_group = judged.scores.score, judged.scores.group
    return event_order.Group(
        side=which % 2,
        arriving=int(which in ARRIVING),
        first_number=int(ordered.lengths[which % 2 : which : 2].sum()),
        place=ordered.place[own],
        time=time,
        sequence=sequence,
        mark=sequence if counts_rows else time,
        code=np.require(group.code, np.int32, ["C", "W"]),
        size=np.require(group.size, np.int64, ["C", "W"]),
        matches=np.require(group.matches, np.int32, ["C", "W"]),
        touched=np.require(group.touched, np.int64, ["C", "W"]),
        recent=np.empty(0) if group.recent is None else group.recent,
        **watched._asdict(),
        score=score[judged.definition][own],
        group=score_group[judged.definition][own],
        skip=judged.skipped[own] if which in ARRIVING else judged.skipped[:0],
        fate=np.empty(0, np.uint8) if group.fate is None else group.fate,
    )
