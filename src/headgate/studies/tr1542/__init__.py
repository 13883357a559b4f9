"""Ayad, Naughton, Wright, Srivastava: streaming window joins under CPU limitations (2005)."""

from headgate.studies.study import Study
from headgate.studies.tr1542 import offline, uniform

STUDIES: tuple[Study, ...] = (uniform.STUDY, offline.STUDY)
