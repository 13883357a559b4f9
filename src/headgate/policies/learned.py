"""Policies whose model is learned from the stream, and the choice among them."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from headgate.models import AgeCurves
from headgate.models.class_ages import ClassAges
from headgate.models.match_density import MatchDensity
from headgate.policies.age import Age
from headgate.policies.density import Density
from headgate.policies.features import Features
from headgate.policies.fifo import Fifo
from headgate.policies.greedy import Greedy
from headgate.policies.ijoin import Ijoin
from headgate.policies.kinds.fixed_score import FixedScore
from headgate.policies.lfu import Lfu
from headgate.policies.life import Life
from headgate.policies.lru import Lru
from headgate.policies.policy import Arrivals, Policy
from headgate.policies.prob import Prob
from headgate.policies.random import Random
from headgate.spec import How, RowWindow, Window

LEARNED = ("auto", Prob.name, Life.name, Age.name, Density.name)
MODEL_FREE: dict[str, Policy] = {policy.name: policy for policy in (Random(), Fifo(), Lru(), Lfu())}
KEEP_HISTORY = (Lru.name, Lfu.name, Ijoin.name, Density.name)
BY_KEY = (Prob.name, Life.name, Density.name)
IN_ROWS = (1.0, 1.0)
"""Learned weights of keys are rows a microsecond already."""
FADING = 0.05
"""Decline of the match rate per stay above which IJOIN beats key counts: hot keys then stay hot for
at most about twenty stays (`headgate reproduce ijoin` shows both sides)."""
BY_IMPORTANCE = (Fifo.name, Greedy.name, Ijoin.name, Prob.name, Life.name, Age.name)
"""The policies tried where rows differ in importance."""
BY_PAIRS = (Random.name, Fifo.name, Lru.name, Prob.name, Life.name, Age.name, Density.name)
"""The policies tried where all rows count alike."""
KEYLESS_BY_IMPORTANCE = (Fifo.name, Greedy.name, Lfu.name, Ijoin.name, Age.name)
KEYLESS_BY_PAIRS = (Random.name, Fifo.name, Lru.name, Lfu.name, Age.name, Density.name)
"""Likewise where rows have no key: how often a row has matched tells what its key would."""
NEED_TIMES = (Ijoin.name, Life.name, Age.name, Density.name)


@dataclass(frozen=True)
class Learned(FixedScore):
    """PROB, LIFE, AGE or DENSITY with a learned model, or the policy that fits best ("auto").

    Until there is a model it acts as RANDOM, which favours no row; where rows differ in importance,
    as GREEDY. "auto" tries several policies on a small share of the rows, and follows the best.
    Where a budget is too small for that and rows differ in importance, it follows IJOIN at first,
    and on streams where rows match less as they age, because hot keys change faster than key counts
    can follow; GREEDY where neither key nor age separates rows.

    Examples
    --------
    >>> Learned("age").follow(None, None, "age").label
    'RANDOM'
    """

    wanted: str
    important: bool = field(default=False, repr=False)
    keyless: bool = field(default=False, repr=False)
    """Whether rows have no key, in a join on a band or comparison alone."""
    prior: str = field(default="", repr=False)
    """The policy that "auto" begins with, by its name; none where that is to be found out."""
    columns: bool = field(default=False, repr=False)
    """Whether "auto" may follow FEATURES: columns are named that may tell what rows are worth."""
    ages: AgeCurves | None = field(default=None, repr=False, compare=False)
    """The age model until one is learned."""

    name: ClassVar[str] = "learned"
    learns: ClassVar[bool] = True

    @property
    def learned(self) -> "Learned":
        """Itself."""
        return self

    @property
    def asked_name(self) -> str:
        """The wanted policy's name, or "auto"."""
        return self.wanted

    def without_keys(self, windows: tuple[Window, Window]) -> Policy:
        """Without what goes by key: "auto" and DENSITY have other things to go by."""
        if self.wanted not in ("auto", Density.name):
            return self
        return replace(self, keyless=True)

    @property
    def counts_keys(self) -> bool:
        """Whether it needs key counts."""
        return self.wanted != Age.name and not self.keyless

    @property
    def watches_ages(self) -> bool:
        """Whether it needs the ages at which rows match."""
        return self.wanted in ("auto", Age.name, Density.name, Features.name)

    @property
    def watches_meetings(self) -> bool:
        """Whether it needs what rows meet by class of row, for their match density."""
        return self.wanted == Density.name or (self.tries_others and not self.important)

    @property
    def watches_columns(self) -> bool:
        """Whether it learns what the columns of rows tell."""
        return self.wanted == Features.name or self.columns

    @property
    def keeps_history(self) -> bool:
        """True for DENSITY, and for "auto", which may choose a policy that needs the history."""
        return self.wanted in ("auto", Density.name)

    @property
    def tries_others(self) -> bool:
        """True for "auto"."""
        return self.wanted == "auto"

    def rivals(
        self, windows: tuple[Window, Window], how: How = How.INNER, dense: bool = True
    ) -> tuple[str, ...]:
        """The policies tried on a small share of the rows, so that the best can be followed.

        ``dense`` says whether match density is learned.
        """
        if not self.tries_others:
            return ()
        names: tuple[str, ...]
        if self.keyless:
            names = KEYLESS_BY_IMPORTANCE if self.important else KEYLESS_BY_PAIRS
        else:
            names = BY_IMPORTANCE if self.important else BY_PAIRS
        if not dense or how == How.ANTI:
            names = tuple(name for name in names if name != Density.name)
        if how == How.ANTI:
            names = tuple(name for name in names if name != Lfu.name)
        if any(isinstance(window, RowWindow) and window.rows for window in windows):
            return tuple(name for name in names if name not in NEED_TIMES)
        return names

    def with_columns(self) -> "Learned":
        """The same, where columns are named that may tell."""
        return replace(self, columns=True)

    def beginning_with(self, prior: str, ages: AgeCurves | None = None) -> "Learned":
        """The same, and another policy is followed only once it is surely better than that one."""
        return replace(self, prior=prior, ages=ages)

    @property
    def neutral(self) -> Policy:
        """The policy followed without a model."""
        return Greedy() if self.important else Random()

    def check(self, windows: tuple[Window, Window]) -> None:
        """Check the windows as the policy it stands for does."""
        if self.wanted == Age.name:
            Age(AgeCurves.of_buckets((1, 1), ((0,), (0,)))).check(windows)
        if self.wanted == Life.name:
            Life(None).check(windows)
        if self.wanted == Density.name:
            Density(MatchDensity.empty()).check(windows)
        if self.watches_columns:
            Features(ClassAges.empty()).check(windows)

    def check_kind(self, how: How) -> None:
        """Check the kind of join as the policy it stands for does."""
        super().check_kind(how)
        if self.wanted == Density.name:
            Density(MatchDensity.empty()).check_kind(how)
        if self.watches_columns:
            Features(ClassAges.empty()).check_kind(how)

    def follow(
        self,
        curves: AgeCurves | None,
        weights: np.ndarray | None,
        fits_better: str,
        fading: tuple[float, float] | None = None,
        followed: str = "",
    ) -> Policy:
        """The policy to follow.

        Parameters
        ----------
        curves, weights
            The age model, and the weights of keys; None where not known.
        fits_better
            Which of the two predicts matches better.
        fading
            The relative decline of the match rate per stay of age, and its standard error; None
            where there are no ages, or policies are on trial.
        followed
            The name of the policy that was followed last.
        """
        wanted = self.wanted
        if wanted == "auto":
            wanted = Age.name if curves is not None and fits_better == "age" else Prob.name
            if self.important and fading is not None:
                rate, error = fading
                # Do not switch on a difference within the error.
                least = FADING if followed == Ijoin.name else FADING + error
                if curves is None or rate > least:
                    return Ijoin()
                if wanted == Age.name and abs(rate) < 2 * error:
                    # A curve that may be flat does not separate rows.
                    return Greedy()
        return self.named(wanted, curves, weights)

    def named(
        self,
        name: str,
        curves: AgeCurves | None,
        weights: np.ndarray | None,
        density: MatchDensity | None = None,
        ages: ClassAges | None = None,
    ) -> Policy:
        """The policy of that name with the models given; the neutral policy without its model."""
        if name in MODEL_FREE:
            return MODEL_FREE[name]
        if name in (Ijoin.name, Greedy.name):
            return Ijoin() if name == Ijoin.name else Greedy()
        if name == Age.name:
            curves = self.ages if curves is None else curves
            return self.neutral if curves is None else Age(curves, of_first=True)
        if name == Density.name:
            return self.neutral if density is None else Density(density)
        if name == Features.name:
            return self.neutral if ages is None else Features(ages)
        if weights is None:
            return self.neutral
        if name == Prob.name:
            return Prob(None, IN_ROWS, knows_all=False)
        return Life.of_weights(weights)

    def score(self, arrivals: Arrivals) -> np.ndarray:
        """As RANDOM."""
        return Random().score(arrivals)

    @property
    def label(self) -> str:
        """The wanted policy's name, or AUTO."""
        return self.wanted.upper()
