"""Policies whose model is learned from the stream, and which of them to follow."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from headgate.models import AgeCurves
from headgate.policies.age import Age
from headgate.policies.fifo import Fifo
from headgate.policies.greedy import Greedy
from headgate.policies.ijoin import Ijoin
from headgate.policies.kinds.fixed_score import FixedScore
from headgate.policies.life import Life
from headgate.policies.lru import Lru
from headgate.policies.policy import Arrivals, Policy
from headgate.policies.prob import Prob
from headgate.policies.random import Random
from headgate.spec import RowWindow, Window

LEARNED = ("auto", Prob.name, Life.name, Age.name)
MODEL_FREE: dict[str, Policy] = {policy.name: policy for policy in (Random(), Fifo(), Lru())}
"""LFU is not among them: a row's first score is how many partners it finds as it comes, and in a
miniature it finds few."""
KEEP_HISTORY = (Lru.name, Ijoin.name)
BY_KEY = (Prob.name, Life.name)
FADING = 0.05
"""How much rows' matches must fade in a stay for IJOIN to do better than counts of keys: what is
hot then stays so for some twenty stays at most (`headgate reproduce ijoin` shows both sides)."""


@dataclass(frozen=True)
class Learned(FixedScore):
    """Stands for PROB, LIFE or AGE with what is learned, or for the one that fits better ("auto").

    Until there is a model it is RANDOM, which favours nobody. Where rows matter differently, it is
    GREEDY until then, and "auto" has more to choose from: IJOIN at first, and on streams whose rows
    match less and less as they grow older, because what is hot changes and counts of keys come too
    late; GREEDY where neither key nor age tells rows apart.

    Examples
    --------
    >>> Learned("age").follow(None, None, "age").label
    'RANDOM'
    """

    wanted: str
    important: bool = field(default=False, repr=False)

    name: ClassVar[str] = "learned"
    learns: ClassVar[bool] = True

    @property
    def counts_keys(self) -> bool:
        """Whether it must know how often keys come."""
        return self.wanted != Age.name

    @property
    def watches_ages(self) -> bool:
        """Whether it must know at what age rows match."""
        return self.wanted in ("auto", Age.name)

    @property
    def keeps_history(self) -> bool:
        """Some of those that "auto" may follow need it."""
        return self.wanted == "auto"

    @property
    def tries_others(self) -> bool:
        """ "auto" does, where all result rows count alike."""
        return self.wanted == "auto" and not self.important

    def rivals(self, windows: tuple[Window, Window]) -> tuple[str, ...]:
        """The policies that are tried in miniature, so that the best of them can be followed."""
        if not self.tries_others:
            return ()
        if any(isinstance(window, RowWindow) and window.rows for window in windows):
            return (*MODEL_FREE, Prob.name)
        return (*MODEL_FREE, Prob.name, Life.name, Age.name)

    @property
    def neutral(self) -> Policy:
        """What is followed without a model."""
        return Greedy() if self.important else Random()

    def check(self, windows: tuple[Window, Window]) -> None:
        """The same as the policy it stands for."""
        if self.wanted == Age.name:
            Age(AgeCurves.of_buckets((1, 1), ((0,), (0,)))).check(windows)
        if self.wanted == Life.name:
            Life(None).check(windows)

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
            The age model, and what keys are worth; None where not known.
        fits_better
            Which of the two foresees matches better.
        fading
            How much more slowly rows match for every stay that they have grown older, and how much
            of that may be chance; None where there are no ages.
        followed
            The name of the policy that was followed last.
        """
        wanted = self.wanted
        if wanted == "auto":
            wanted = Age.name if curves is not None and fits_better == "age" else Prob.name
            if self.important and fading is not None:
                rate, error = fading
                # What may be chance is no reason to change one's mind.
                least = FADING if followed == Ijoin.name else FADING + error
                if curves is None or rate > least:
                    return Ijoin()
                if wanted == Age.name and abs(rate) < 2 * error:
                    # A curve that may be flat does not tell rows apart.
                    return Greedy()
        return self.named(wanted, curves, weights)

    def named(self, name: str, curves: AgeCurves | None, weights: np.ndarray | None) -> Policy:
        """The policy of that name, with what is known; the neutral one where that is not enough."""
        if name in MODEL_FREE:
            return MODEL_FREE[name]
        if name == Age.name:
            return self.neutral if curves is None else Age(curves)
        if weights is None:
            return self.neutral
        return Prob(None) if name == Prob.name else Life.of_weights(weights)

    def score(self, arrivals: Arrivals) -> np.ndarray:
        """As RANDOM."""
        return Random().score(arrivals)

    @property
    def label(self) -> str:
        """The wanted policy's name, or AUTO."""
        return self.wanted.upper()
