"""Policies whose model is learned from the stream, and which of them to follow."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from headgate.models import AgeCurves
from headgate.policies.age import Age
from headgate.policies.base import Arrivals, FixedScore, Policy
from headgate.policies.life import Life
from headgate.policies.prob import Prob
from headgate.policies.random import Random
from headgate.spec import Window

LEARNED = ("auto", Prob.name, Life.name, Age.name)


@dataclass(frozen=True)
class Learned(FixedScore):
    """Stands for PROB, LIFE or AGE with what is learned, or for the one that fits better ("auto").

    Until there is a model it is RANDOM, which favours nobody.

    Examples
    --------
    >>> Learned("age").follow(None, None, "age").label
    'RANDOM'
    """

    wanted: str

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

    def check(self, windows: tuple[Window, Window]) -> None:
        """The same as the policy it stands for."""
        if self.wanted == Age.name:
            Age(AgeCurves.of_buckets((1, 1), ((0,), (0,)))).check(windows)
        if self.wanted == Life.name:
            Life(None).check(windows)

    def follow(
        self, curves: AgeCurves | None, weights: np.ndarray | None, fits_better: str
    ) -> Policy:
        """The policy to follow, given an age model, what keys are worth, and which fits better."""
        wanted = self.wanted
        if wanted == "auto":
            wanted = Age.name if curves is not None and fits_better == "age" else Prob.name
        if wanted == Age.name:
            return Random() if curves is None else Age(curves)
        if weights is None:
            return Random()
        return Prob(None) if wanted == Prob.name else Life.of_weights(weights)

    def score(self, arrivals: Arrivals) -> np.ndarray:
        """As RANDOM."""
        return Random().score(arrivals)

    @property
    def label(self) -> str:
        """The wanted policy's name, or AUTO."""
        return self.wanted.upper()
