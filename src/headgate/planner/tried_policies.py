"""Runs policies on a profile's rows to predict the recall they will reach on the stream.

A policy evaluated on the rows its model was fitted to would look too good, so this is a two-fold
cross-validation over time: the model is fitted to one half, the policy runs over all rows and is
scored on the other half, and vice versa. Both scored halves together are one run as long as the
profile, from empty memory on, without knowledge of the future.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from headgate.learning import Estimate
from headgate.models.student_t import t_quantile
from headgate.planner.fitted_models import Span, span_of
from headgate.planner.planning_case import PlanningCase
from headgate.policies import Policy
from headgate.spec import Budget
from headgate.trials.simulation import Simulated, simulate
from headgate.trials.stretch_tally import PARTS

LEAST_ERROR = 0.005
"""The smallest error margin of a predicted recall."""
TOGETHER = (1, 2, 4)
"""Numbers of slices grouped together: effects longer than one slice show in larger groups."""
CONFIDENCE = 0.95
SURE_ENOUGH = 0.9
"""Confidence that a policy makes more, required to prefer it over a simpler one."""
ENOUGH = 3
"""Windows in half of the time, so that one of them can be left out."""
NEGLIGIBLE = 0.002
"""Differences of recall below this are ignored."""

Learned = Callable[[Span | None], Policy]
"""A policy with what is learned in a stretch of time, or in all of it."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A policy that may be planned.

    Attributes
    ----------
    label
        Its label in a plan.
    policy
        The policy as the join would use it.
    model
        The model it uses: "age", "frequency", "process" or "none".
    learned
        Builds the policy from a model fitted to part of the trace; None where it needs no fitting.
    """

    label: str
    policy: Policy
    model: str = "none"
    learned: Learned | None = None


@dataclass(frozen=True, eq=False)
class TriedPolicy:
    """The result of running a candidate.

    Attributes
    ----------
    recall
        With the 95 % prediction interval for another run of the same length.
    made, met
        Pairs made and pairs of the exact result, by time slice.
    hindsight
        Whether it was scored on its own training rows because there were no others.
    """

    candidate: Candidate
    budget: Budget
    recall: Estimate
    made: np.ndarray = field(repr=False)
    met: np.ndarray = field(repr=False)
    hindsight: bool = False

    @property
    def label(self) -> str:
        """The policy's name."""
        return self.candidate.label

    def beats(self, other: "TriedPolicy") -> bool:
        """Whether it made significantly more pairs, compared slice by slice on the same rows.

        Slices are long, so that neither rows kept in turn nor short-lived hot keys count as noise
        in one slice and as gain in the next.
        """
        more = self.made - other.made
        total = max(float(self.met.sum()), 1.0)
        gain = float(more.sum()) / total
        if gain <= NEGLIGIBLE:
            return False
        together = max(TOGETHER)
        noise = _spread(more - gain * self.met, together) / total
        return gain > t_quantile(SURE_ENOUGH, PARTS // together - 1) * noise


def try_out(case: PlanningCase, candidate: Candidate, budget: Budget) -> TriedPolicy:
    """Run a candidate over the trace."""
    trace, kept = case.trace, case.profile.trace
    assert trace is not None
    assert kept is not None
    middle = PARTS // 2
    hindsight = False
    if candidate.learned is None:
        runs = [simulate(trace, candidate.policy, budget)]
        made = runs[0].made.by_time
    else:
        first, end = span_of(kept)
        half = first + (end - first) * middle // PARTS
        hindsight = not case.can_judge
        if hindsight:
            runs = [simulate(trace, candidate.learned(None), budget)]
            made = runs[0].made.by_time
        else:
            # Rows of one half match rows of the other across the middle; where the span is long
            # enough, nothing is learned there.
            apart = max(case.windows_us)
            apart = apart if half - first >= ENOUGH * apart else 0
            spans = ((half + apart, end), (first, half - apart))
            runs = [simulate(trace, candidate.learned(span), budget) for span in spans]
            made = np.concatenate([runs[0].made.by_time[:middle], runs[1].made.by_time[middle:]])
    met = runs[0].met.by_time
    return TriedPolicy(
        candidate,
        budget,
        foretold(made, met, _of_keys(runs), _filling(case)),
        made,
        met,
        hindsight,
    )


def _of_keys(runs: list[Simulated]) -> float:
    """The sampling error from having drawn keys."""
    return float(np.mean([(run.recall.high - run.recall.low) / 2 for run in runs]))


def _filling(case: PlanningCase) -> int:
    """Number of initial time slices in which windows and memory fill."""
    return math.ceil(PARTS * max(case.windows_us) / max(case.profile.span_us, 1))


def foretold(made: np.ndarray, met: np.ndarray, of_keys: float = 0.0, filling: int = 0) -> Estimate:
    """Predicted recall of another run of the same length, from made and exact pairs per slice.

    Variation between slices also shows between runs, and counts twice: in the observed run and in
    the predicted one.

    Parameters
    ----------
    of_keys
        The sampling error of a recall estimated from a share of the keys.
    filling
        Initial slices in which memory fills; they are excluded from the variance estimate.

    Examples
    --------
    >>> print(foretold(np.full(32, 50.0), np.full(32, 100.0)))
    0.500 (0.495 to 0.505)
    >>> print(foretold(np.tile([40.0, 60.0], 16), np.full(32, 100.0)))
    0.500 (0.448 to 0.552)
    """
    total = float(met.sum())
    if total <= 0:
        return Estimate(1.0, 0.0, 1.0)
    value = min(float(made.sum()) / total, 1.0)
    begin = filling if 2 * filling <= len(met) else 0
    later = float(met[begin:].sum())
    error = LEAST_ERROR
    if later > 0:
        off = made[begin:] - float(made[begin:].sum()) / later * met[begin:]
        error = max(
            t_quantile((1 + CONFIDENCE) / 2, max(len(off) // parts - 1, 1))
            * _spread(off, parts)
            / later
            for parts in TOGETHER
        )
    error = max(math.hypot(math.sqrt(2.0) * error, of_keys), LEAST_ERROR)
    return Estimate(value, max(value - error, 0.0), min(value + error, 1.0))


def _spread(off: np.ndarray, together: int = 1) -> float:
    """The standard error of a sum over slices, from their deviations."""
    count = len(off) // together
    sums = off[len(off) - count * together :].reshape(count, together).sum(axis=1)
    return math.sqrt(count / max(count - 1, 1) * float(sums @ sums))
