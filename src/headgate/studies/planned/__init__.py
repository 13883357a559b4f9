"""Beyond the papers: whether plans keep what they promise."""

from headgate.studies.planned import intervals
from headgate.studies.study import Study

STUDIES: tuple[Study, ...] = (intervals.STUDY,)
