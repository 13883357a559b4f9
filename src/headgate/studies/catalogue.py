"""The list of all studies, and finding them by name."""

from collections.abc import Sequence

from headgate.spec import SpecError
from headgate.studies import (
    auto,
    icde03,
    ijoin,
    learned,
    planned,
    sampled,
    sigmod05,
    tr1542,
    vldb04,
)
from headgate.studies.study import Study

ALL_STUDIES: tuple[Study, ...] = (
    *vldb04.STUDIES,
    *sigmod05.STUDIES,
    *tr1542.STUDIES,
    *icde03.STUDIES,
    *ijoin.STUDIES,
    *learned.STUDIES,
    *sampled.STUDIES,
    *auto.STUDIES,
    *planned.STUDIES,
)


def study_named(name: str) -> Study:
    """The study of exactly this name."""
    return next(study for study in ALL_STUDIES if study.name == name)


def chosen(names: Sequence[str]) -> tuple[Study, ...]:
    """The requested studies, by name or by paper; all of them by default.

    Examples
    --------
    >>> [study.name for study in chosen(["vldb04-fig7"])]
    ['vldb04-fig7']
    >>> chosen(["vldb04"]) == vldb04.STUDIES
    True
    """
    for name in names:
        if not any(_asked(study, name) for study in ALL_STUDIES):
            known = ", ".join(study.name for study in ALL_STUDIES)
            raise SpecError(f'no study is called "{name}": give a paper or some of {known}')
    if not names:
        return ALL_STUDIES
    return tuple(study for study in ALL_STUDIES if any(_asked(study, name) for name in names))


def _asked(study: Study, name: str) -> bool:
    return study.name == name or study.name.startswith(f"{name}-")
