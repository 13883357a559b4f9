"""Srivastava and Widom, Memory-Limited Execution of Windowed Stream Joins, VLDB 2004."""

from headgate.studies.study import Study
from headgate.studies.vldb04 import examples, fig7, fig10, fig11, more_joins, sampling, wan

STUDIES: tuple[Study, ...] = (
    *examples.STUDIES,
    *wan.STUDIES,
    *fig7.STUDIES,
    *sampling.STUDIES,
    *fig10.STUDIES,
    *fig11.STUDIES,
    *more_joins.STUDIES,
)
