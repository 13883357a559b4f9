"""When rows of drawn keys last came: whether a row could have met one that came before it.

Rows with equal keys meet within their windows. So a row has met one that came before it, stored or
given up, if and only if the latest row of its key on the other side is within reach. That takes one
entry for a key and side, however many rows the key has. (Of rows out of order the latest of the
other side may be beyond reach and an earlier one within it, which then goes unseen.)
"""

from typing import Any, NamedTuple

import numpy as np

from headgate.kernel.event_order import event_order
from headgate.kernel.key_draw import KeyDraw
from headgate.learning.array_text import as_text, from_text

SEEN_BYTES = 24
"""What an entry takes."""


class HashedRows(NamedTuple):
    """Rows of both sides in event order, each with the hash of its key."""

    side: np.ndarray  # uint8
    time: np.ndarray  # int64
    key: np.ndarray  # uint64

    def where(self, which: np.ndarray) -> "HashedRows":
        """Some of the rows."""
        return HashedRows(self.side[which], self.time[which], self.key[which])

    def followed_by(self, other: "HashedRows") -> "HashedRows":
        """These rows, then those."""
        side, time, key = (np.concatenate(both) for both in zip(self, other, strict=True))
        return HashedRows(side, time, key)


class Following(NamedTuple):
    """Which rows are entered: those that a row of a drawn key may meet when it comes later."""

    draw: KeyDraw
    spans: tuple[int, int]

    @property
    def sides(self) -> tuple[bool, bool]:
        """Sides whose rows are entered: the others of those that are asked for."""
        return self.draw.sides[1], self.draw.sides[0]

    def enters(self, rows: HashedRows) -> np.ndarray:
        """Whether each row is: by its own block, or by that in which its window ends."""
        entered: np.ndarray = np.array(self.sides)[rows.side] & (self.lots(rows) < self.draw.share)
        return entered

    def lots(self, rows: HashedRows, now: np.ndarray | None = None) -> np.ndarray:
        """The random number of each row by which it is entered: the lesser of the two.

        ``now`` is that of its own block, where it is known.
        """
        draw, until = self.draw, rows.time + np.array(self.spans)[rows.side]
        if now is None:
            now = draw.lots_at(rows.key, rows.time)
        lesser: np.ndarray = np.minimum(now, draw.lots_at(rows.key, until))
        return lesser

    def is_open(self, rows: HashedRows, clock: int) -> np.ndarray:
        """Whether a row that comes in order from now on can meet each row."""
        last = 2 * (rows.time + np.array(self.spans)[rows.side]) + (1 - rows.side.astype(np.int64))
        return np.asarray(last >= clock)


