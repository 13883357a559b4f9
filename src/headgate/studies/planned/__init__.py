"""Beyond the papers: whether plans reach the recall they predict."""

from headgate.studies.planned import intervals
from headgate.studies.study import Study

STUDIES: tuple[Study, ...] = (intervals.STUDY,)
