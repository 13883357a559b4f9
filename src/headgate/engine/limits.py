"""Converts a budget into limits of the kernel's pools, for a whole join or one shard."""

from typing import NamedTuple

from headgate.columns.row_sizes import BOOKKEEPING_BYTES
from headgate.kernel.relation import Relation
from headgate.kernel.terms import Terms
from headgate.learning import BudgetPart, Room
from headgate.learning.key_counts import CELLS_A_BYTE, COUNT_BYTES
from headgate.learning.room import (
    ALWAYS,
    CLASS_BYTES,
    IMPORTANT_BYTES,
    KEYS_A_ROW,
    MOST_KEYS,
    MOST_TRIED,
    MOST_WATCHED,
    TRIED_A_ROW,
    TRIED_BYTES,
    WATCHED_A_ROW,
    WATCHED_BYTES,
    WITH_COLUMNS,
    FreeRows,
)
from headgate.models.cost.structure import Pair
from headgate.policies import Policy
from headgate.spec import Budget, How, RowWindow, SpecError, TimeWindow, Window
from headgate.spec.budget import MONITOR, RESERVE, UNLIMITED

HALF, A_FIFTH = 0.5, 0.2
TRYING = (0.3, 0.4, 0.3)
"""Shares of the monitor's room for watched rows, key counts and trials of other policies."""
ENOUGH_WATCHED, MOST_OF_SMALL = 60, 0.1
"""Rows to watch for age curves of both sides, where that is no more than so much of a small budget.
Of half as many something can be learned; of fewer not, and the budget is better spent on rows."""
ENOUGH_BESIDE_KEYS = 48
"""The same where keys are counted as well, which often tell more: for no more than the usual share
of the budget, so that streams with frequent keys lose little by it."""
LEAST_TRIED = 30
"""Smallest budget, in rows, for trying policies; with less, results would be noise."""
KEY_BYTES = 8
"""What a usual key takes."""
USUAL_ENTRY_BYTES = 128
"""More than most entries of a monitor take, keys included."""
MOST_FOR_CLASSES = 0.25
"""The most that match density may take of the monitor's share where other policies are tried."""
MOST_OF_DENSITY = 0.2
"""The most that it may take of a budget where it is asked for by name; with less, rows are ranked
by the rate of their key alone."""
FILTERED = 0.02
"""The share of the budget for each side's filter of given-up keys, in joins that need one."""
FILTERED_ANTI = 0.3
"""The same in anti joins whose right rows wait, too: whether a left row may have lost a partner is
all that right rows tell, and a slot does so for less memory than a row."""
FREE_CELLS_A_ROW, MOST_CELLS = 16, 1 << 17
"""Cells of the sketch of keys that are not counted by themselves: eight bytes for each row of a
budget in rows, of which nothing is taken for it, and at most 64 kB."""
TAIL_OF_KEYS, LEAST_CELLS = 0.3, 4096
"""Elsewhere it takes this part of what is for counting keys; with fewer cells there is none."""
CELLS_A_ROW = COUNT_BYTES * KEYS_A_ROW * CELLS_A_BYTE
SLOT_BYTES, SLOTS_A_ROW, MOST_SLOTS = 8, 16, 1 << 17
"""A slot of such a filter; how many count as a row; and how many there are at most."""


