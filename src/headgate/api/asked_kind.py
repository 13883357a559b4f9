"""Checks that the rest of a join suits its kind: inner, outer, semi or anti."""

from headgate.api.asked_features import check_features
from headgate.policies import Policy
from headgate.spec import Budget, Goal, How, MaxImportance, Sample, SpecError


def check_kind(
    how: How,
    goal: Goal | None,
    budget: Budget,
    policy: Policy,
    features: tuple[str, ...] = (),
) -> None:
    """Raise where a goal, budget or policy has no meaning for this kind of join.

    Examples
    --------
    >>> from headgate.policies import Fifo
    >>> check_kind(How.LEFT, None, Budget(cpu=0.5), Fifo())
    Traceback (most recent call last):
    ...
    headgate.spec.errors.SpecError: how="left" with cpu=0.5: work is skipped, so it is not \
known which rows have a partner: give rows= or memory=
    """
    check_features(features, how, budget)
    if how == How.INNER:
        return
    if isinstance(goal, Sample) or policy.samples:
        raise SpecError(
            f'how="{how}" with a sample: its weights are those of pairs, and rows without a '
            f'partner have none: give how="inner", or another goal'
        )
    if isinstance(goal, MaxImportance):
        raise SpecError(
            f'how="{how}" with MaxImportance: importance is of pairs, and a row without a '
            f'partner is no pair: give how="inner", or leave the goal out'
        )
    if budget.cpu is not None:
        raise SpecError(
            f'how="{how}" with cpu={budget.cpu:g}: work is skipped, so it is not known which '
            f"rows have a partner: give rows= or memory="
        )
    policy.check_kind(how)
    if policy.is_offline:
        raise SpecError(
            f'how="{how}" with policy "{policy.label.lower()}", which plans pairs: choose another '
            f'policy, or give how="inner"'
        )
