"""Kulkarni and Ravishankar, iJoin: Importance-aware Join Approximation over Data Streams."""

from headgate.studies.ijoin import (
    choice,
    example,
    fairness,
    fig2,
    fig3,
    fig4,
    fig5,
    recompute,
    rivals,
    table6,
)
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
    choice.STUDY,
    recompute.STUDY,
)