def terms_for(
    budget: Budget,
    windows: tuple[Window, Window],
    policy: Policy,
    shards: int = 1,
    reserve: float = RESERVE,
    monitor: float = 0.0,
    where: Relation | None = None,
    indexes: Pair | None = None,
    kept: "Filters | None" = None,
    follows_keys: bool = False,
) -> Terms:
    """The kernel's terms for one of ``shards`` equal parts of a join.

    Parameters
    ----------
    reserve
        The fraction of a memory budget kept back for bytes that are held but not live: those of
        dead rows in a stream's state. Joins in process keep it back too, so that a byte of a budget
        is worth the same wherever a join runs.
    monitor
        The fraction of the budget that is the monitor's.
    where
        The relation of a band or comparison.
    indexes
        What the windows are kept in, where that is asked for.
    kept
        The filters of given-up keys, where the join needs some.
    follows_keys
        Whether recall is told by keys that are followed.
    """
    room = room_for(budget, policy, shards, monitor, windows=windows, follows_keys=follows_keys)
    kept = kept or Filters(0, 1)
    rows, memory = UNLIMITED, UNLIMITED
    if budget.rows is not None:
        rows = budget.rows // shards - kept.rows
        if policy.learns or budget.monitor is not None:
            # A monitor that only estimates recall stores none of the rows that are limited.
            rows -= room.rows
    if budget.memory is not None:
        memory = int((budget.memory // shards - room.bytes - kept.bytes) * (1 - reserve))
    if rows < 1 or memory <= BOOKKEEPING_BYTES:
        raise SpecError(
            f"a budget of {budget} is too small for one row in each of {shards} shards: "
            f"give more, or fewer shards"
        )
    policy = policy.within(None if rows == UNLIMITED else rows)
    if budget.shares is None:
        return Terms(
            windows,
            policy,
            (rows, 0),
            (memory, 0),
            pooled=True,
            where=where,
            indexes=indexes,
            filter_slots=kept.slots,
            per_byte=budget.is_in_bytes,
        )
    shares = budget.shares
    most_rows = [UNLIMITED if rows == UNLIMITED else int(rows * share) for share in shares]
    most_bytes = [UNLIMITED if memory == UNLIMITED else int(memory * share) for share in shares]
    return Terms(
        windows,
        policy,
        (most_rows[0], most_rows[1]),
        (most_bytes[0], most_bytes[1]),
        pooled=False,
        where=where,
        indexes=indexes,
        filter_slots=kept.slots,
        per_byte=budget.is_in_bytes,
    )


class Filters(NamedTuple):
    """The filters of given-up keys of one shard: how many sides have one, and slots of each."""

    sides: int
    slots: int

    @classmethod
    def of(
        cls, budget: Budget, windows: tuple[Window, Window], how: How, shards: int, live: bool
    ) -> "Filters":
        """Filters of a small share of the budget, for the sides whose loss leaves doubt.

        Where a side waits for nobody, rows of bounded input have no doubt of it that a single slot
        would not tell; on a stream a row out of order may.

        Examples
        --------
        >>> minute = TimeWindow(60_000_000)
        >>> Filters.of(Budget(memory="1 MB"), (minute, minute), How.FULL, shards=2, live=True)
        Filters(sides=2, slots=1250)
        >>> Filters.of(Budget(rows=1000), (minute, TimeWindow(0)), How.LEFT, 1, live=False)
        Filters(sides=0, slots=1)
        """
        sides = sum(
            how.outer[1 - side] and (live or window != TimeWindow(0))
            for side, window in enumerate(windows)
        )
        if not sides:
            return cls(0, 1)
        slots, share = MOST_SLOTS, FILTERED
        if how == How.ANTI and windows[1] != TimeWindow(0):
            share = FILTERED_ANTI
        if budget.rows is not None:
            slots = min(slots, int(budget.rows // shards * share) * SLOTS_A_ROW)
        if budget.memory is not None:
            slots = min(slots, int(budget.memory // shards * share) // SLOT_BYTES)
        return cls(sides, slots) if slots > 1 else cls(0, 1)

    @property
    def rows(self) -> int:
        """What they take of a budget in rows."""
        return -(-self.sides * self.slots // SLOTS_A_ROW)

    @property
    def bytes(self) -> int:
        """What they take of a budget in bytes."""
        return self.sides * self.slots * SLOT_BYTES


def most_dead_bytes(terms: Terms, reserve: float) -> int | None:
    """What was kept back of a shard's memory for rows given up; None where bytes are no limit."""
    if terms.most_bytes[0] == UNLIMITED:
        return None
    live = terms.most_bytes[0] if terms.pooled else sum(terms.most_bytes)
    return int(live * reserve / (1 - reserve))


def room_for(
    budget: Budget,
    policy: Policy,
    shards: int,
    monitor: float,
    seed: int = 0,
    windows: tuple[Window, Window] | None = None,
    *,
    follows_keys: bool = False,
) -> Room:
    """What one shard's monitor may take: no more than it is given, and than it can use.

    Rows are watched for recall alone, or for age curves too, which takes more; keys are counted
    where the policy wants them. Of a small budget, age curves of both sides take more by default;
    where one side waits for nobody, few rows tell enough of the other. Where keys are followed
    (``follows_keys``), too, watching takes twice as much by default, so that the followed keys
    leave as many rows to learn ages from as an inner join has.

    Examples
    --------
    >>> from headgate.policies import Learned
    >>> room = room_for(Budget(rows=10_000), Learned("auto"), shards=2, monitor=0.05)
    >>> room.watched.rows, room.keys.rows, room.tried.rows, room.free
    (116, 128, 256, FreeRows(watched=116, keys=128, tried=256))
    >>> minutes = (TimeWindow(60_000_000), TimeWindow(60_000_000))
    >>> room_for(Budget(memory="64 kB"), Learned("age"), 1, 0.05, windows=minutes).watched
    BudgetPart(rows=None, bytes=3840)
    """
    watched = HALF if policy.watches_ages else 0.0 if policy.samples else A_FIFTH
    keys = HALF if policy.counts_keys else 0.0
    tried, free = 0.0, FreeRows()
    if policy.learned is not None and budget.monitor is None and budget.memory is None:
        free = ALWAYS._replace(watched=WITH_COLUMNS) if policy.learned.watches_columns else ALWAYS
    enough = free.tried or budget.about_rows / shards * monitor * TRYING[2] >= LEAST_TRIED
    if policy.tries_others and enough:
        watched, keys, tried = TRYING
        if not policy.counts_keys:
            watched, keys = watched + keys, 0.0
    if follows_keys and budget.monitor is None:
        watched *= 2
    classes = _ClassRoom.of(budget, policy, shards, monitor, windows, is_free=free.tried > 0)

    def part(share: float, least: int, most_rows: int, most_bytes: int) -> BudgetPart:
        rows, size, least = budget.rows, budget.memory, least if share else 0
        left_rows = 0 if rows is None else max(rows // shards * monitor - classes.share_rows, 0)
        left = 0 if size is None else max(size // shards * monitor - classes.share_bytes, 0)
        return BudgetPart(
            None if rows is None else min(max(int(left_rows * share), least), most_rows),
            None if size is None else min(int(left * share), most_bytes),
        )

    watching = part(
        watched, free.watched, MOST_WATCHED // WATCHED_A_ROW, MOST_WATCHED * USUAL_ENTRY_BYTES
    )
    both_wait = windows is not None and all(each.span for each in windows)
    if policy.watches_ages and not tried and budget.monitor is None and both_wait:
        watching = _enough_for_ages(watching, budget, shards, policy.counts_keys)
    counting = part(keys, free.keys, MOST_KEYS // KEYS_A_ROW, MOST_KEYS * COUNT_BYTES)
    tail = _TailRoom()
    if policy.learned is not None and policy.counts_keys and not _counts_rows(windows):
        tail = _TailRoom.of(budget, shards, counting)
    return Room(
        watching,
        counting.without(tail.rows, tail.bytes),
        seed,
        part(tried, free.tried, MOST_TRIED // TRIED_A_ROW, MOST_TRIED * USUAL_ENTRY_BYTES),
        free,
        tried_bytes=TRIED_BYTES
        + IMPORTANT_BYTES * (policy.learned is not None and policy.learned.important),
        class_bytes=classes.bytes,
        class_rows=classes.rows,
        tail_cells=tail.cells,
        tail_bytes=tail.bytes,
        tail_rows=tail.rows,
    )


class _ClassRoom(NamedTuple):
    """What match density is learned in, and what of it is taken from the monitor's share."""

    bytes: int = 0
    rows: int = 0
    share_bytes: int = 0
    share_rows: int = 0

    @classmethod
    def of(
        cls,
        budget: Budget,
        policy: Policy,
        shards: int,
        monitor: float,
        windows: tuple[Window, Window] | None,
        is_free: bool,
    ) -> "_ClassRoom":
        """None where a policy does not learn it, or the budget is too small.

        Where a policy goes by something else as well, it must fit in a part of the monitor's share.
        """
        waits = [window for window in windows or () if window.span]
        if (
            not policy.watches_meetings
            or _counts_rows(windows)
            or (windows is not None and not waits)
        ):
            return cls()
        size = CLASS_BYTES * (2 if windows is None else len(waits))
        rows = 0 if is_free or budget.rows is None else -(-size // USUAL_ENTRY_BYTES)
        share_fits, fits = True, True
        for limit, taken in ((budget.memory, size), (budget.rows, rows)):
            if limit is not None:
                share_fits &= taken <= MOST_FOR_CLASSES * (limit // shards * monitor)
                fits &= taken <= MOST_OF_DENSITY * (limit // shards)
        if share_fits:
            return cls(size, rows, size, rows)
        return cls(size, rows) if fits and not policy.tries_others else cls()


class _TailRoom(NamedTuple):
    """The sketch of keys that are not counted by themselves, and what it takes of the budget."""

    cells: int = 0
    bytes: int = 0
    rows: int = 0

    @classmethod
    def of(cls, budget: Budget, shards: int, counting: BudgetPart) -> "_TailRoom":
        """None where the budget is small."""
        cells, is_free = MOST_CELLS, budget.monitor is None and budget.memory is None
        if is_free:
            cells = min(cells, FREE_CELLS_A_ROW * (budget.rows or 0) // shards) & -2
            return cls(cells) if cells >= LEAST_CELLS else cls()
        if counting.rows is not None:
            cells = min(cells, int(counting.rows * TAIL_OF_KEYS) * CELLS_A_ROW)
        if counting.bytes is not None:
            cells = min(cells, int(counting.bytes * TAIL_OF_KEYS) * CELLS_A_BYTE)
        if cells < LEAST_CELLS:
            return cls()
        return cls(
            cells,
            0 if counting.bytes is None else cells // CELLS_A_BYTE,
            0 if counting.rows is None else -(-cells // CELLS_A_ROW),
        )


def _counts_rows(windows: tuple[Window, Window] | None) -> bool:
    """Whether a window is a number of rows."""
    return any(isinstance(window, RowWindow) for window in windows or ())


def _enough_for_ages(
    part: BudgetPart, budget: Budget, shards: int, beside_keys: bool
) -> BudgetPart:
    """What age curves can be learned from, where a small budget allows it."""
    enough = ENOUGH_BESIDE_KEYS if beside_keys else ENOUGH_WATCHED
    most_share = MONITOR if beside_keys else MOST_OF_SMALL

    def at_least(given: int | None, enough: int, whole: int | None) -> int | None:
        if given is None or whole is None:
            return given
        most = min(enough, int(whole // shards * most_share))
        return max(given, most) if 2 * most >= enough else given

    return BudgetPart(
        at_least(part.rows, enough // WATCHED_A_ROW, budget.rows),
        at_least(part.bytes, enough * (WATCHED_BYTES + KEY_BYTES), budget.memory),
    )
