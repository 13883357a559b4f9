"""HEEB that sees for itself how long rows stay."""

import json
import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from headgate.models import ExponentialLife
from headgate.policies.heeb import Heeb
from headgate.policies.kinds.curve_score import Departures
from headgate.policies.policy import Arrivals

FADING = 0.8
"""What was seen counts for so much less after each step."""
NOTCH = 1.05
"""Lifetimes are told in powers of it, so that little changes do not make for new curves."""
SHORTEST = 1.05
"""Steps; a row that stays no more than one is worth its next match alone."""


@dataclass(frozen=True, repr=False)
class AdaptiveHeeb(Heeb):
    """HEEB whose survival function follows the lifetimes of the rows it kept.

    It begins with ``survival``, or what follows from the budget, and from then on takes the
    exponential function whose mean is the mean lifetime observed lately.

    Examples
    --------
    >>> from headgate.models import LinearTrend, Noise
    >>> trend = LinearTrend(slope=1, intercept=0, noise=Noise.normal(3.3, bound=10))
    >>> AdaptiveHeeb(trend, trend).recalling('{"stay": 12.0, "count": 40.0}').survival
    ExponentialLife(alpha=11.5...)

    References
    ----------
    Xie, Yang and Chen, On Joining and Caching Stochastic Streams, SIGMOD 2005, section 7.3, where
    it is left for future work.
    """

    _memory: dict[str, Any] = field(default_factory=dict, compare=False)

    name: ClassVar[str] = "adaptive-heeb"
    caches: ClassVar[bool] = False
    observes: ClassVar[bool] = True

    def recalling(self, memory: str) -> "AdaptiveHeeb":
        """With the lifetime seen so far."""
        if not memory:
            return self
        seen = json.loads(memory)
        notches = round(math.log(max(seen["stay"], SHORTEST)) / math.log(NOTCH))
        life = ExponentialLife.of_lifetime(NOTCH ** max(notches, 1))
        return replace(self, survival=life, _memory=seen)

    def remember(self, arrivals: Arrivals, departures: Departures) -> str:
        """The mean lifetime, of late above all."""
        before = self._memory.get("count", 0.0) * FADING
        count = before + len(departures.stayed_us)
        if not count:
            return ""
        total = before * self._memory.get("stay", 0.0)
        stay = (total + float(departures.stayed_us.sum()) / self._step_us) / count
        return json.dumps({"stay": stay, "count": count})
