"""What the kernel must know of a join: windows, policy, limits, predicate."""

from dataclasses import dataclass, replace

from headgate.kernel.index_choice import chosen_indexes
from headgate.kernel.pace import Pace
from headgate.kernel.relation import Relation
from headgate.models.cost.structure import Pair, Structure
from headgate.models.cost.unit_time import NODE_ROWS
from headgate.policies.fifo import Fifo
from headgate.policies.policy import Policy
from headgate.spec import Window
from headgate.spec.budget import RESERVE, UNLIMITED
from headgate.spec.importance.combine import Combine


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
    """Of which decisions those are, and of what is left skipped for want of processor time."""
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

    def enlarged(self, rows: int, size: int) -> "Terms":
        """The terms with so many rows, or bytes, more; shared between the sides as before."""
        shares = [1.0, 0.0]
        if not self.pooled:
            of = self.most_rows if self.most_rows[0] < UNLIMITED else self.most_bytes
            shares = [part / max(sum(of), 1) for part in of]

        def more(limits: tuple[int, int], spare: float) -> tuple[int, int]:
            left, right = (
                limit if limit == UNLIMITED else limit + int(spare * share)
                for limit, share in zip(limits, shares, strict=True)
            )
            return left, right

        return replace(
            self,
            most_rows=more(self.most_rows, rows),
            # Of memory a part is kept back on streams for rows that are dead and not yet gone.
            most_bytes=more(self.most_bytes, size * (1 - RESERVE)),
        )
