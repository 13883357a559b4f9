"""What a step is given and hands on: the join's terms, rows as numbers, how far it has come."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from headgate.engine.index_choice import chosen_indexes
from headgate.engine.pace import Pace
from headgate.engine.relation import Relation
from headgate.models.cost.structure import Pair, Structure
from headgate.models.cost.unit_time import NODE_ROWS
from headgate.policies.base import Policy
from headgate.policies.fifo import Fifo
from headgate.policies.random import uniform
from headgate.spec import Window
from headgate.spec.budget import UNLIMITED
from headgate.spec.importance.combine import Combine

NO_WATERMARK = -(1 << 62)
SHARD_BITS = 20
"""Of a cluster's number that say in which shard it is."""
Bars = tuple[tuple[float, int, int], ...]
"""Ever lower scores, each with the rows of the left and of the right side seen by then."""


@dataclass(frozen=True)
class Terms:
    """What the kernel must know of a join: windows, policy, limits of the pools, predicate."""

    windows: tuple[Window, Window]
    policy: Policy
    most_rows: tuple[int, int] = (UNLIMITED, UNLIMITED)
    most_bytes: tuple[int, int] = (UNLIMITED, UNLIMITED)
    pooled: bool = True
    """Both sides draw on the first pool; otherwise each has its own."""
    where: Relation | None = None
    """What the values of two rows must satisfy beside equal keys."""
    unique: bool = False
    """A row is not stored while one of its key is stored on its side: it would be the same row
    again. For joins on keys alone."""
    combine: Combine = Combine.NONE
    """How the importance of a pair follows from those of its rows."""
    changes: tuple[int, ...] = ()
    """Event times from which rows have the importance told next; see `Batch.importance`."""
    fairness: float = 0.0
    """The share of decisions that give up the oldest row, whatever it is worth."""
    seed: int = 0
    """Of which decisions those are, and of what is left undone for want of processor time."""
    pace: Pace | None = None
    """How much work the step may do; None where processor time is no limit."""
    indexes: Pair | None = None
    """What the left and the right window are kept in; None for the usual, see `index_choice`."""
    node_rows: int = NODE_ROWS
    """Entries of a tree's node."""
    bucket_rows: int = 1
    """Of hash indexes: rows that share a bucket, of as many keys; one: a key has its own."""

    def __post_init__(self) -> None:
        if self.node_rows < 2 or self.bucket_rows < 1:
            raise ValueError(
                f"nodes of {self.node_rows} rows and buckets of {self.bucket_rows} are not "
                f"accepted: nodes hold 2 rows or more, buckets 1 or more"
            )
        if self.unique and self.indexes not in (None, (Structure.HASH, Structure.HASH)):
            raise ValueError(f"rows unique by key are kept in hash indexes, not {self.indexes}")

    @property
    def let_in(self) -> float:
        """The share of the rows that came, of both sides, that are among the arrivals."""
        return 1.0 if self.pace is None else self.pace.let_in

    @property
    def kept_in(self) -> Pair:
        """What the windows are kept in."""
        return chosen_indexes(self.indexes, self.where)

    def unlimited(self) -> "Terms":
        """The same join with all the memory it could want."""
        return replace(
            self, most_rows=(UNLIMITED, UNLIMITED), most_bytes=(UNLIMITED, UNLIMITED), pooled=True
        )

    def exact(self) -> "Terms":
        """The join that misses nothing: with memory to spare, any policy but a sample will do."""
        return Terms(
            self.windows,
            Fifo(),
            where=self.where,
            combine=self.combine,
            changes=self.changes,
        )


class Watched(NamedTuple):
    """What is known of rows that may be watched, an entry a row."""

    state: np.ndarray  # uint8, `Watch`
    met: np.ndarray  # float64, what partners found while watched were worth, stored or not
    made: np.ndarray  # float64, of those that made a pair

    @classmethod
    def none(cls, rows: int) -> "Watched":
        """No row is watched."""
        return cls(*(np.zeros(rows, kind) for kind in (np.uint8, np.float64, np.float64)))


class FollowedRows(NamedTuple):
    """Watched rows of a side alone: who they are, and what they met."""

    number: np.ndarray
    state: np.ndarray
    met: np.ndarray
    made: np.ndarray


class Watching(NamedTuple):
    """Which arrivals to watch: a random share, the same on every restart."""

    seed: int
    share: float
    buckets: int
    """Into how many buckets of age a window is cut to count what watched rows meet."""
    sides: tuple[bool, bool] = (True, True)
    """Whose rows to watch; those of a side that waits for nobody meet nobody."""

    def chooses(self, side: np.ndarray, sequence: np.ndarray) -> np.ndarray:
        """Whether each row is to be watched."""
        chosen: np.ndarray = uniform(self.seed, side, sequence) < self.share
        return chosen


