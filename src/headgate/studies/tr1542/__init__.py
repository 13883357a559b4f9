"""Ayad, Naughton, Wright, Srivastava: streaming window joins under CPU limitations (2005)."""

from headgate.studies.study import Study
from headgate.studies.tr1542 import correlation, grid, offline, statistics, uniform

STUDIES: tuple[Study, ...] = (
    offline.STUDY,
    correlation.STUDY,
    grid.STUDY,
    statistics.STUDY,
    uniform.STUDY,
)
