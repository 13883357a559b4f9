"""Learns age curves: matches of watched rows per age, and how many rows reached that age."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from headgate.models import AgeCurve, AgeCurves

ENOUGH_MATCHES = 20
MATCHES_A_BUCKET = 4
ENOUGH_ROWS = 1.5
"""Watched rows that must have passed through an age bucket before it is used."""


class Fading(NamedTuple):
    """Decline of the match rate as rows age."""

    rate: float
    """0.1 where they match about a tenth less often with every stay."""
    error: float
    """What may be chance: the logarithm of a count is known to about 1 / √count."""


@dataclass
class AgeLearner:
    """Matches and rows per side and bucket of age, older ones counting for less.

    Parameters
    ----------
    windows_us
        The sides' windows.
    widths_us
        How long a bucket is on each side.
    buckets
        How many there are.
    """

    windows_us: tuple[int, int]
    widths_us: tuple[int, int]
    buckets: int
    matches: np.ndarray = field(init=False)
    rows: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.matches = np.zeros((2, self.buckets))
        self.rows = np.zeros((2, self.buckets))

    def forget(self, factor: float) -> None:
        """Discount all that was learned by ``factor``."""
        self.matches *= factor
        self.rows *= factor

    def followed(self, side: int, since: np.ndarray, until: np.ndarray) -> np.ndarray:
        """For rows followed between two ages: the time that all of them spent in each bucket."""
        window = self.windows_us[side]
        edges = np.arange(self.buckets + 1) * self.widths_us[side]
        passed = _beyond(np.clip(until, 0, window), edges) - _beyond(
            np.clip(since, 0, window), edges
        )
        spent: np.ndarray = passed[:-1] - passed[1:]
        return spent

    def add(self, matches: np.ndarray, spent_us: np.ndarray) -> None:
        """Take in matches, and the time that rows were followed, by side and bucket.

        In single precision, which is more than is known, so that what is written is short.
        """
        self.rows = _single(self.rows + spent_us / np.array(self.widths_us)[:, None])
        self.matches = _single(self.matches + matches)

    def curves(self) -> AgeCurves | None:
        """The curves, once matches are enough; else None.

        Few matches make wide buckets. Ages that no row has reached yet are thought to be like the
        oldest that is known: early on, only there is anything to lose.
        """
        if self.matches.sum() < ENOUGH_MATCHES:
            return None
        return AgeCurves(self._curve(0), self._curve(1))

    def fading(self, stay_us: float) -> Fading:
        """The decline of the match rate per stay of age.

        Parameters
        ----------
        stay_us
            How long rows can be stored on average.

        Examples
        --------
        >>> learner = AgeLearner((100, 0), (10, 1), 10)
        >>> spent = learner.followed(0, np.zeros(1000, int), np.full(1000, 100))
        >>> met = np.repeat([100_000, 50_000], 5)
        >>> learner.add(np.stack([met, 0 * met]), np.stack([spent, 0 * spent]))
        >>> round(learner.fading(stay_us=10).rate, 2)
        0.07
        """
        fading, error, total = 0.0, 0.0, 0.0
        for side, width in enumerate(self.widths_us):
            ages = (np.arange(self.buckets) + 0.5) * width
            young = ages <= max(stay_us, width)
            matches, rows = self.matches[side], self.rows[side]
            spent = rows[young].sum(), rows[~young].sum()
            met = matches[young].sum(), matches[~young].sum()
            if min(*spent, met[0]) <= 0:
                continue
            apart = rows[~young] @ ages[~young] / spent[1] - rows[young] @ ages[young] / spent[0]
            # Half a match more, as none at all is no reason to be sure.
            less = np.log(met[0] / spent[0]) - np.log((met[1] + 0.5) / spent[1])
            chance = np.sqrt(1 / met[0] + 1 / (met[1] + 0.5))
            fading += sum(met) * less * stay_us / apart
            error += sum(met) * chance * stay_us / apart
            total += sum(met)
        return Fading(float(fading / total), float(error / total)) if total else Fading(0.0, 0.0)

    def _curve(self, side: int) -> AgeCurve:
        width = self.widths_us[side]
        used = max(1, -(-self.windows_us[side] // width))
        matches, rows = self.matches[side, :used], self.rows[side, :used]
        together = 1
        while together < used and matches.sum() * together < MATCHES_A_BUCKET * used:
            together *= 2
        first = np.arange(0, used, together)
        matches, rows = np.add.reduceat(matches, first), np.add.reduceat(rows, first)
        known = rows >= ENOUGH_ROWS
        rate = np.divide(matches, rows, out=np.zeros_like(rows), where=known)
        if known.any():
            last = int(np.flatnonzero(known)[-1])
            rate[last + 1 :] = rate[last]
        return AgeCurve(width * together, rate * together)


def _beyond(ages: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """For each edge, by how much all ages together exceed it. O(rows log rows)."""
    ordered = np.sort(ages)
    total = np.concatenate([[0], np.cumsum(ordered[::-1], dtype=np.int64)])
    above = len(ordered) - np.searchsorted(ordered, edges, side="right")
    exceeding: np.ndarray = total[above] - above * edges
    return exceeding


def _single(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float32).astype(np.float64)
