"""Output as a function of memory, and the best split of memory between two sides."""

from dataclasses import dataclass

import numpy as np

from headgate.spec import SpecError

PASSES = 8
"""Passes over all points of a curve before those that are left are looked at one by one."""


@dataclass(frozen=True, eq=False)
class MemoryCurve:
    """Matches per unit of time against stored rows: straight between points, flat after the last.

    Examples
    --------
    >>> MemoryCurve([0, 10, 20], [0, 5, 6]).at(15)
    5.5
    """

    rows: np.ndarray
    output: np.ndarray

    def __post_init__(self) -> None:
        rows, output = np.array(self.rows, np.float64), np.array(self.output, np.float64)
        if len(rows) != len(output) or len(rows) == 0 or np.any(np.diff(rows) < 0):
            raise SpecError("memory curve: give as many outputs as rows, rows ascending")
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "output", output)

    @property
    def most(self) -> float:
        """Output with all the memory it could use."""
        return float(self.output.max())

    def at(self, rows: float) -> float:
        """Output with so many stored rows."""
        return float(self.over(np.array([rows]))[0])

    def over(self, rows: np.ndarray) -> np.ndarray:
        """Output for each number of stored rows."""
        output: np.ndarray = np.interp(rows, self.rows, self.output)
        return output

    def concave(self) -> "MemoryCurve":
        """The concave hull: the least concave curve above this one.

        An amount of memory between two others can alternate between what they achieve, keeping some
        rows long and some short (Example 3.4 of VLDB 2004).

        Examples
        --------
        >>> MemoryCurve([0, 1, 2, 3], [0, 3, 3, 5]).concave().at(2)
        4.0
        """
        rows, first = np.unique(self.rows, return_index=True)
        output = np.maximum.reduceat(self.output, first)
        # There may be a point a key. Those on or under the line between their neighbours are off
        # the hull; usually one pass leaves none of them.
        for _ in range(PASSES):
            inner = _is_above(rows, output)
            if inner.all():
                return MemoryCurve(rows, output)
            keep = np.concatenate([[True], inner, [True]])
            rows, output = rows[keep], output[keep]
        kept = _hull(rows.tolist(), output.tolist())
        return MemoryCurve(rows[kept], output[kept])

    def per(self, row_bytes: float) -> "MemoryCurve":
        """The same against bytes, for rows of so many bytes."""
        return MemoryCurve(self.rows * row_bytes, self.output)


def _is_above(rows: np.ndarray, output: np.ndarray) -> np.ndarray:
    """Whether each point but the first and last lies above the line between its neighbours."""
    rises, runs = np.diff(output), np.diff(rows)
    above: np.ndarray = rises[:-1] * (runs[:-1] + runs[1:]) > (rises[:-1] + rises[1:]) * runs[:-1]
    return above


def _hull(rows: list[float], output: list[float]) -> list[int]:
    """The places of the points of a concave hull."""
    keep: list[int] = []
    for at, (row, made) in enumerate(zip(rows, output, strict=True)):
        while len(keep) > 1:
            last, before = keep[-1], keep[-2]
            rise, run = output[last] - output[before], rows[last] - rows[before]
            if rise * (row - rows[before]) > (made - output[before]) * run:
                break
            # The last point lies on or under the line from the one before to this one.
            keep.pop()
        keep.append(at)
    return keep


@dataclass(frozen=True)
class Split:
    """How memory is shared between the sides, and what that is expected to yield.

    Examples
    --------
    >>> Split(left=300, right=100, output=12.0, recall=0.8).recall
    0.8
    """

    left: float
    right: float
    output: float
    recall: float


def best_split(left: MemoryCurve, right: MemoryCurve, rows: float) -> Split:
    """The division of so many rows of memory that makes the joint output greatest.

    The sum of two piecewise linear curves is greatest at a corner of one of them, so only corners
    are tried: the answer is exact.

    Examples
    --------
    >>> best_split(MemoryCurve([0, 10], [0, 5]), MemoryCurve([0, 4], [0, 8]), 10)
    Split(left=6.0, right=4.0, output=11.0, recall=0.846...)
    """
    corners = np.concatenate([[0.0, rows], left.rows, rows - right.rows])
    candidates = np.unique(corners[(corners >= 0) & (corners <= rows)])
    outputs = left.over(candidates) + right.over(rows - candidates)
    at = int(np.argmax(outputs))
    most = left.most + right.most
    return Split(
        float(candidates[at]),
        float(rows - candidates[at]),
        float(outputs[at]),
        float(outputs[at] / most) if most else 1.0,
    )


def together(left: MemoryCurve, right: MemoryCurve) -> MemoryCurve:
    """Output of both sides against memory that is split optimally.

    Each unit of memory goes where output rises most, so the pieces of both (concave) curves come in
    order of slope; `best_split` gives the same at each amount.

    Examples
    --------
    >>> both = together(MemoryCurve([0, 10], [0, 5]), MemoryCurve([0, 4], [0, 8]))
    >>> both.at(4), both.at(10), both.most
    (8.0, 11.0, 13.0)
    """
    curves = [left.concave(), right.concave()]
    runs = np.concatenate([np.diff(curve.rows) for curve in curves])
    rises = np.concatenate([np.diff(curve.output) for curve in curves])
    order = np.argsort(-rises / runs, kind="stable")
    start = sum(float(curve.rows[0]) for curve in curves)
    base = sum(float(curve.output[0]) for curve in curves)
    return MemoryCurve(
        start + np.concatenate([[0.0], np.cumsum(runs[order])]),
        base + np.concatenate([[0.0], np.cumsum(rises[order])]),
    )
