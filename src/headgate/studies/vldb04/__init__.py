"""Srivastava and Widom, Memory-Limited Execution of Windowed Stream Joins, VLDB 2004."""

from headgate.studies.study import Study
from headgate.studies.vldb04 import examples, fig7, sampling, wan

STUDIES: tuple[Study, ...] = (*examples.STUDIES, *wan.STUDIES, *fig7.STUDIES, *sampling.STUDIES)
