"""The policy that "auto" begins with: from a what-if, a profile, or by name."""

from typing import Any

from headgate.models import AgeCurves
from headgate.policies import Age, Policy, Prob
from headgate.profiles.profile import Profile
from headgate.sizing.what_if import WhatIf
from headgate.spec import Budget, How, SpecError, Window

MODELS = {"age": Age.name, "frequency": Prob.name}
NEARLY = 0.97


def with_prior(
    policy: Policy, prior: Any, budget: Budget, windows: tuple[Window, Window], how: How
) -> Policy:
    """The policy with what it begins with; raises where there is nothing to choose.

    Examples
    --------
    >>> from headgate.policies import Learned
    >>> from headgate.spec import TimeWindow
    >>> minutes = (TimeWindow(60_000_000), TimeWindow(60_000_000))
    >>> with_prior(Learned("auto"), "PROB", Budget(rows=9), minutes, How.INNER).prior
    'prob'
    >>> with_prior(Learned("auto"), "ttl", Budget(rows=9), minutes, How.INNER)
    Traceback (most recent call last):
    ...
    headgate.spec.errors.SpecError: prior='ttl' is none of the policies that "auto" tries in this \
join: give one of "random", "fifo", "lru", "prob", "life", "age", "density", a Profile or a WhatIf
    """
    auto = policy.learned
    if auto is None or not auto.tries_others:
        raise SpecError(
            f'prior={prior!r} says what "auto" begins with, and the policy is '
            f'"{policy.asked_name}": give policy="auto", or leave prior out'
        )
    rivals, ages = auto.rivals(windows, how), None
    if isinstance(prior, Profile):
        name, ages = _of_profile(prior, rivals), _ages(prior, windows)
    elif isinstance(prior, WhatIf):
        name = _of_what_if(prior, rivals, budget)
    else:
        name = prior.lower() if isinstance(prior, str) else ""
        if name not in rivals:
            known = ", ".join(f'"{each}"' for each in rivals)
            raise SpecError(
                f'prior={prior!r} is none of the policies that "auto" tries in this join: give one '
                f"of {known}, a Profile or a WhatIf"
            )
    return auto.beginning_with(name, ages)


def _of_profile(profile: Profile, rivals: tuple[str, ...]) -> str:
    """What made the most of the second half of the profiled time, with models of the first; of
    two that made nearly as much, the one whose model explains the matches better."""
    found = {label.lower(): recall for label, recall in profile.explains.recall.items()}
    known = [name for name in rivals if name in found]
    best = max(known, key=lambda name: found[name], default="")
    better = MODELS.get(profile.explains.better or "", "")
    return better if better in known and found[better] >= NEARLY * found[best] else best


def _ages(profile: Profile, windows: tuple[Window, Window]) -> AgeCurves | None:
    """The age model, where it is of the join's own windows."""
    same = windows == tuple(side.window for side in profile.sides)
    return profile.ages if same else None


def _of_what_if(found: WhatIf, rivals: tuple[str, ...], budget: Budget) -> str:
    """What made the most with the memory tried that is nearest to the budget."""
    rows = budget.rows if budget.rows is not None else None
    if rows is None:
        rows = round((budget.memory or 0) / max(found.needs.row_bytes, 1.0))
    made = {
        name: min(curve, key=lambda point: abs(point.rows - rows)).recall
        for name in rivals
        if (curve := found.curve(name))
    }
    return max(made, key=lambda name: made[name], default="")
