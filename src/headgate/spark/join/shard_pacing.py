"""A shard's processor time, from batch to batch: what the last took, what the next may take.

What a batch took is known when the next one begins, results handed over and state written; so what
it did is kept with the state until then.
"""

import json
import time
from dataclasses import asdict, dataclass, field, replace

from headgate.engine.placed_rows import Numbers
from headgate.pacing.pacer import Admitted, Pacer, PaceState, Passed
from headgate.spark.join.task_ledger import PACK, UNPACK, Ledger

FIRST_S = 1.0
"""How long the first batch is taken to last."""
LEARNS = 0.3
"""How much a batch has to say of how often they come."""
MOST_TIMES = 2.0
"""How many times as long as usual may have passed since the last batch, to be counted whole: after
a pause a batch must not take all the time that was not used."""


@dataclass(frozen=True)
class Pacing:
    """What is kept with a shard's state."""

    state: PaceState = field(default_factory=PaceState)
    passed: Passed | None = None
    span_s: float = 0.0
    """The event time that the last batch covered."""
    began: float = 0.0
    """When it began, by the clock on the wall."""
    ended: float = 0.0
    """When its rows were joined, though perhaps not all results handed on."""
    taken: float = 0.0
    """What the shard's ledger said then."""
    usual_s: float = 0.0
    """How far apart batches usually are."""

    @classmethod
    def of_text(cls, text: str) -> "Pacing":
        """From what `text` gave."""
        if not text:
            return cls()
        given = json.loads(text)
        passed = given.pop("passed")
        given["state"] = PaceState.of(given["state"])
        return cls(**given, passed=None if passed is None else Passed.of(passed))

    @property
    def text(self) -> str:
        """To be kept with the state."""
        return json.dumps(asdict(self))


class ShardPacing:
    """A batch's part: ask `admit` when rows are there, tell `done` when they are joined."""

    def __init__(self, pacer: Pacer, shards: int, shard: int, before: str, ledger: Ledger) -> None:
        self._pacer = pacer
        self._before = Pacing.of_text(before)
        self._now = time.time()
        beside = ledger.total(PACK) + ledger.total(UNPACK)
        self._taken = ledger.total(f"join-{shard}") + beside / shards
        self._elapsed_s = self._passed_since()
        self.seconds = max(self._taken - self._before.taken, 0.0)
        """Processor time since the last batch began."""
        self._state = self._before.state
        if self._before.passed is not None:
            # Done with when the last of its results was handed on.
            busy_s = max(ledger.ended(UNPACK), self._before.ended) - self._before.began
            passed = self._before.passed._replace(seconds=self.seconds, busy_s=max(busy_s, 0.0))
            self._state = pacer.after(
                self._state, passed, self._before.span_s, elapsed_s=self._elapsed_s
            )
        self._span_s = 0.0
        self.text = before
        """What to keep with the state."""

    def admit(self, seed: int, came: Numbers, span_s: float) -> Admitted:
        """Which of the rows that came there is time to look at, and how much work they may bring;
        ``span_s`` is the event time they cover."""
        self._span_s = span_s
        return self._pacer.admit(self._state, seed, came, span_s, self._elapsed_s)

    def done(self, passed: Passed) -> None:
        """Note what a step did, for the next batch."""
        usual = self._before.usual_s or self._elapsed_s
        self.text = replace(
            self._before,
            state=self._state,
            passed=passed,
            span_s=self._span_s,
            began=self._now,
            ended=time.time(),
            taken=self._taken,
            usual_s=(1 - LEARNS) * usual + LEARNS * self._elapsed_s,
        ).text

    def _passed_since(self) -> float:
        """Time since the last batch began, as far as it counts."""
        if not self._before.began:
            return FIRST_S
        elapsed = max(self._now - self._before.began, 1e-3)
        usual = self._before.usual_s
        return min(elapsed, MOST_TIMES * max(usual, FIRST_S))
