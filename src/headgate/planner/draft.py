"""A plan while it is made: what has been decided so far, and what was found on the way."""

from dataclasses import dataclass, field

from headgate.engine.request import Request
from headgate.models import AgeCurves, Frequencies
from headgate.models.cost.structure import Pair
from headgate.models.skipping import Plan as EffortPlan
from headgate.planner.tried_policies import Tried
from headgate.policies import Policy
from headgate.spec import Goal
from headgate.spec.budget import Split


@dataclass(frozen=True)
class Model:
    """What rows are told apart by."""

    name: str
    """"age", "frequency", "process", "learned" (as the join goes on) or "none"."""
    says: str
    rows: int
    """On how many rows that was measured."""


@dataclass(frozen=True)
class SplitTried:
    """A division of memory between the sides, and the recall it reached; "pooled" is none."""

    split: Split
    recall: float


@dataclass(frozen=True)
class Shards:
    """How evenly keys fall on shards."""

    asked: int | None
    most: int
    """The most shards of which the fullest does not have much more than its part."""
    fullest: dict[int, float]
    """By number of shards: what the fullest would have, over an even part."""


@dataclass(frozen=True)
class Sampling:
    """Which scheme draws the sample."""

    scheme: str
    error: float
    """Expected relative error of a count over as much time as was profiled, with 95 %
    confidence."""
    tried: dict[str, float]
    left_out: dict[str, str]
    """Schemes that will not do, with the reason."""
    fraction: float | None = None


@dataclass(frozen=True, eq=False)
class Effort:
    """Work that is skipped for want of processor time."""

    plan: EffortPlan | None
    """Which rows probe and are stored; None where nothing need be skipped."""
    takes: float
    """What is done takes, in cores."""
    whole: float
    """What the whole join would take."""


@dataclass(frozen=True)
class Expectation:
    """What the plan is expected to reach.

    Attributes
    ----------
    recall
        The share of the exact result, in a run as long as what was profiled; None for samples and
        where it cannot be told.
    low, high
        Where it lies with 95 % confidence; None where it is a figure of models alone.
    basis
        How it is known, in words.
    error
        Of a sample: the relative error of a count.
    cores
        Processor time, in cores; on a stream also what Spark takes to bring rows in and out.
    rows, bytes
        What the exact join would need.
    fifo
        Recall of giving up the oldest row; None where it was not tried.
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
    """What the rules have decided; each adds its own."""

    policy: Policy
    goal: Goal
    split: Split
    index: Pair | None = None
    """Told to the join; None leaves the choice to it."""
    shown_index: Pair | None = None
    frequencies: Frequencies | None = None
    ages: AgeCurves | None = None
    rates: tuple[float, float] | None = None
    chosen: Tried | None = None
    as_asked: bool = False
    """Whether the policy was told, not chosen."""
    tried: tuple[Tried, ...] = ()
    model: Model | None = None
    splits: tuple[SplitTried, ...] = ()
    shards: Shards | None = None
    sampling: Sampling | None = None
    effort: Effort | None = None
    expect: Expectation | None = None
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def of(cls, request: Request) -> "Draft":
        """Nothing decided yet."""
        split: Split = "pooled" if request.budget.split == "planned" else request.budget.split
        return cls(request.policy, request.goal, split, request.index, rates=request.rates)
