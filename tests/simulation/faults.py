"""What goes wrong in a simulated cluster, and when: before the so-many-th tick of a batch."""

import random
from typing import NamedTuple

KILLS = ("kill the worker", "kill the executor", "kill the driver")
LOCAL = (
    "lose the local copies",
    "cut a local copy short",
    "flip a bit of a local copy",
    "swap two local copies",
    "the local disk is full",
)
KINDS = (
    *KILLS,
    *KILLS,
    *LOCAL,
    "the store refuses a call",
    "flip a bit in the state store",
    "cut a value in the state store",
    "move to another executor",
    "a second attempt overtakes the first",
    "the clock jumps",
)


class Fault(NamedTuple):
    """One thing that goes wrong.

    Parameters
    ----------
    batch
        In which batch.
    tick
        Before which tick of the batch, over all attempts: store calls, outputs and commits.
    kind
        What happens, of `KINDS`.
    seed
        For choices that it leaves open.
    """

    batch: int
    tick: int
    kind: str
    seed: int

    def __str__(self) -> str:
        return f"batch {self.batch}, tick {self.tick}: {self.kind}"


class Killed(BaseException):
    """A worker, executor or driver is killed; nothing of it goes on."""

    def __init__(self, who: str) -> None:
        super().__init__(who)
        self.who = who


class Refused(Exception):
    """The state store fails a call, as when the checkpoint's disk is full."""


def drawn_faults(rng: random.Random, ticks: list[int]) -> tuple[Fault, ...]:
    """Up to five faults in two neighbouring batches; some fall on ticks of a second attempt.

    ``ticks`` are those of each batch when nothing goes wrong.
    """
    found = []
    first = rng.randrange(len(ticks))
    for _ in range(rng.choice((1, 1, 1, 1, 2, 2, 3, 5))):
        batch = min(first + (rng.random() < 0.4), len(ticks) - 1)
        tick = rng.randrange(max(int(ticks[batch] * rng.choice((1.0, 1.0, 1.8))), 1))
        found.append(Fault(batch, tick, rng.choice(KINDS), rng.getrandbits(32)))
    return tuple(sorted(found))
