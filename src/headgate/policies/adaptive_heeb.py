"""HEEB that estimates the lifetime of stored rows itself."""

import json
import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from headgate.models import ExponentialLife
from headgate.policies.heeb import Heeb
from headgate.policies.kinds.curve_score import ObservedStretch

FADING = 0.8
"""Factor by which past observations are discounted after each epoch."""
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
        if not seen.get("count"):
            return replace(self, _memory=seen)
        notches = round(math.log(max(seen["stay"], SHORTEST)) / math.log(NOTCH))
        life = ExponentialLife.of_lifetime(NOTCH ** max(notches, 1))
        return replace(self, survival=life, _memory=seen)

    def remember(self, seen: ObservedStretch) -> str:
        """The mean lifetime, with recent epochs weighted most; and what this epoch adds to it."""
        known, stayed = self._memory, seen.departures.stayed_us
        rows = known.get("rows", 0) + len(stayed)
        stayed_us = known.get("stayed_us", 0) + int(stayed.sum())
        total_bytes = known.get("bytes", 0) + seen.bytes
        until = seen.next_end(known, total_bytes)
        now = {**known, "rows": rows, "stayed_us": stayed_us, "bytes": total_bytes}
        if until is None:
            return json.dumps(now, sort_keys=True)
        before = known.get("count", 0.0) * FADING
        count = before + rows
        if count:
            total = before * known.get("stay", 0.0)
            now |= {"stay": (total + stayed_us / self._step_us) / count, "count": count}
        return json.dumps(now | {"rows": 0, "stayed_us": 0, "until": until}, sort_keys=True)
