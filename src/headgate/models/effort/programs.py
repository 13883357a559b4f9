"""The small programs that the strategies come down to."""

import math

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

HALVINGS = 48
NOTHING = 1e-9
"""Of all that could be used; a limit below is as good as none of it."""


def fill(gain: np.ndarray, cost: np.ndarray, budget: float) -> np.ndarray:
    """How much of each thing to take for the greatest gain within a budget; parts may be taken.

    Taken by gain a cost, so all but one are taken whole or not at all. What brings nothing comes
    last. O(things log things).

    Examples
    --------
    >>> fill(np.array([6.0, 4.0, 0.0]), np.array([3.0, 4.0, 1.0]), 5.0).tolist()
    [1.0, 0.5, 0.0]
    """
    free = cost <= 0
    worth = np.where(free, np.inf, gain / np.where(free, 1.0, cost))
    order = np.argsort(-worth, kind="stable")
    before = np.cumsum(cost[order]) - cost[order]
    share = np.ones(len(gain))
    paid = order[~free[order]]
    share[paid] = np.clip((budget - before[~free[order]]) / cost[paid], 0.0, 1.0)
    return share


def fill_twice(
    gain: np.ndarray, cost: np.ndarray, budget: float, room: np.ndarray, limit: float
) -> np.ndarray:
    """The same where things take up room as well, and that is limited too.

    Room has a price, found by halving. Just below it too much room is taken, just above it not all
    of it; both are best at the price itself, and so is any mixture. O(things log things) a halving.

    Examples
    --------
    >>> gain, cost, room = np.array([6.0, 4.0]), np.array([3.0, 1.0]), np.array([1.0, 3.0])
    >>> fill_twice(gain, cost, 2.0, room, 2.0).round(6).tolist()
    [0.5, 0.5]
    """
    crowded = fill(gain, cost, budget)
    if room @ crowded <= limit:
        return crowded
    roomy = np.where(room > 0, 0.0, crowded)
    takes = room > 0
    low, high = 0.0, float((gain[takes] / room[takes]).max())
    for _ in range(HALVINGS):
        price = (low + high) / 2
        worth = gain - price * room
        part = fill(np.maximum(worth, 0.0), cost, budget) * (worth > 0)
        if room @ part <= limit:
            roomy, high = part, price
        else:
            crowded, low = part, price
    much, little = room @ crowded, room @ roomy
    share = (limit - little) / (much - little) if much > little else 0.0
    return share * crowded + (1 - share) * roomy


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
    gain: np.ndarray, use: np.ndarray, limits: np.ndarray, follows: sparse.coo_array | None = None
) -> np.ndarray:
    """Parts of at most 1 with the greatest gain that keep within every limit, by HiGHS.

    Parameters
    ----------
    gain
        Of each thing.
    use
        What each takes of what is limited, a line a limit.
    limits
        How much there is.
    follows
        Sums of parts that must not be above 0, a line a sum.

    Examples
    --------
    >>> use = np.array([[3.0, 1.0], [1.0, 3.0]])
    >>> solve(np.array([1.0, 1.0]), use, np.array([2.0, 2.0])).round(3).tolist()
    [0.5, 0.5]
    """
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
    # The solver allows itself a little; a limit is a limit.
    over = float((lines @ parts).max(initial=0.0))
    return parts / over if over > 1 else parts
