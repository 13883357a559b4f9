"""Who stays: one file a policy, and the list of them all."""

from headgate.models import Frequencies
from headgate.policies.base import AgeScore, FixedScore, HistoryScore, Policy, ValueScore
from headgate.policies.fifo import Fifo
from headgate.policies.join_to_live import JoinToLive
from headgate.policies.life import Life
from headgate.policies.lru import Lru
from headgate.policies.prob import Prob
from headgate.policies.random import Random
from headgate.policies.ttl import Ttl
from headgate.policies.until_expiry import UntilExpiry
from headgate.spec import SpecError

ALL_POLICIES: tuple[type[Policy], ...] = (
    Random,
    Fifo,
    UntilExpiry,
    Prob,
    Life,
    Lru,
    Ttl,
    JoinToLive,
)

__all__ = [
    "ALL_POLICIES",
    "AgeScore",
    "Fifo",
    "FixedScore",
    "HistoryScore",
    "JoinToLive",
    "Life",
    "Lru",
    "Policy",
    "Prob",
    "Random",
    "Ttl",
    "UntilExpiry",
    "ValueScore",
    "make_policy",
]


def make_policy(given: "str | Policy", frequencies: Frequencies | None = None) -> Policy:
    """A policy from its name, or as given. ``"auto"`` is PROB with a frequency model, else RANDOM.

    Examples
    --------
    >>> make_policy("fifo")
    Fifo()
    >>> make_policy("auto")
    Random(seed=0)
    """
    if isinstance(given, Policy):
        return given
    if given == "auto":
        return Random() if frequencies is None else Prob(frequencies)
    by_name = {policy.name: policy for policy in ALL_POLICIES}
    if not isinstance(given, str) or given not in by_name:
        names = ", ".join(f'"{name}"' for name in ("auto", *by_name))
        raise SpecError(f"policy {given!r} is unknown: give one of {names}, or a policy object")
    policy = by_name[given]
    if not policy.weighs_keys:
        return policy()
    if frequencies is None:
        raise SpecError(
            f'policy "{given}" ranks rows by how often their key occurs on the other side: give '
            f"the join a model, frequencies=hg.Frequencies.of_tables(...), or choose another policy"
        )
    return policy(frequencies)  # type: ignore[call-arg]
