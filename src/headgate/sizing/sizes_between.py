"""Further memory sizes to try, between those where a policy's recall rises steeply."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from headgate.policies import Policy
from headgate.sizing.grid import Cell
from headgate.sizing.points import budget_like
from headgate.sizing.what_if import SizingPoint
from headgate.spec import Budget

STEEP = 0.15
"""How far recall may rise from one size to the next without a look in between."""
ROUNDS = 2
Trial = Callable[[Sequence[Cell]], tuple[SizingPoint, ...]]


def tried_between(
    points: Sequence[SizingPoint], policies: Sequence[Policy], like: Budget, trial: Trial
) -> tuple[SizingPoint, ...]:
    """Try each policy where its recall rises steeply, and once more where it still does."""
    found: list[SizingPoint] = []
    for _ in range(ROUNDS):
        cells = []
        for policy in policies:
            curve = [point for point in (*points, *found) if point.policy == policy.label]
            cells += [Cell(policy, budget_like(like, rows=rows)) for rows in sizes_between(curve)]
        if not cells:
            break
        found += trial(cells)
    return tuple(found)


def sizes_between(curve: Sequence[SizingPoint]) -> Iterator[int]:
    """The middle of each two neighbouring sizes, in rows, between which recall rises steeply.

    Examples
    --------
    >>> tried = [(10, 0.05), (50, 0.5), (100, 0.6), (101, 0.9)]
    >>> list(sizes_between([SizingPoint("FIFO", rows, 0, at, at, at) for rows, at in tried]))
    [30]
    """
    known = sorted([(0, 0.0), *((point.rows, point.recall) for point in curve)])
    for (rows, recall), (more, higher) in pairwise(known):
        if abs(higher - recall) > STEEP and more - rows > 1:
            yield (rows + more) // 2
