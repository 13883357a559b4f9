"""Kang, Naughton, Viglas: Evaluating Window Joins over Unbounded Streams (ICDE 2003)."""

from headgate.studies.icde03 import fig2, fig4, fig5, fig6, fig7, grid, table3
from headgate.studies.study import Study

STUDIES: tuple[Study, ...] = (
    table3.STUDY,
    fig2.STUDY,
    fig4.STUDY,
    grid.STUDY,
    fig5.STUDY,
    fig6.STUDY,
    fig7.STUDY,
)
