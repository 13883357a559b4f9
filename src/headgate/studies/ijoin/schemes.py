"""The schemes that section 5 compares, by the names it gives them, and what is measured of each."""

from collections.abc import Sequence
from typing import Any

from headgate.policies import Fifo, Greedy, Ijoin, Policy, Size
from headgate.studies.ijoin.plans import RAND, plan
from headgate.studies.ijoin.streams import WINDOW_S, Streams, runs_of

EXACT, FIFO, SIZE, GREEDY, IJOIN = "EXACT", "FIFO", "SIZE", "GREEDY", "IJOIN"
SCHEMES = (EXACT, FIFO, RAND, SIZE, GREEDY, IJOIN)
SHEDDING = (FIFO, RAND, SIZE, GREEDY)
"""Those that IJOIN is compared with."""
MEMORY = 10
MATURITY_S, UNPRODUCTIVITY_S = 2.0, 3.0
DECAY, PENALTY = 0.2, 2.0
"""The paper's d and c, of which it says nothing: a match counts for 1/e after the five seconds that
a row stays with ten rows of memory; a row idle for so long loses what one match brings."""


def ijoin(
    maturity_s: float = MATURITY_S,
    unproductivity_s: float = UNPRODUCTIVITY_S,
    decay: float = DECAY,
    penalty: float = PENALTY,
    recompute: Any = "successive",
) -> Ijoin:
    """IJOIN with Table 5's thresholds, or others.

    Examples
    --------
    >>> ijoin(unproductivity_s=5).unproductivity
    '5 seconds'
    """
    return Ijoin(
        maturity=f"{maturity_s:g} seconds",
        unproductivity=f"{unproductivity_s:g} seconds",
        decay=decay,
        penalty=penalty,
        recompute=recompute,
    )


def scheme(name: str, streams: Streams, memory: int, window_s: float, seed: int) -> Policy:
    """The policy that a scheme of the paper is here, for these streams and so much memory."""
    if name == RAND:
        return plan(RAND, streams, memory, window_s, seed)
    policies = {SIZE: Size(), GREEDY: Greedy(), IJOIN: ijoin()}
    return policies.get(name, Fifo())


def measured(
    streams: Streams,
    policy: Policy,
    memory: int | None = MEMORY,
    window_s: float = WINDOW_S,
    fairness: float = 0.0,
    seed: int = 0,
) -> dict[str, Any]:
    """Total importance, output size, fairness and overhead of a run; without memory, all of it."""
    stats = streams.join(policy, memory, window_s, fairness, seed).stats
    return {
        "importance": stats.importance,
        "pairs": stats.pairs,
        "fairness": stats.fairness,
        "recomputed": stats.recomputed,
    }


def measured_runs(
    name: str,
    case: str,
    seed: int,
    memory: int = MEMORY,
    window_s: float = WINDOW_S,
    policy: Policy | None = None,
    **drawn: int,
) -> Sequence[dict[str, Any]]:
    """A scheme on all the streams of a cell; ``drawn`` is for `runs_of`."""
    return [
        {
            "run": run,
            **measured(
                streams,
                policy or scheme(name, streams, memory, window_s, seed),
                None if name == EXACT else memory,
                window_s,
                seed=seed,
            ),
        }
        for run, streams in enumerate(runs_of(case, seed, **drawn))
    ]
