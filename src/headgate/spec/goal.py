"""Goals of a join within a budget: the most result rows, or a random sample of them."""

from dataclasses import dataclass
from typing import Literal

from headgate.spec.errors import SpecError

SampleKind = Literal["auto", "uniform", "cluster"]
Otherwise = Literal["mark", "widen", "fail"]
KINDS = ("auto", "uniform", "cluster")
OTHERWISE = ("mark", "widen", "fail")


@dataclass(frozen=True)
class Goal:
    """What a join maximises within its budget: the base of all goals.

    Examples
    --------
    >>> [isinstance(goal, Goal) for goal in (MaxSubset(), Sample())]
    [True, True]
    """


@dataclass(frozen=True)
class MaxSubset(Goal):
    """Produce as many rows of the exact result as the budget can buy.

    Examples
    --------
    >>> MaxSubset()
    MaxSubset()
    """


@dataclass(frozen=True)
class Sample(Goal):
    """Produce a random sample of the exact result, each row with its weight.

    ``sum(weight * x)`` over the sample is an unbiased estimate of ``sum(x)`` over the exact result;
    `headgate.api.estimate` adds the interval.

    Parameters
    ----------
    kind
        ``"cluster"`` keeps a stored row for its whole window and samples all its matches together:
        with probability by expected matches (PPS-CLUSTER) where frequencies are given, otherwise
        equal for all rows (EQ-CLUSTER). ``"uniform"`` samples every result row independently
        (UNIFORM), which takes a model of how many matches rows make. ``"auto"`` is a cluster sample
        that learns from the stream how many matches keys make, where frequencies are not given.
    fraction
        For ``"uniform"``: the share of result rows to sample. As much as memory allows when left
        out.
    weight, cluster
        Names of the columns added to the result: how many result rows each stands for, and which
        rows were sampled together.
    error, confidence, otherwise
        A contract for estimates: the maximum relative error at that confidence, and what to do with
        an estimate that misses it: ``"mark"`` it, ``"widen"`` the error to what is achievable, or
        ``"fail"``.

    Examples
    --------
    >>> Sample("cluster", error=0.05)
    Sample(kind='cluster', fraction=None, weight='weight', cluster='cluster', error=0.05, \
confidence=0.95, otherwise='mark')
    """

    kind: SampleKind = "auto"
    fraction: float | None = None
    weight: str = "weight"
    cluster: str = "cluster"
    error: float | None = None
    confidence: float = 0.95
    otherwise: Otherwise = "mark"

    def __post_init__(self) -> None:
        _check_one_of("Sample", self.kind, KINDS)
        _check_one_of("otherwise", self.otherwise, OTHERWISE)
        if self.fraction is not None and not 0 < self.fraction <= 1:
            raise SpecError(f"fraction={self.fraction!r}: give a share above 0 and up to 1")
        if self.fraction is not None and self.kind != "uniform":
            raise SpecError(
                f'fraction={self.fraction!r} is for Sample("uniform"); the share of a '
                f'"{self.kind}" sample is what memory allows'
            )
        if self.error is not None and not self.error > 0:
            raise SpecError(f"error={self.error!r}: give a relative error above 0, such as 0.05")
        if not 0 < self.confidence < 1:
            raise SpecError(f"confidence={self.confidence!r}: give one between 0 and 1, as 0.95")
        if self.weight == self.cluster:
            raise SpecError(f'weight and cluster are both called "{self.weight}"')


def _check_one_of(what: str, given: object, accepted: tuple[str, ...]) -> None:
    if given not in accepted:
        names = ", ".join(f'"{name}"' for name in accepted)
        raise SpecError(f"{what} {given!r} is unknown: give one of {names}")
