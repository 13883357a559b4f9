"""Kang, Naughton, Viglas: Evaluating Window Joins over Unbounded Streams (ICDE 2003)."""

from headgate.studies.icde03 import fig5, fig6, fig7, table3
from headgate.studies.study import Study

STUDIES: tuple[Study, ...] = (table3.STUDY, fig5.STUDY, fig6.STUDY, fig7.STUDY)