class Batch(NamedTuple):
    """Rows of one side, an entry a row."""

    time: np.ndarray  # int64, microseconds
    code: np.ndarray  # int32, equal for equal keys of this step
    size: np.ndarray  # int64, bytes
    weight: np.ndarray  # float64, what the policy made of the key
    sequence: np.ndarray  # int64, counts the rows of the side (arrivals: to be filled in)
    matches: np.ndarray  # int32
    touched: np.ndarray  # int64
    value: np.ndarray  # int64 or float64, for the predicate; empty where there is none
    watched: Watched | None = None
    importance: np.ndarray | None = None  # float64 (definition, row); None where all count alike
    recent: np.ndarray | None = None  # float64: matches when last touched, old ones counting less
    effort: np.ndarray | None = None  # float64 (2, row): shares of arrivals to probe, and to store

    @classmethod
    def of_arrivals(
        cls,
        time: np.ndarray,
        code: np.ndarray,
        size: np.ndarray,
        weight: np.ndarray,
        value: np.ndarray | None = None,
    ) -> "Batch":
        """Rows without a past."""
        return cls(
            time,
            code,
            size,
            weight,
            np.zeros(len(time), np.int64),
            np.zeros(len(time), np.int32),
            time,
            np.empty(0) if value is None else value,
        )

    @classmethod
    def empty(cls) -> "Batch":
        """No rows."""
        none = np.empty(0, np.int64)
        return cls.of_arrivals(none, none.astype(np.int32), none, none.astype(np.float64))

    def take(self, numbers: np.ndarray) -> "Batch":
        """Some of the rows, in the order asked for; not what is watched."""
        columns = [column[numbers] if column.size else column for column in self[:8]]
        taken = Batch(*columns)  # type: ignore[arg-type]  # all that may not be left out
        return taken._replace(
            importance=None if self.importance is None else self.importance[:, numbers],
            recent=None if self.recent is None else self.recent[numbers],
            effort=None if self.effort is None else self.effort[:, numbers],
        )


class Residing(NamedTuple):
    """What residence priorities must know of the past."""

    began: int = UNLIMITED
    """Time of the very first arrival; later than any where there was none."""
    importance: float = 0.0
    """Of all arrivals together."""
    decisions: tuple[int, int] = (UNLIMITED, UNLIMITED)
    """By pool: decisions since priorities were last computed."""
    made: tuple[float, float] = (0.0, 0.0)
    """By pool: importance of the pairs made since the last decision."""
    made_before: tuple[float, float] = (0.0, 0.0)
    """And between the last two."""

    @classmethod
    def of(cls, given: Sequence[Any]) -> "Residing":
        """From the same as lists."""
        began, importance, *by_pool = given
        decisions, made, made_before = ((left, right) for left, right in by_pool)
        return cls(began, importance, decisions, made, made_before)


class Progress(NamedTuple):
    """How far a join has come: what one step hands to the next beside the rows."""

    clock: int = NO_WATERMARK
    """Event key (twice the time, plus the side) of the latest arrival."""
    seen: tuple[int, int] = (0, 0)
    """Rows of each side so far."""
    bars: tuple[Bars, Bars] = ((), ())
    """Samples: the scores given up that stored rows have passed, by pool; see `bars.py`."""
    frames: tuple[tuple[int, int], tuple[int, int]] = ((0, -1), (0, -1))
    """Curve scores: origin and frame that each side's rows are judged from; see `curves.py`."""
    memory: str = ""
    """What a policy has learned that observes the rows it keeps."""
    residence: Residing = Residing()
    """Residence priorities: how fast rows come, and when priorities were last computed."""
    definitions: tuple[tuple[int, str], ...] = ()
    """What is important, as redefined on the way: from what event time on, and how; see
    `importance.py`."""


class PairBlock(NamedTuple):
    """Pairs, an entry each."""

    left: np.ndarray
    """Numbers of the left rows."""
    right: np.ndarray
    weight: np.ndarray
    """Samples: how many pairs of the exact result each stands for; empty otherwise."""
    cluster: np.ndarray
    """Samples: twice the sequence number of the stored row, plus its side; pairs of one were
    sampled together. Empty otherwise."""
    importance: np.ndarray
    """What each is worth; empty where all count alike."""

    def part(self, which: slice) -> "PairBlock":
        """Some of the pairs."""
        return PairBlock(*(column[which] for column in self))

    def made_of(self, left: np.ndarray, right: np.ndarray, shard: int = 0) -> "PairBlock":
        """The pairs with these rows in place of the numbers, and clusters told apart by shard."""
        cluster = (self.cluster << SHARD_BITS) + shard
        return PairBlock(left[self.left], right[self.right], self.weight, cluster, self.importance)


def bucket_us(window: Window, buckets: int) -> int:
    """How long a bucket of age is: the window's length in so many parts, rounded up."""
    return -(-max(window.span, 1) // buckets)
