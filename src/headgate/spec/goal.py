"""What the best answer is: here, the most result rows."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """What a join within a budget tries to make the most of."""


@dataclass(frozen=True)
class MaxSubset(Goal):
    """Produce as many rows of the exact result as the budget can buy.

    Examples
    --------
    >>> MaxSubset()
    MaxSubset()
    """
