"""Beyond the papers: models learned from the stream, drift, and the accuracy of live recall."""

from headgate.studies.learned import drift, intervals, kinds_intervals, policy_intervals, told
from headgate.studies.study import Study

STUDIES: tuple[Study, ...] = (
    told.STUDY,
    drift.STUDY,
    intervals.STUDY,
    kinds_intervals.STUDY,
    policy_intervals.STUDY,
)
