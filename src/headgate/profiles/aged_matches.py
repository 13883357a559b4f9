"""Age curves from counted matches, and the windows needed to cover the matches.

Rows near the end of the data are censored: their windows extend past it. Matches at an age are
therefore divided by the rows observed at that age, not by all rows.
"""

from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from headgate.models import AgeCurve
from headgate.profiles.match_counts import KeyedRows, Matches, count_matches, fine_edges

MOST_BUCKETS = 60
MATCHES_A_BUCKET = 30
"""A curve gets fewer buckets rather than fewer matches in each: noise would look like a shape."""
PERCENTS = (50, 90, 95, 99, 100)


@dataclass(frozen=True)
class AgedMatches:
    """The matches of one stored side by age, and the time its rows were observed at each age."""

    matches: Matches
    edges: np.ndarray
    """Where the buckets begin and end, in microseconds."""
    seen_us: np.ndarray
    """For each bucket, how long rows were of that age, summed over rows and weighted."""
    lived_us: np.ndarray
    """For each row, in the order of `KeyedRows`, how long it was seen within its window."""

    @classmethod
    def of(
        cls, stored: KeyedRows, other: KeyedRows, window: int, side: int, end: int
    ) -> "AgedMatches":
        """Count matches of rows observed up to the time ``end``."""
        width = max(1, -(-window // MOST_BUCKETS))
        buckets = max(1, -(-window // width))
        matches = count_matches(stored, other, window, side, width, buckets)
        # A left row also matches rows of its own timestamp, at age 0; a right row does not.
        instants = 1 - side
        lived = np.minimum(window, end - stored.time) + instants
        edges = np.minimum(np.arange(buckets + 1) * width, window + instants)
        edges[-1] = window + instants
        return cls(matches, edges, _seen(lived, stored.row_weight, edges), lived)

    def merged(self) -> "tuple[np.ndarray, np.ndarray, np.ndarray]":
        """Matches, time observed and edges in fewer buckets, so that each has enough matches."""
        buckets = len(self.seen_us)
        wanted = max(1, self.matches.found // MATCHES_A_BUCKET)
        together = next(n for n in range(1, buckets + 1) if buckets / n <= wanted)
        starts = np.arange(0, buckets, together)
        edges = np.append(self.edges[starts], self.edges[-1])
        return (
            np.add.reduceat(self.matches.ages, starts),
            np.add.reduceat(self.seen_us, starts),
            edges,
        )

    @property
    def curve(self) -> AgeCurve:
        """The matches a row makes in each age bucket if it is stored throughout."""
        matches, seen, edges = self.merged()
        rate = np.divide(matches, seen, out=np.zeros(len(seen)), where=seen > 0)
        return AgeCurve(max(int(edges[1]), 1), rate * np.diff(edges))

    def windows_needed(self, rows: KeyedRows, end: int) -> dict[int, timedelta]:
        """The age by which each of `PERCENTS` of the matches was made; empty without matches."""
        found = self.matches
        if found.oldest < 0:
            return {}
        edges = fine_edges()
        watched = np.sort(end - rows.time)
        alive = len(watched) - np.searchsorted(watched, edges[:-1], "left")
        weight = found.fine * (len(watched) / np.maximum(alive, 1))
        by_age = np.concatenate([[0.0], np.cumsum(weight)])
        ages = np.interp(np.array(PERCENTS) / 100 * by_age[-1], by_age, edges)
        whole = np.minimum(np.ceil(ages), found.oldest)
        whole[-1] = found.oldest
        return {
            percent: timedelta(microseconds=int(age))
            for percent, age in zip(PERCENTS, whole, strict=True)
        }


def _seen(lived: np.ndarray, weight: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """For each bucket, the weighted sum over rows of the time that the row spent in it."""
    order = np.argsort(lived)
    sums = np.concatenate([[0.0], np.cumsum(lived[order] * weight[order])])
    weights = np.concatenate([[0.0], np.cumsum(weight[order])])
    before = np.searchsorted(lived[order], edges)
    up_to = sums[before] + (weights[-1] - weights[before]) * edges.astype(np.float64)
    return np.diff(up_to)
