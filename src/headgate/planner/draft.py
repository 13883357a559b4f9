"""A plan in the making: the decisions so far and the measurements behind them."""

from dataclasses import dataclass, field

from headgate.engine.request import Request
from headgate.models import AgeCurves, Frequencies
from headgate.models.cost.structure import Pair
from headgate.models.skipping import SkippingPlan
from headgate.planner.tried_policies import TriedPolicy
from headgate.policies import Policy
from headgate.spec import Goal
from headgate.spec.budget import Split


@dataclass(frozen=True)
class Model:
    """The model that ranks rows."""

    name: str
    """"age", "frequency", "process", "learned" (as the join goes on) or "none"."""
    says: str
    rows: int
    """On how many rows that was measured."""


@dataclass(frozen=True)
class SplitTried:
    """A split of memory between the sides and the recall it reached; "pooled" means no split."""

    split: Split
    recall: float


@dataclass(frozen=True)
class Shards:
    """How evenly keys spread over shards."""

    asked: int | None
    most: int
    """The most shards of which the fullest is not much above its even share."""
    fullest: dict[int, float]
    """By number of shards: load of the fullest relative to an even share."""


@dataclass(frozen=True)
class Sampling:
    """The sampling scheme and its expected error."""

    scheme: str
    error: float
    """Expected relative error of a count over as much time as was profiled, with 95 %
    confidence."""
    tried: dict[str, float]
    left_out: dict[str, str]
    """Schemes that cannot be used, with the reason."""
    fraction: float | None = None


@dataclass(frozen=True, eq=False)
class SkippedWork:
    """Work skipped to stay within the CPU budget."""

    plan: SkippingPlan | None
    """Which rows probe and are stored; None where nothing need be skipped."""
    takes: float
    """CPU time of the work that is done, in cores."""
    whole: float
    """CPU time of the whole join, in cores."""


@dataclass(frozen=True)
class Expectation:
    """The expected recall, error and cost of the plan.

    Attributes
    ----------
    recall
        The share of the exact result, in a run as long as the profiled one; None for samples and
        where it is unknown.
    low, high
        The 95 % confidence interval of recall; None where only a model's formula gives it.
    basis
        How it was obtained, in words.
    error
        For samples: the relative error of a count.
    cores
        CPU time, in cores; on a stream this includes Spark's cost of moving rows in and out.
    rows, bytes
        What the exact join would hold.
    fifo
        Recall of evicting the oldest row; None where it was not tried.
    """

    recall: float | None
    low: float | None
    high: float | None
    basis: str
    error: float | None
    cores: float
    rows: float
    bytes: float
    fifo: float | None


@dataclass(frozen=True, eq=False)
class Draft:
    """The decisions of the rules so far; each rule fills in its own fields."""

    policy: Policy
    goal: Goal
    split: Split
    index: Pair | None = None
    """The index given to the join; None leaves the choice to it."""
    shown_index: Pair | None = None
    frequencies: Frequencies | None = None
    ages: AgeCurves | None = None
    rates: tuple[float, float] | None = None
    chosen: TriedPolicy | None = None
    as_asked: bool = False
    """Whether the policy was requested, not chosen."""
    tried: tuple[TriedPolicy, ...] = ()
    model: Model | None = None
    splits: tuple[SplitTried, ...] = ()
    shards: Shards | None = None
    sampling: Sampling | None = None
    effort: SkippedWork | None = None
    expect: Expectation | None = None
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def of(cls, request: Request) -> "Draft":
        """An empty draft for a case."""
        split: Split = "pooled" if request.budget.split == "planned" else request.budget.split
        return cls(request.policy, request.goal, split, request.index, rates=request.rates)
