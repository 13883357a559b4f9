"""Terms of a join for the kernel: windows, policy, limits, predicate."""

from dataclasses import dataclass, replace

from headgate.kernel.index_choice import chosen_indexes
from headgate.kernel.pace import Pace
from headgate.kernel.relation import Relation
from headgate.models.cost.structure import Pair, Structure
from headgate.models.cost.unit_time import NODE_ROWS
from headgate.policies.fifo import Fifo
from headgate.policies.policy import Policy
from headgate.policies.structures.observed_stretch import Limits
from headgate.spec import How, Window
from headgate.spec.budget import RESERVE, UNLIMITED
from headgate.spec.importance.combine import Combine


@dataclass(frozen=True)
class Terms:
    """The parameters of a join in the kernel: windows, policy, pool limits, predicate."""

    windows: tuple[Window, Window]
    policy: Policy
    most_rows: tuple[int, int] = (UNLIMITED, UNLIMITED)
    most_bytes: tuple[int, int] = (UNLIMITED, UNLIMITED)
    pooled: bool = True
    """Whether both sides share the first memory pool; otherwise each has its own."""
    where: Relation | None = None
    """What the values of two rows must satisfy beside equal keys."""
    unique: bool = False
    """Whether a row is not stored while its side stores one with the same key: it would be a
    duplicate. For joins on keys alone."""
    combine: Combine = Combine.NONE
    """How the importance of a pair is combined from those of its rows."""
    changes: tuple[int, ...] = ()
    """Event times from which the next definition of importance holds; see `Rows.importance`."""
    fairness: float = 0.0
    """The share of evictions that take the oldest row, regardless of scores."""
    seed: int = 0
    """Seed for choosing those evictions, and the work skipped within a CPU budget."""
    pace: Pace | None = None
    """CPU budget of the step; None where CPU time is not limited."""
    indexes: Pair | None = None
    """Indexes of the left and the right window; None for the default, see `index_choice`."""
    node_rows: int = NODE_ROWS
    """Entries per tree node."""
    bucket_rows: int = 1
    """Hash indexes: average rows, of as many keys, per bucket; 1 gives each key its own."""
    how: How = How.INNER
    """Which rows come out: pairs, rows without a partner, or rows that have one."""
    shows_undecided: bool = False
    """Whether rows come out, marked, of which it is not known whether they have a partner."""
    per_byte: bool = False
    """Whether rows are ranked by what they bring for each byte that they take: where bytes are what
    is limited."""
    filter_slots: int = 1
    """Joins that are not inner: size of the filter of given-up keys, for each side that needs one;
    with one slot all keys share it."""

    def __post_init__(self) -> None:
        if self.node_rows < 2 or self.bucket_rows < 1:
            raise ValueError(
                f"nodes of {self.node_rows} rows and buckets of {self.bucket_rows} are not "
                f"accepted: nodes hold 2 rows or more, buckets 1 or more"
            )
        if self.unique and self.indexes not in (None, (Structure.HASH, Structure.HASH)):
            raise ValueError(f"rows unique by key are kept in hash indexes, not {self.indexes}")
        if self.how != How.INNER and (self.unique or self.pace or self.policy.samples):
            raise ValueError(
                f"a join with how={self.how} takes every row: not one of a key, not within a CPU "
                f"budget, not a sample"
            )

    @property
    def let_in(self) -> float:
        """The share of incoming rows, of both sides, that are admitted as arrivals."""
        return 1.0 if self.pace is None else self.pace.let_in

    @property
    def ranks_per_byte(self) -> bool:
        """Whether what rows bring is divided by their size.

        Not in a sample, whose chances are fixed; nor in an anti join, where rows are ranked by what
        they are not to bring.
        """
        return self.per_byte and not self.policy.samples and self.how != How.ANTI

    @property
    def kept_in(self) -> Pair:
        """The indexes of the windows."""
        return chosen_indexes(self.indexes, self.where)

    @property
    def supersedes(self) -> bool:
        """Whether a right row is needed no more once a newer one of its key is stored.

        So it is in semi and anti joins on keys alone: whoever meets it, and comes in order, meets
        the newer one as well. Policies that go by something else than what rows bring keep to that.
        """
        return self.how.frees_left and self.where is None and self.policy.goes_by_kind

    def unlimited(self) -> "Terms":
        """The same join with unlimited memory."""
        return replace(
            self, most_rows=(UNLIMITED, UNLIMITED), most_bytes=(UNLIMITED, UNLIMITED), pooled=True
        )

    def exact(self) -> "Terms":
        """The exact join: unlimited memory, where any policy but a sampler misses nothing."""
        return Terms(
            self.windows,
            Fifo(),
            where=self.where,
            combine=self.combine,
            changes=self.changes,
            how=self.how,
        )

    @property
    def limits(self) -> Limits:
        """What may be stored of both sides together."""
        pools = (0,) if self.pooled else (0, 1)
        rows, size = (
            min(sum(most[pool] for pool in pools), UNLIMITED)
            for most in (self.most_rows, self.most_bytes)
        )
        return Limits(rows, size)

    def enlarged(self, rows: int, size: int) -> "Terms":
        """The terms with ``rows`` or ``size`` bytes more, split between the sides as before."""
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
            # Streams keep part of the memory back for dead rows that are not yet reclaimed.
            most_bytes=more(self.most_bytes, size * (1 - RESERVE)),
        )
