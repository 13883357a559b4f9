"""Scores by class and age in plain Python, for the twin; shares nothing with compiled code."""

from headgate.models.class_ages import ClassAges
from headgate.policies.kinds.plain_score import PlainRow, PlainScore, ScoreMoment


class PlainClassAgeScore(PlainScore):
    """Scores by class and age in plain Python."""

    def worth(self, row: PlainRow, now: ScoreMoment) -> tuple[float, int]:
        """The score of the row's class at its age as of the last tick.

        The older of equals goes first; the younger where the score is about to rise.
        """
        ages: ClassAges = self.policy.ages
        tick = 1 << ages.shift
        waited = max(now.time // tick * tick - row.time, 0) // tick
        age = sum(start <= waited for start in ages.starts(row.side).tolist()) - 1
        scores = ages.scores(row.side)
        of_class = scores[min(max(int(row.weight), 0), len(scores) - 1)].tolist()
        rises = age + 1 < len(of_class) and of_class[age + 1] > of_class[age]
        score = self.importance(row, now.definition) * of_class[age]
        return score, -row.position if rises else row.position
