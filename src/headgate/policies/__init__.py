"""Eviction policies, one per file, and the list of all of them."""

from headgate.models import AgeCurves, Frequencies
from headgate.policies.adaptive_heeb import AdaptiveHeeb
from headgate.policies.age import Age
from headgate.policies.density import Density
from headgate.policies.features import Features
from headgate.policies.fifo import Fifo
from headgate.policies.greedy import Greedy
from headgate.policies.heeb import Heeb
from headgate.policies.hist import Hist
from headgate.policies.ijoin import Ijoin
from headgate.policies.join_to_live import JoinToLive
from headgate.policies.kinds.age_score import AgeScore
from headgate.policies.kinds.fixed_score import FixedScore
from headgate.policies.kinds.history_score import HistoryScore
from headgate.policies.kinds.value_score import ValueScore
from headgate.policies.learned import Learned
from headgate.policies.lfu import Lfu
from headgate.policies.life import Life
from headgate.policies.lru import Lru
from headgate.policies.offline import Lfd
from headgate.policies.policy import Policy
from headgate.policies.prob import Prob
from headgate.policies.random import Random
from headgate.policies.size import Size
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
    Lfu,
    Ttl,
    JoinToLive,
    Greedy,
    Size,
    Ijoin,
    Density,
)

FOLLOWING: tuple[type[Policy], ...] = (Heeb, AdaptiveHeeb, Hist)
"""Policies that model how key values move; they need the processes, or their form, as input."""

__all__ = [
    "ALL_POLICIES",
    "FOLLOWING",
    "AdaptiveHeeb",
    "Age",
    "AgeScore",
    "Density",
    "Features",
    "Fifo",
    "FixedScore",
    "Greedy",
    "Heeb",
    "Hist",
    "HistoryScore",
    "Ijoin",
    "JoinToLive",
    "Learned",
    "Lfd",
    "Lfu",
    "Life",
    "Lru",
    "Policy",
    "Prob",
    "Random",
    "Size",
    "Ttl",
    "UntilExpiry",
    "ValueScore",
    "make_policy",
]


def make_policy(
    given: "str | Policy",
    frequencies: Frequencies | None = None,
    ages: AgeCurves | None = None,
    seed: int = 0,
    important: bool = False,
) -> Policy:
    """Make a policy from its name, in any case, or return the one given.

    A policy that needs a model takes the one given, or else learns it. ``"auto"`` is AGE with an
    age model and PROB with a frequency model; without a model it picks the one that fits what is
    learned. Where rows differ in importance (``important``), that may also be IJOIN.

    Examples
    --------
    >>> make_policy("fifo"), make_policy("FIFO")
    (Fifo(), Fifo())
    >>> make_policy("auto")
    Learned(wanted='auto')
    """
    if isinstance(given, Policy):
        return given
    if isinstance(given, str):
        given = given.lower()
    models = {"frequencies": frequencies, "ages": ages, "density": None}
    if given == "auto":
        known = [policy for policy in (Age, Prob) if models[policy.model] is not None]
        if not known:
            return Learned("auto", important)
        given = known[0].name
    if given == Features.name:
        return Learned(Features.name, important)
    by_name = {policy.name: policy for policy in ALL_POLICIES}
    if given in (policy.name for policy in FOLLOWING):
        raise SpecError(
            f'policy "{given}" needs a model of how values move: give '
            f"hg.policies.Heeb(left, right) with a process each, or hg.policies.Hist(form)"
        )
    if not isinstance(given, str) or given not in by_name:
        names = ", ".join(f'"{name}"' for name in ("auto", *by_name))
        raise SpecError(f"policy {given!r} is unknown: give one of {names}, or a policy object")
    policy = by_name[given]
    if policy is Random:
        return Random(seed)
    if not policy.model:
        return policy()
    model = models[policy.model]
    return Learned(given, important) if model is None else policy(model)  # type: ignore[call-arg]
