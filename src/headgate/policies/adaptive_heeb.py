"""HEEB that estimates the lifetime of stored rows itself."""

import json
import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from headgate.models import ExponentialLife
from headgate.policies.heeb import Heeb
from headgate.policies.kinds.curve_score import Departures
from headgate.policies.policy import Arrivals

FADING = 0.8
"""Factor by which past observations are discounted after each step."""
NOTCH = 1.05
"""Lifetimes are rounded to powers of it, so that small changes do not require new curves."""
SHORTEST = 1.05
"""Shortest lifetime, in steps; a row stored for one step is worth its next match only."""


@dataclass(frozen=True, repr=False)
class AdaptiveHeeb(Heeb):
    """HEEB whose survival function follows the observed lifetimes of stored rows.

    It starts with ``survival``, or a function derived from the budget. From then on it uses the
    exponential function whose mean is the recently observed mean lifetime.

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
        """The policy with the lifetime observed so far."""
        if not memory:
            return self
        seen = json.loads(memory)
        notches = round(math.log(max(seen["stay"], SHORTEST)) / math.log(NOTCH))
        life = ExponentialLife.of_lifetime(NOTCH ** max(notches, 1))
        return replace(self, survival=life, _memory=seen)

    def remember(self, arrivals: Arrivals, departures: Departures) -> str:
        """The mean lifetime, with recent steps weighted most."""
        before = self._memory.get("count", 0.0) * FADING
        count = before + len(departures.stayed_us)
        if not count:
            return ""
        total = before * self._memory.get("stay", 0.0)
        stay = (total + float(departures.stayed_us.sum()) / self._step_us) / count
        return json.dumps({"stay": stay, "count": count})
