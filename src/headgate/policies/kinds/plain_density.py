"""Density scores in plain Python, for the twin; shares nothing with compiled code."""

import math
from collections.abc import Sequence

import numpy as np

from headgate.models.density_classes import NEWCOMER, match_class
from headgate.models.match_density import MatchDensity
from headgate.policies.kinds.plain_score import PlainRow, PlainScore, ScoreMoment


class PlainDensityScore(PlainScore):
    """Density scores in plain Python."""

    def pairs(
        self,
        row: PlainRow,
        other: PlainRow,
        worth: float,
        rows: Sequence[PlainRow],
        now: ScoreMoment,
    ) -> None:
        """Count the match for the row that was stored."""
        other.matches += 1
        other.touched = max(other.touched, row.time)

    def worth(self, row: PlainRow, now: ScoreMoment) -> tuple[float, int]:
        """The score of the row's class at the last tick; the older of equals goes first."""
        density: MatchDensity = self.policy.density
        classes = density.classes
        tick = 1 << classes.shift
        begun = now.time // tick * tick
        age, gap = (
            sum(edge <= max(begun - since, 0) // tick * tick for edge in edges[1:].tolist())
            for since, edges in (
                (row.time, classes.age_edges(row.side)),
                (row.touched, classes.gap_edges(row.side)),
            )
        )
        place = float(classes.rate_places(row.side, np.array([row.weight]))[0])
        rate = math.floor(place)
        of_rate = density.table[row.side, :, match_class(row.matches), gap, age].tolist()
        score = of_rate[rate]
        if place > rate:
            score += (place - rate) * (of_rate[rate + 1] - score)
        return score, row.position

    def least(
        self, pool: int, stored: list[PlainRow], newcomer: PlainRow | None, now: ScoreMoment
    ) -> PlainRow | None:
        """The row of lowest score; an arrival counts for a little less than if it were stored."""
        worths = {row.position: self.worth(row, now) for row in stored}
        if newcomer is not None:
            score, order = self.worth(newcomer, now)
            worths[newcomer.position] = NEWCOMER * score, order
            stored = [*stored, newcomer]
        return min(stored, key=lambda row: worths[row.position])
