"""Kulkarni and Ravishankar, iJoin: Importance-aware Join Approximation over Data Streams."""

from headgate.studies.ijoin import example, fairness, fig2, fig3, fig4, fig5, rivals, table6
from headgate.studies.study import Study

STUDIES: tuple[Study, ...] = (
    example.STUDY,
    fig2.STUDY,
    fig3.STUDY,
    fig4.STUDY,
    fig5.STUDY,
    table6.STUDY,
    fairness.STUDY,
    rivals.STUDY,
)