class KeysSeen(NamedTuple):
    """The latest time at which rows of a key came, by key and side; sorted by both.

    Examples
    --------
    >>> all_keys = KeyDraw(0, 1.0, 1.0, 100, (True, True), np.empty(0, np.uint64))
    >>> rule = Following(all_keys, spans=(10, 10))
    >>> rows = HashedRows(np.array([0, 0, 1]), np.array([1, 5, 9]), np.array([3, 3, 4], np.uint64))
    >>> seen = KeysSeen.none().then(rows)
    >>> seen.rows.time.tolist()
    [5, 9]
    >>> came = HashedRows(np.array([1, 1]), np.array([15, 16]), np.array([3, 3], np.uint64))
    >>> seen.precede(came, rule, np.ones(2, bool), np.ones(2, bool)).tolist()
    [True, False]
    """

    rows: HashedRows

    @classmethod
    def none(cls) -> "KeysSeen":
        """No keys."""
        return cls(HashedRows(np.zeros(0, np.uint8), np.zeros(0, np.int64), np.zeros(0, np.uint64)))

    def limited(self, rule: Following) -> "KeysSeen":
        """The entries of keys that are drawn still, after fewer are."""
        return KeysSeen(self.rows.where(rule.enters(self.rows)))

    def then(self, came: HashedRows) -> "KeysSeen":
        """With rows of drawn keys that came."""
        every = self.rows.followed_by(came)
        order = np.lexsort((every.time, every.side, every.key))
        every = every.where(order)
        is_last = np.ones(len(order), np.bool_)
        is_last[:-1] = (every.key[1:] != every.key[:-1]) | (every.side[1:] != every.side[:-1])
        return KeysSeen(every.where(is_last))

    def fitting(self, is_open: np.ndarray, behind: np.ndarray, most: int) -> "KeysSeen":
        """The entries within reach, and while there is room those that a late row may meet."""
        past = np.flatnonzero(~is_open & ~behind)
        spare = max(most - int(np.count_nonzero(is_open)), 0)
        keep = is_open.copy()
        keep[past[np.argsort(-self.rows.time[past], kind="stable")][:spare]] = True
        return KeysSeen(self.rows.where(keep))

    def precede(
        self, came: HashedRows, rule: Following, entered: np.ndarray, asked: np.ndarray
    ) -> np.ndarray:
        """Whether each arrival that is asked for meets a row that came before it, kept here or
        among those that are entered."""
        found = np.zeros(len(came.side), np.bool_)
        for side in (0, 1):
            mine = np.flatnonzero(asked & (came.side == side))
            if not len(mine):
                continue
            reach = came.time[mine] - rule.spans[1 - side]
            kept = self.rows.where(self.rows.side == 1 - side)
            at = np.minimum(np.searchsorted(kept.key, came.key[mine]), max(len(kept.key) - 1, 0))
            if len(kept.key):
                last = kept.time[at]
                within = (last >= reach) & (last <= came.time[mine] + rule.spans[side])
                found[mine] |= (kept.key[at] == came.key[mine]) & within
            others = np.flatnonzero(entered & (came.side == 1 - side))
            found[mine] |= _precede(came, others, mine, reach)
        return found

    def at_once(
        self, came: HashedRows, rule: Following, joins: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The places of arrivals that are entered, and how many entries there are with each."""
        own = self.limited(rule).rows
        places = np.flatnonzero(joins & rule.enters(came))
        new = came.where(places)
        clock = np.maximum.accumulate(2 * came.time + came.side)
        every = own.followed_by(new)
        place = np.concatenate([np.full(len(own.side), -1), places])
        last = 2 * (every.time + np.array(rule.spans)[every.side])
        leave = np.searchsorted(clock, last + (1 - every.side.astype(np.int64)), side="right")
        # The next row of the same key and side takes its place.
        order = np.lexsort((place, every.side, every.key))
        same = (every.key[order[1:]] == every.key[order[:-1]]) & (
            every.side[order[1:]] == every.side[order[:-1]]
        )
        taken = order[:-1][same]
        leave[taken] = np.minimum(leave[taken], place[order[1:][same]])
        count = len(own.side) + np.arange(1, len(places) + 1)
        return places, count - np.searchsorted(np.sort(leave), places, side="right")

    def facts(self) -> list[Any]:
        """As text."""
        return [
            len(self.rows.side),
            as_text(self.rows.side, np.uint8),
            as_text(self.rows.time, np.int64),
            as_text(self.rows.key, np.uint64),
        ]

    @classmethod
    def of(cls, facts: list[Any]) -> "KeysSeen":
        """From what `facts` gave."""
        count, *columns = facts
        kinds = (np.uint8, np.int64, np.uint64)
        side, time, key = (
            from_text(text, kind, (count,)) for text, kind in zip(columns, kinds, strict=True)
        )
        return cls(HashedRows(side, time, key))


def _precede(
    came: HashedRows, others: np.ndarray, mine: np.ndarray, reach: np.ndarray
) -> np.ndarray:
    """Whether each of some arrivals comes after another of its key whose time is within reach."""
    if not len(others):
        return np.zeros(len(mine), np.bool_)
    # Places by key and then by order: what precedes is the one next below.
    _, rank = np.unique(np.concatenate([came.key[others], came.key[mine]]), return_inverse=True)
    place = rank.astype(np.int64) * len(came.side) + np.concatenate([others, mine])
    known, asked = place[: len(others)], place[len(others) :]
    order = np.argsort(known)
    at = np.searchsorted(known[order], asked) - 1
    below = np.maximum(at, 0)
    same = rank[: len(others)][order][below] == rank[len(others) :]
    found: np.ndarray = (at >= 0) & same & (came.time[others][order][below] >= reach)
    return found


def keyed_rows(
    time: tuple[np.ndarray, np.ndarray], key: tuple[np.ndarray, np.ndarray]
) -> HashedRows:
    """Rows of both sides, left ones first, then right ones."""
    side = np.repeat(np.array([0, 1], np.uint8), [len(time[0]), len(time[1])])
    return HashedRows(side, np.concatenate(time), np.concatenate(key))


def in_event_order(rows: HashedRows, places: np.ndarray) -> np.ndarray:
    """Places of some rows, sorted into event order."""
    order: np.ndarray = places[event_order(rows.time[places], rows.side[places])]
    return order
