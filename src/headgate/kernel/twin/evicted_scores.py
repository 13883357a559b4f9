"""Sampling thresholds in plain Python: every evicted score kept in a list."""

from collections.abc import Sequence
from dataclasses import dataclass

from headgate.kernel.layout import LEFT, RIGHT
from headgate.kernel.step_progress import Thresholds
from headgate.policies.kinds.plain_score import PlainRow


@dataclass
class EvictedScores:
    """The scores a pool has evicted, each with the number of rows of either side seen by then."""

    log: list[tuple[float, int, int]]

    def note(self, score: float, seen: Sequence[int]) -> None:
        """Record an evicted score."""
        self.log.append((score, seen[LEFT], seen[RIGHT]))

    def threshold(self, row: PlainRow) -> float:
        """The highest score evicted since a row arrived; 0 where there is none."""
        since = (entry[0] for entry in self.log if entry[1 + row.side] > row.sequence)
        return max(since, default=0.0)

    def passed_by(self, stored: Sequence[PlainRow]) -> Thresholds:
        """Evicted scores not exceeded by a later one, and newer than some stored row."""
        highest = [
            entry
            for at, entry in enumerate(self.log)
            if all(entry[0] > later[0] for later in self.log[at + 1 :])
        ]
        return tuple(
            entry for entry in highest if any(entry[1 + row.side] > row.sequence for row in stored)
        )
