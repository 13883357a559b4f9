"""Beyond the papers: models learned from the stream, how they follow it, and what recall says."""

from headgate.studies.learned import drift, intervals, told
from headgate.studies.study import Study

STUDIES: tuple[Study, ...] = (told.STUDY, drift.STUDY, intervals.STUDY)
