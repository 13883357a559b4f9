"""Builds all arrays of a step: one record per row in event order, and the other structures."""

from typing import NamedTuple

import numpy as np

from headgate.kernel import event_order, given_up, layout, setup, skipped_rows
from headgate.kernel.judged_rows import JudgedRows
from headgate.kernel.layout import Arrays, Count
from headgate.kernel.ordered_rows import ARRIVING, OrderedRows
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
        for which in range(len(ordered.groups)):
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
    )


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
