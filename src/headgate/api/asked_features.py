"""Checks the columns that are to tell what rows are worth, and the policy that goes by them."""

from collections.abc import Sequence
from typing import Any

from headgate.policies import Features, Policy
from headgate.spec import Budget, Goal, How, MaxImportance, Sample, SpecError

MOST = 8
"""More columns would each be told from chance by fewer rows."""


def asked_features(
    features: str | Sequence[str], policy: str | Policy, goal: Goal | None = None
) -> tuple[tuple[str, ...], str | Policy]:
    """The columns, and the policy that goes by them; raises where one is given without the other.

    Examples
    --------
    >>> asked_features(["status", "carrier"], "auto")
    (('status', 'carrier'), 'auto')
    >>> asked_features("status", "lru")
    Traceback (most recent call last):
    ...
    headgate.spec.errors.SpecError: features=status with policy="lru", which does not look at \
columns: give policy="auto" or policy="features", or leave features out
    """
    names = _names(features)
    name = policy.lower() if isinstance(policy, str) else None
    if not names:
        if name == Features.name or isinstance(policy, Features):
            raise SpecError(
                'policy "features" goes by columns of the rows: name them with '
                'features=["status", ...], and give policy="features" or "auto"'
            )
        return names, policy
    if isinstance(goal, Sample):
        named = ", ".join(names)
        raise SpecError(f"features={named} with a sample, drawn at random: leave features out")
    if name not in ("auto", Features.name):
        shown = repr(policy) if name is None else f'"{policy}"'
        raise SpecError(
            f"features={', '.join(names)} with policy={shown}, which does not look at columns: "
            f'give policy="auto" or policy="features", or leave features out'
        )
    if name == Features.name or isinstance(goal, MaxImportance):
        return names, Features.name  # what columns tell is judged by matches, whatever they matter
    return names, policy


def _names(features: Any) -> tuple[str, ...]:
    given = [features] if isinstance(features, str) else features
    if not isinstance(given, Sequence) or not all(isinstance(n, str) and n for n in given):
        raise SpecError(f'features={features!r} is not accepted: give names, as in ["status"]')
    names = tuple(given)
    for name in names:
        if names.count(name) > 1:
            raise SpecError(f'features= names the column "{name}" twice: name it once')
    if len(names) > MOST:
        raise SpecError(
            f"features= names {len(names)} columns: name {MOST} at most, those most likely to "
            f"tell which rows match"
        )
    return names


def refuse_features(features: tuple[str, ...], what: str) -> None:
    """Raise where policies are tried on keys and times alone.

    Examples
    --------
    >>> refuse_features(("status",), "a plan")
    Traceback (most recent call last):
    ...
    headgate.spec.errors.SpecError: a plan tries policies on keys and times alone, and this join \
has features=status: leave features out to plan, or run the join as it is
    """
    if features:
        raise SpecError(
            f"{what} tries policies on keys and times alone, and this join has "
            f"features={', '.join(features)}: leave features out to plan, or run the join as it is"
        )


def check_features(features: tuple[str, ...], how: How, budget: Budget) -> None:
    """Raise where rows cannot be kept by their columns."""
    if not features:
        return
    shown = f"features={', '.join(features)}"
    if budget.cpu is not None:
        raise SpecError(
            f"{shown} with cpu={budget.cpu:g}: where work is skipped, what rows would have met is "
            f"known too roughly: leave features out, or give rows= or memory="
        )
    if how == How.ANTI:
        raise SpecError(
            f'{shown} with how="anti": columns tell which rows find partners, and rows without '
            f"one are wanted: leave features out"
        )
