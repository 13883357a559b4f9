"""Limits a shard's processor time: measures the last batch to decide how much the next may do.

The time of a batch is known only when the next one begins, after results were passed on and state
was written; until then, the work it did is kept with the state.
"""

import json
import time
from dataclasses import asdict, dataclass, field, replace

from headgate.engine.placed_rows import Numbers
from headgate.pacing.pacer import Admitted, Pacer, PaceState, Passed
from headgate.spark.join.task_ledger import PACK, UNPACK, TaskLedger

FIRST_S = 1.0
"""Assumed duration of the first batch, in seconds."""
LEARNS = 0.3
"""Weight of the latest batch in the moving average of the batch interval."""
MOST_TIMES = 2.0
"""Cap on the time since the last batch, as a multiple of the usual interval: after a pause, a batch
must not use all the idle time."""


@dataclass(frozen=True)
class PacingRecord:
    """Pacing data kept with a shard's state."""

    state: PaceState = field(default_factory=PaceState)
    passed: Passed | None = None
    span_s: float = 0.0
    """The event time that the last batch covered."""
    began: float = 0.0
    """When it began, in wall-clock time."""
    ended: float = 0.0
    """When its rows were joined, perhaps before all results were passed on."""
    taken: float = 0.0
    """The shard's total processor time then, in seconds."""
    usual_s: float = 0.0
    """The usual interval between batches, in seconds."""

    @classmethod
    def of_text(cls, text: str) -> "PacingRecord":
        """Parse what `text` returned."""
        if not text:
            return cls()
        given = json.loads(text)
        passed = given.pop("passed")
        given["state"] = PaceState.of(given["state"])
        return cls(**given, passed=None if passed is None else Passed.of(passed))

    @property
    def text(self) -> str:
        """The data as text, to store with the state."""
        return json.dumps(asdict(self))


class ShardPacing:
    """Paces one batch: call `admit` when its rows have arrived and `done` after joining them."""

    def __init__(
        self, pacer: Pacer, shards: int, shard: int, before: str, ledger: TaskLedger
    ) -> None:
        self._pacer = pacer
        self._before = PacingRecord.of_text(before)
        self._now = time.time()
        beside = ledger.total(PACK) + ledger.total(UNPACK)
        self._taken = ledger.total(f"join-{shard}") + beside / shards
        self._elapsed_s = self._passed_since()
        self.seconds = max(self._taken - self._before.taken, 0.0)
        """Processor time since the last batch began."""
        self._state = self._before.state
        if self._before.passed is not None:
            # A batch ends when the last of its results has been passed on.
            busy_s = max(ledger.ended(UNPACK), self._before.ended) - self._before.began
            passed = self._before.passed._replace(seconds=self.seconds, busy_s=max(busy_s, 0.0))
            self._state = pacer.after(
                self._state, passed, self._before.span_s, elapsed_s=self._elapsed_s
            )
        self._span_s = 0.0
        self.text = before
        """What to keep with the state."""

    def admit(self, seed: int, came: Numbers, span_s: float) -> Admitted:
        """Choose which arrivals there is time to process, and limit the work they may cause.

        ``span_s`` is the event time they cover, in seconds.
        """
        self._span_s = span_s
        return self._pacer.admit(self._state, seed, came, span_s, self._elapsed_s)

    def done(self, passed: Passed) -> None:
        """Record the work of a step, for the next batch."""
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
        """Seconds since the last batch began, capped at a multiple of the usual time."""
        if not self._before.began:
            return FIRST_S
        elapsed = max(self._now - self._before.began, 1e-3)
        usual = self._before.usual_s
        return min(elapsed, MOST_TIMES * max(usual, FIRST_S))
