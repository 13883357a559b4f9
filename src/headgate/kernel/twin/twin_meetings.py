"""The twin's counts of what watched rows meet, by class of row, in plain Python."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from headgate.kernel.layout import LEFT
from headgate.kernel.terms import Terms
from headgate.kernel.watched import Watching
from headgate.models.density_classes import match_class
from headgate.policies.kinds.plain_score import PlainRow

Cell = tuple[int, int, int, int, int]
"""Side, and classes of rate, matches, gap and age."""


class Meeting(NamedTuple):
    """A watched row meets an arrival."""

    watched: PlainRow
    time: int
    """The time of the arrival."""
    clock: int
    """The time by the step's clock."""
    times: int
    """How many arrivals that one stands for."""


class TwinMeetings(NamedTuple):
    """What rows met, and how long they waited, by class of row; and what each has met by now."""

    met: Counter[Cell]
    spent: Counter[Cell]
    partners: dict[tuple[int, int], int]
    last: dict[tuple[int, int], int]

    @classmethod
    def of(
        cls,
        log: list[Meeting],
        rows: Iterable[PlainRow],
        now: tuple[int, int],
        terms: Terms,
        watching: Watching,
    ) -> "TwinMeetings":
        """From the meetings of a step, for all watched rows; ``now`` is its beginning and end.

        Waiting is followed microsecond by microsecond.
        """
        counted = cls(Counter(), Counter(), {}, {})
        began, ended = now
        for row in rows:
            mine = [meeting for meeting in log if meeting.watched is row]
            met, last = row.met_before or (0, row.time)
            end = row.time + terms.windows[row.side].span
            frees = terms.how.frees_left and row.side == LEFT
            at = row.time if row.arriving else max(row.time, began)
            for meeting in [*mine, None]:
                until = ended if meeting is None else max(meeting.clock, row.time)
                for moment in range(at, min(until, end)):
                    if not (frees and met):
                        counted.spent[cell(row, met, last, moment, watching)] += 1
                at = max(at, min(until, end))
                if meeting is not None and not (frees and met):
                    counted.met[cell(row, met, last, until, watching)] += meeting.times
                    met, last = met + meeting.times, max(last, meeting.time)
            counted.partners[row.side, row.number] = met
            counted.last[row.side, row.number] = last
        return counted


def cell(row: PlainRow, met: int, last: int, moment: int, watching: Watching) -> Cell:
    """The class of a row at a moment."""
    classes = watching.meetings
    assert classes is not None
    gap, age = (
        sum(edge <= moment - since for edge in edges[row.side].tolist()) - 1
        for edges, since in ((classes.gap_edges, last), (classes.age_edges, row.time))
    )
    return row.side, int(classes.rate[2 * row.code + row.side]), match_class(met), gap, age
