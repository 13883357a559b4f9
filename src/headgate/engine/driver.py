"""Drives a join step by step: the loop shared by every way of running it.

Each step admits as many rows as the CPU budget allows, joins them with the stored rows, learns from
them, and hands the stored rows to the next step. The caller supplies rows and consumes results.
"""

from collections import Counter
from dataclasses import replace
from typing import Generic

from headgate.engine.coding import Coding
from headgate.engine.join_step import JoinStep
from headgate.engine.learned_step import LearnedStep
from headgate.engine.placed_rows import Placed, Screened, numbered
from headgate.engine.stats import Stats
from headgate.kernel.pace import Pace
from headgate.kernel.step_progress import NO_WATERMARK, StepProgress
from headgate.kernel.terms import Terms
from headgate.learning.watch_room import Coming
from headgate.pacing.event_pacing import Pacing
from headgate.pacing.pacer import covered_s

Arriving = tuple[Screened[Placed], Screened[Placed]]


class Driver(Generic[Placed]):
    """The state of a join between steps, and its next step.

    For every step: `begin` it, consume its pairs, and `finish` it; then `keep` the rows it stores,
    unless they are kept elsewhere.

    Parameters
    ----------
    coding
        Gives rows their codes; its learner learns from every step.
    stored
        The rows stored so far.
    progress
        How far the join has come.
    pacing
        Keeps steps within their processor time; None where that is no limit.
    """

    def __init__(
        self,
        coding: Coding[Placed],
        stored: tuple[Placed, Placed],
        progress: StepProgress = StepProgress(),  # noqa: B008 - immutable
        pacing: Pacing | None = None,
    ) -> None:
        self._coding, self._pacing = coding, pacing
        self.stored, self.progress = stored, progress
        self._came = progress.seen
        """Rows of each side so far, including those dropped for lack of CPU time."""
        self.stats = Stats()
        self.learned: LearnedStep | None = None
        """What was learned, where keys are kept by value; evidence is that of all steps."""
        self.followed: Counter[str] = Counter()
        """How many arrivals each policy handled, where the policy is learned."""

    @property
    def stored_rows(self) -> int:
        """Rows stored, of both sides."""
        return len(self.stored[0]) + len(self.stored[1])

    def looks_ahead(self, terms: Terms) -> bool:
        """Whether how many arrivals a step may take depends on the arrivals."""
        learns = terms.policy.observes or self._coding.learner is not None
        return learns and self._pacing is None

    def takes_whole(self, terms: Terms, arrivals: int) -> bool:
        """Whether one step takes all of so many arrivals to come, whatever they are."""
        if not self.looks_ahead(terms):
            return True
        return not (terms.policy.observes or self.watches_among(arrivals))

    def watches_among(self, arrivals: int) -> bool:
        """Whether any of so many arrivals to come may be watched."""
        learner = self._coding.learner
        seen = sum(self.progress.seen) + arrivals
        return learner is not None and not learner.rests_until(seen)

    def most_at_once(self, terms: Terms, coming: Coming) -> int:
        """How many of the arrivals to come, in event order, the next step may take.

        What a step teaches is used from the next epoch on, and a step ends where an epoch does.
        Where processor time is limited, epochs end with steps instead.
        """
        if not self.looks_ahead(terms):
            return len(coming.side)
        if terms.policy.observes:
            left = terms.policy.observed_until(self.progress.memory) - sum(self.progress.seen)
            coming = coming.first(max(left, 1))
        if self._coding.learner is not None:
            return self._coding.learner.most_at_once(terms, coming, self.progress)
        return len(coming.side)

    def begin(
        self,
        terms: Terms,
        arriving: Arriving[Placed],
        watermark: int = NO_WATERMARK,
        keep_late: bool = False,
    ) -> JoinStep[Placed]:
        """Start the next step; see `StepInput` for its input."""
        arriving, pace = self._admitted(terms, arriving)
        given = self._coding.begin(replace(terms, pace=pace), self.stored, arriving)
        given = given._replace(progress=self.progress, watermark=watermark, keep_late=keep_late)
        learner = self._coding.learner
        if learner is not None:
            given = learner.before(given)
            # Kept with the rows where the policy is one that goes by what was known when they came.
            left, right = (rows.weight for rows in given.arriving)
            arriving = (arriving[0].weighed(left), arriving[1].weighed(right))
        return JoinStep(given, self.stored, arriving)

    def finish(self, step: JoinStep[Placed]) -> None:
        """After the last pair of a step: learn from it and advance the progress."""
        learner = self._coding.learner
        if learner is not None and learner.policy is not None:
            learner.after(step.kernel)
            self.learned = _with_before(self.learned, self._coding.end())
            self.followed[learner.policy.label] += sum(step.arrived)
        self.progress = step.after
        self.stats = self.stats.then(step.stats)
        if self._pacing is not None:
            self._pacing.done(step.passed())

    def keep(self, step: JoinStep[Placed]) -> None:
        """Store the rows that survive a step."""
        self.stored = (step.survivors(0), step.survivors(1))

    def _admitted(
        self, terms: Terms, arriving: Arriving[Placed]
    ) -> tuple[Arriving[Placed], Pace | None]:
        """The rows admitted within the CPU budget, and the work they may cause."""
        if self._pacing is None:
            return arriving, None
        span_s = covered_s(self.progress, (arriving[0].time, arriving[1].time))
        numbers = numbered(arriving, self._came)
        self._came = (self._came[0] + len(numbers[0]), self._came[1] + len(numbers[1]))
        (left, right), pace = self._pacing.admit(terms.seed, numbers, span_s)
        return (arriving[0].thinned(left), arriving[1].thinned(right)), pace


def _with_before(before: LearnedStep | None, now: LearnedStep | None) -> LearnedStep | None:
    """What a step learned, with the evidence of the steps before it."""
    if before is None or now is None:
        return now
    return replace(
        now,
        evidence=before.evidence + now.evidence,
        alone=before.alone + now.alone,
        clusters=before.clusters + now.clusters,
        switched=before.switched or now.switched,
    )
