"""The small optimisation problems behind the strategies."""

import math
from typing import TYPE_CHECKING

import numpy as np

from headgate.models.knapsack import best_rule

if TYPE_CHECKING:
    from scipy.sparse import coo_array

NOTHING = 1e-9
"""Of all that could be used; a limit below is as good as none of it."""


def fill(gain: np.ndarray, cost: np.ndarray, budget: float) -> np.ndarray:
    """Solve the fractional knapsack: the share of each item for the greatest gain in a budget.

    Items are taken by gain per cost, so all but tied ones are taken whole or not at all. Items
    without gain come last.

    Examples
    --------
    >>> fill(np.array([6.0, 4.0, 0.0]), np.array([3.0, 4.0, 1.0]), 5.0).tolist()
    [1.0, 0.5, 0.0]
    """
    return best_rule(gain, cost, budget).shares(gain, cost, np.zeros(len(gain)))


def fill_twice(
    gain: np.ndarray, cost: np.ndarray, budget: float, room: np.ndarray, limit: float
) -> np.ndarray:
    """The same where items also take up room, which is limited too.

    Examples
    --------
    >>> gain, cost, room = np.array([6.0, 4.0]), np.array([3.0, 1.0]), np.array([1.0, 3.0])
    >>> fill_twice(gain, cost, 2.0, room, 2.0).round(6).tolist()
    [0.5, 0.5]
    """
    return best_rule(gain, cost, budget, room, limit).shares(gain, cost, room)


def greatest_product(a: float, b: float, c: float, budget: float) -> tuple[float, float]:
    """Shares x and y of at most 1 with the greatest x·y, where a·x + b·y + c·x·y is affordable.

    For a product q, a·x + b·y is least where both terms are √(a·b·q), which leaves a quadratic in
    √q. A share that would pass 1 stays there, and the other has the rest.

    Examples
    --------
    >>> greatest_product(1.0, 1.0, 2.0, 1.5)
    (0.5, 0.5)
    >>> greatest_product(1.0, 16.0, 0.0, 9.0)
    (1.0, 0.5)
    """
    if a + b + c <= budget:
        return 1.0, 1.0
    middle = math.sqrt(a * b)
    if middle > 0:
        # The root of c·s² + 2·middle·s = budget, in the form that loses no digits for small c.
        root = budget / (middle + math.sqrt(middle * middle + c * budget))
        x, y = root * math.sqrt(b / a), root * math.sqrt(a / b)
        if x <= 1 and y <= 1:
            return x, y
        is_x_full = x > 1
    else:
        is_x_full = a <= b
    full, rest = (a, b) if is_x_full else (b, a)
    other = min((budget - full) / (rest + c), 1.0)
    return (1.0, other) if is_x_full else (other, 1.0)


def solve(
    gain: np.ndarray, use: np.ndarray, limits: np.ndarray, follows: "coo_array | None" = None
) -> np.ndarray:
    """Solve a linear program with HiGHS: the shares, at most 1, with the greatest gain.

    Parameters
    ----------
    gain
        Gain of each item.
    use
        What each item uses of each limited resource, one row per limit.
    limits
        How much there is.
    follows
        Linear combinations of shares that must not exceed 0, one per row.

    Examples
    --------
    >>> use = np.array([[3.0, 1.0], [1.0, 3.0]])
    >>> solve(np.array([1.0, 1.0]), use, np.array([2.0, 2.0])).round(3).tolist()
    [0.5, 0.5]
    """
    from scipy import sparse  # slow to import
    from scipy.optimize import linprog

    most = use.sum(axis=1)
    none_left = limits <= NOTHING * most
    out = ((use > 0) & none_left[:, np.newaxis]).any(axis=0)
    scale = np.where(none_left, np.where(most > 0, most, 1.0), limits)[:, np.newaxis]
    lines = sparse.csr_array(np.where(none_left[:, np.newaxis], 0.0, use) / scale)
    solved = linprog(
        -gain / (float(gain.max(initial=0.0)) or 1.0),
        A_ub=lines if follows is None else sparse.vstack([lines, follows]),
        b_ub=np.append(np.ones(len(limits)), np.zeros(0 if follows is None else follows.shape[0])),
        bounds=np.column_stack([np.zeros(len(gain)), ~out]),
        method="highs",
    )
    parts: np.ndarray = np.clip(solved.x, 0.0, 1.0)
    # The solver has a tolerance; limits are enforced exactly.
    over = float((lines @ parts).max(initial=0.0))
    return parts / over if over > 1 else parts
