"""Who stays: one file a policy, and the list of them all."""

from headgate.models import AgeCurves, Frequencies
from headgate.policies.age import Age
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
    Age,
    Lru,
    Ttl,
    JoinToLive,
)

__all__ = [
    "ALL_POLICIES",
    "Age",
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


HOW_TO_GIVE = {
    "frequencies": "by how often their key occurs on the other side: give the join a model, "
    "frequencies=hg.Frequencies.of_tables(...)",
    "ages": "by how rows of their age match: give the join a model, "
    "ages=hg.AgeCurves.of_buckets(...)",
}


def make_policy(
    given: "str | Policy",
    frequencies: Frequencies | None = None,
    ages: AgeCurves | None = None,
) -> Policy:
    """A policy from its name, or as given.

    ``"auto"`` is AGE with an age model, PROB with a frequency model, else RANDOM.

    Examples
    --------
    >>> make_policy("fifo")
    Fifo()
    >>> make_policy("auto")
    Random(seed=0)
    """
    if isinstance(given, Policy):
        return given
    models = {"frequencies": frequencies, "ages": ages}
    if given == "auto":
        known = [policy for policy in (Age, Prob) if models[policy.model] is not None]
        given = known[0].name if known else Random.name
    by_name = {policy.name: policy for policy in ALL_POLICIES}
    if not isinstance(given, str) or given not in by_name:
        names = ", ".join(f'"{name}"' for name in ("auto", *by_name))
        raise SpecError(f"policy {given!r} is unknown: give one of {names}, or a policy object")
    policy = by_name[given]
    if not policy.model:
        return policy()
    if models[policy.model] is None:
        raise SpecError(
            f'policy "{given}" ranks rows {HOW_TO_GIVE[policy.model]}, or choose another policy'
        )
    return policy(models[policy.model])  # type: ignore[call-arg]
