"""Crossovers: the ratio of rates at which two pairs of structures cost the same.

Costs are linear in the rates, so the ratio has an exact solution.
"""

from headgate.models.cost.structure import Pair
from headgate.models.cost.unit_time import BUCKET_ROWS, NODE_ROWS, join_cost
from headgate.models.cost.weights import PAPER_WEIGHTS, Weights

PAPER_CROSSOVERS = (("TN", "TH"), ("TH", "HH"), ("HH", "HT"), ("HT", "NT"))
"""The neighbours of Figure 2, from the slowest stream A to the fastest."""


def crossover(
    one: "str | Pair",
    other: "str | Pair",
    windows: tuple[float, float],
    weights: Weights = PAPER_WEIGHTS,
    node: int = NODE_ROWS,
    bucket: float = BUCKET_ROWS,
) -> float | None:
    """λa/λb at which two pairs of structures cost the same; None if one is never dearer.

    Examples
    --------
    Equation 8 for a window B of 500 rows. Window A does not matter: both have a tree over it.

    >>> round(crossover("TN", "TH", windows=(5000, 500)), 4)
    0.0094

    References
    ----------
    Kang, Naughton, Viglas, ICDE 2003, Equations 8 to 11. Solved from the costs: as printed,
    Equations 9 and 10 carry on a slip of Equation 6.
    """
    by_a, by_b = (
        join_cost(one, rates, windows, weights, node, bucket)
        - join_cost(other, rates, windows, weights, node, bucket)
        for rates in ((1.0, 0.0), (0.0, 1.0))
    )
    if by_a * by_b >= 0:
        return None
    return -by_b / by_a


def paper_crossovers(
    windows: tuple[float, float],
    weights: Weights = PAPER_WEIGHTS,
    node: int = NODE_ROWS,
    bucket: float = BUCKET_ROWS,
) -> tuple[float | None, ...]:
    """The four crossovers of Figure 2, TN–TH, TH–HH, HH–HT and HT–NT, for other windows.

    Examples
    --------
    >>> [round(ratio, 4) for ratio in paper_crossovers((5000, 5000))]
    [0.0009, 0.2759, 3.6243, 1098.8971]
    """
    return tuple(
        crossover(one, other, windows, weights, node, bucket) for one, other in PAPER_CROSSOVERS
    )
