"""Xie, Yang and Chen, On Joining and Caching Stochastic Streams, SIGMOD 2005."""

from headgate.studies.sigmod05 import example, fig6, fig8, fig9to12, fig13to14, fig15, fig16
from headgate.studies.study import Study

STUDIES: tuple[Study, ...] = (
    example.STUDY,
    fig6.STUDY,
    fig8.STUDY,
    fig9to12.STUDY,
    fig13to14.STUDY,
    fig15.STUDY,
    fig16.STUDY,
)
