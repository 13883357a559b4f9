"""Rows without a partner in plain Python: who has met one, who certainly has none, who may have."""

from collections.abc import Sequence

import numpy as np

from headgate.kernel.layout import LEFT, RIGHT, Count
from headgate.kernel.step_progress import StepProgress
from headgate.kernel.terms import Terms
from headgate.policies.kinds.plain_score import PlainRow
from headgate.spec import How, RowWindow

WORD = (1 << 64) - 1


class PlainFilter:
    """For each slot, the latest mark of a row given up whose key has that slot."""

    def __init__(self, slots: int, kept: bytes) -> None:
        before = np.frombuffer(kept, np.int64).tolist()
        self.latest = before
        if len(before) != slots:
            self.latest = [max(before, default=-(1 << 63))] * slots

    def slots(self, hashed: int) -> tuple[int, int]:
        """The two slots of a key."""
        return hashed % (1 << 32) % len(self.latest), (hashed >> 32) % len(self.latest)

    def note(self, hashed: int, mark: int) -> None:
        """A row was given up."""
        for slot in self.slots(hashed):
            self.latest[slot] = max(self.latest[slot], mark)

    def has_since(self, hashed: int, mark: int) -> bool:
        """Whether a row of this key may have been given up whose mark is this one or later."""
        return all(self.latest[slot] >= mark for slot in self.slots(hashed))

    @property
    def bytes(self) -> bytes:
        """The filter, for the next step."""
        return np.array(self.latest, np.int64).tobytes()


class TwinFates:
    """What becomes of rows beside pairs: rows put out alone, and the counts of both."""

    def __init__(
        self, terms: Terms, progress: StepProgress, hashes: np.ndarray | None, counts: np.ndarray
    ) -> None:
        self.how, self._counts = terms.how, counts
        self._shows_undecided = terms.shows_undecided
        self._windows = terms.windows
        self._hashes = None if hashes is None else [int(each) for each in hashes]
        self.alone: list[tuple[int, int, bool]] = []
        """Side and number of rows put out without a partner, and whether that is certain."""
        self._filters = [PlainFilter(terms.filter_slots, kept) for kept in progress.given_up]

    def met(self, row: PlainRow, partners: Sequence[PlainRow]) -> list[PlainRow]:
        """An arrival has met its partners: those of them that now leave."""
        both = [row, *partners] if partners else []
        done = [one for one in both if one.side == LEFT or not self.how.frees_left]
        for one in done:
            one.matched = True
        if not self.how.frees_left:
            return []
        if self.how == How.SEMI:
            self._counts[Count.PAIRS, row.side] += len(done)
            self.alone += [(LEFT, left.number, True) for left in done]
        return [] if row.side == LEFT else done

    def doubt(self, row: PlainRow, seen: Sequence[int]) -> None:
        """Whether an arrival without a partner may have lost one before it came."""
        other = 1 - row.side
        if row.matched or not self.how.outer[row.side]:
            return
        counts_rows = isinstance(self._windows[other], RowWindow)
        reach = (seen[other] if counts_rows else row.time) - self._windows[other].span
        row.doubtful = self._filters[other].has_since(self._hash(row), reach)

    def is_satisfied(self, row: PlainRow) -> bool:
        """Whether a row needs no further partner."""
        return self.how.frees_left and row.side == LEFT and row.matched

    def is_hopeless(self, row: PlainRow) -> bool:
        """Whether a row of an anti join can come out no more."""
        hidden = row.doubtful and not self._shows_undecided
        return self.how.frees_left and row.side == LEFT and hidden

    def leaves(self, row: PlainRow, in_time: bool) -> None:
        """A row goes: at the end of its window, or given up before."""
        if not in_time and self.how.outer[1 - row.side]:
            self._filters[row.side].note(self._hash(row), row.mark)
        if row.matched or not self.how.outer[row.side]:
            return
        row.certain = certain = in_time and not row.doubtful
        self._counts[Count.UNMATCHED if certain else Count.UNDECIDED, row.side] += 1
        if certain or self._shows_undecided:
            self.alone.append((row.side, row.number, certain))

    @property
    def given_up(self) -> tuple[bytes, bytes]:
        """The filters, for the next step."""
        left, right = (
            self._filters[side].bytes if self.how.outer[1 - side] else b"" for side in (LEFT, RIGHT)
        )
        return left, right

    def _hash(self, row: PlainRow) -> int:
        if self._hashes is not None:
            return self._hashes[row.code]
        word = (row.code + 1) * 0x9E3779B97F4A7C15 & WORD
        word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & WORD
        word = (word ^ (word >> 27)) * 0x94D049BB133111EB & WORD
        return word ^ (word >> 31)


class NewestOfKeys:
    """Semi and anti joins: right rows that are needed no more, as a newer one of their key came.

    Parameters
    ----------
    stored
        The stored rows, which change as the step goes on.
    """

    def __init__(self, terms: Terms, stored: list[PlainRow]) -> None:
        self._applies, self._stored = terms.supersedes, stored
        self._newest: dict[int, PlainRow] = {}
        self._superseded: list[PlainRow] = []

    def supersede(self, row: PlainRow) -> None:
        """Before a row is stored: the older of its key, or it, is needed no more."""
        if not self._applies or row.side == LEFT:
            return
        other = self._newest.get(row.code)
        self._newest[row.code] = row
        if other is not None and other in self._stored:
            older, newer = sorted([other, row], key=lambda one: one.position)
            self._newest[row.code] = newer
            if row is not other:
                self._superseded.append(older)

    def next_superseded(self) -> PlainRow | None:
        """The first of them that is stored."""
        while self._superseded and self._superseded[0] not in self._stored:
            del self._superseded[0]
        return self._superseded[0] if self._superseded else None
