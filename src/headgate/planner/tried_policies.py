"""Policies tried on a profile's rows, so that what they reach there can be expected elsewhere.

A model learned from rows knows what became of them, and a policy judged on the same rows would be
flattered. So time is cut in half: with what is learned on one half the policy is run over all rows
and judged on the other, and the other way round. Both halves together are a run as long as what was
profiled, from empty memory on, in which nothing was known beforehand.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from headgate.learning import Estimate
from headgate.models.student_t import t_quantile
from headgate.planner.fitted_models import Span, span_of
from headgate.planner.planning_case import Case
from headgate.policies import Policy
from headgate.spec import Budget
from headgate.trials import Simulated, simulate
from headgate.trials.stretch_tally import PARTS

LEAST_ERROR = 0.005
"""No run is foretold more closely than that."""
TOGETHER = (1, 2, 4)
"""Parts of the time that are taken together: what lasts longer than one part shows in more."""
CONFIDENCE = 0.95
SURE_ENOUGH = 0.9
"""That a policy makes more, for it to be taken before a simpler one."""
ENOUGH = 3
"""Windows in half of the time, so that one of them can be left out."""
NEGLIGIBLE = 0.002
"""Of recall: less than that is no reason for anything."""

Learned = Callable[[Span | None], Policy]
"""A policy with what is learned in a stretch of time, or in all of it."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A policy that may be planned.

    Attributes
    ----------
    label
        What it is called in a plan.
    policy
        As the join would have it.
    model
        "age", "frequency", "process" or "none": what it goes by.
    learned
        The policy with what can be learned from some of the trace; None where it learns nothing
        beforehand.
    """

    label: str
    policy: Policy
    model: str = "none"
    learned: Learned | None = None


@dataclass(frozen=True, eq=False)
class Tried:
    """What became of a candidate.

    Attributes
    ----------
    recall
        With the interval in which that of another run as long lies with 95 % confidence.
    made, met
        Pairs made and pairs there were to make, by part of the time.
    hindsight
        Whether it was judged on the rows it was learned from, for want of others.
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

    def beats(self, other: "Tried") -> bool:
        """Whether it made more by more than noise: stretch by stretch, on the same rows.

        Stretches are long, so that neither rows kept in turn nor what is hot for a while counts as
        noise in one and as gain in the next.
        """
        more = self.made - other.made
        total = max(float(self.met.sum()), 1.0)
        gain = float(more.sum()) / total
        if gain <= NEGLIGIBLE:
            return False
        together = max(TOGETHER)
        noise = _spread(more - gain * self.met, together) / total
        return gain > t_quantile(SURE_ENOUGH, PARTS // together - 1) * noise


def try_out(case: Case, candidate: Candidate, budget: Budget) -> Tried:
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
            # Rows of one half meet rows of the other across the middle; whoever has time to spare
            # learns nothing there.
            apart = max(case.windows_us)
            apart = apart if half - first >= ENOUGH * apart else 0
            spans = ((half + apart, end), (first, half - apart))
            runs = [simulate(trace, candidate.learned(span), budget) for span in spans]
            made = np.concatenate([runs[0].made.by_time[:middle], runs[1].made.by_time[middle:]])
    met = runs[0].met.by_time
    return Tried(
        candidate,
        budget,
        foretold(made, met, _of_keys(runs), _filling(case)),
        made,
        met,
        hindsight,
    )


def _of_keys(runs: list[Simulated]) -> float:
    """The error that comes of having drawn keys."""
    return float(np.mean([(run.recall.high - run.recall.low) / 2 for run in runs]))


def _filling(case: Case) -> int:
    """Parts of the time in which windows, and memory, first fill."""
    return math.ceil(PARTS * max(case.windows_us) / max(case.profile.span_us, 1))


def foretold(made: np.ndarray, met: np.ndarray, of_keys: float = 0.0, filling: int = 0) -> Estimate:
    """Recall of another run as long, from pairs made and to be made by part of the time.

    What varies from part to part varies from run to run: once in the run that was seen, and once
    more in the one foretold.

    Parameters
    ----------
    of_keys
        The error of a recall that was told from a share of the keys.
    filling
        Parts at the beginning in which memory fills, which say nothing of how much parts vary.

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
    """The standard error of a sum of parts, from how far they are off."""
    count = len(off) // together
    sums = off[len(off) - count * together :].reshape(count, together).sum(axis=1)
    return math.sqrt(count / max(count - 1, 1) * float(sums @ sums))
