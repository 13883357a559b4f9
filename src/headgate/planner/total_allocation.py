"""Dividing one memory budget so that the parts together make the most output."""

from collections.abc import Mapping

import numpy as np

from headgate.models.memory_curve import MemoryCurve
from headgate.spec import SpecError


def most_output(
    outputs: Mapping[str, MemoryCurve],
    memory: int,
    least: Mapping[str, int],
    most: Mapping[str, int],
) -> dict[str, int]:
    """Divide memory among parts so that their outputs add up to the most.

    Every part first gets its ``least``. The rest goes, piece by piece, where output rises most for
    the memory, up to each part's ``most``: the best there is where the curves are concave, and the
    best of their concave hulls otherwise. Memory that raises no output goes where there is room.

    Examples
    --------
    >>> hot, cold = MemoryCurve([0, 80], [0, 800]), MemoryCurve([0, 50, 100], [0, 100, 120])
    >>> parts = {"hot": hot, "cold": cold}
    >>> most_output(parts, 100, least={"hot": 10, "cold": 10}, most={"hot": 90, "cold": 90})
    {'hot': 80, 'cold': 20}
    >>> most_output(parts, 100, least={"hot": 10, "cold": 10}, most={"hot": 60, "cold": 60})
    {'hot': 60, 'cold': 40}
    """
    if not sum(least.values()) <= memory <= sum(most.values()):
        raise SpecError(
            f"{memory:,} cannot be divided among parts that take {sum(least.values()):,} at least "
            f"and {sum(most.values()):,} at most"
        )
    given = {name: float(least[name]) for name in outputs}
    left = memory - sum(given.values())
    pieces = sorted(_pieces(outputs, least), key=lambda piece: -piece[0])
    for name, size in [(name, size) for _, name, size in pieces] + [(n, memory) for n in outputs]:
        taken = min(size, left, most[name] - given[name])
        given[name] += taken
        left -= taken
    whole = {name: int(amount) for name, amount in given.items()}
    # What rounding down leaves over is less than a row or byte a part.
    by_remainder = sorted(whole, key=lambda name: whole[name] - given[name])
    for name in by_remainder[: memory - sum(whole.values())]:
        whole[name] += 1
    return whole


def _pieces(
    outputs: Mapping[str, MemoryCurve], least: Mapping[str, int]
) -> list[tuple[float, str, float]]:
    """Rising pieces of the curves beyond the least memory: slope, whose it is, and length."""
    pieces = []
    for name, output in outputs.items():
        hull = output.concave()
        at = np.unique(np.append(hull.rows[hull.rows > least[name]], least[name]))
        runs, rises = np.diff(at), np.diff(hull.over(at))
        pieces += [
            (float(rise / run), name, float(run))
            for run, rise in zip(runs, rises, strict=True)
            if rise > 0
        ]
    return pieces
