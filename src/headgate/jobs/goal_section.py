"""The goal of a job's join: a word, or a table with that goal's own settings."""

from typing import Any

from headgate.jobs.job_section import JobSection
from headgate.spec import (
    Categories,
    Goal,
    Histogram,
    Importance,
    MaxImportance,
    MaxSubset,
    Sample,
    SpecError,
)

KINDS = ("max-subset", "max-importance", "sample")
_GIVE = 'one of "max-subset", "max-importance" and "sample"'


def read_goal(section: JobSection) -> Goal | None:
    """Read the join's ``goal``: `MaxSubset` if not given, None if it is invalid."""
    if not section.has("goal"):
        section.any("goal")
        return MaxSubset()
    if isinstance(section.any("goal"), dict):
        table = section.section("goal", "")
        assert table is not None
        kind = table.text("kind", _GIVE, required=True)
    else:
        table = JobSection({}, section.at("goal"), section.problems)
        kind = section.text("goal", f"{_GIVE}, or a table with a kind")
    if kind is None:
        return None
    if kind not in KINDS:
        section.problems.note(section.at("goal"), f'join.goal "{kind}" is unknown: give {_GIVE}')
        return None
    made = section.problems.attempt(section.at("goal"), lambda: _made(kind, table))
    table.close()
    return made


def _made(kind: str, table: JobSection) -> Goal:
    if kind == "sample":
        given: dict[str, Any] = {
            "kind": table.text("scheme", 'one of "auto", "uniform" and "cluster"'),
            "fraction": table.number("fraction", "a share above 0 and up to 1"),
            "weight": table.text("weight", "a name for the column of weights"),
            "cluster": table.text("cluster", "a name for the column of clusters"),
        }
        return Sample(**{name: value for name, value in given.items() if value is not None})
    if kind == "max-importance":
        sides: dict[str, Any] = {side: _importance(table, side) for side in ("left", "right")}
        return MaxImportance(**sides, **_given(table, "combine", "column", "fairness"))
    return MaxSubset()


def _given(table: JobSection, *names: str) -> dict[str, Any]:
    """Only the values that are given; for the others the goal's defaults apply."""
    values = {name: table.any(name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _importance(table: JobSection, side: str) -> str | float | Importance | None:
    """Read an importance: a text, a number, or a table of categories or histogram bins."""
    given = table.any(side)
    if not isinstance(given, dict):
        return given  # type: ignore[no-any-return]
    inner = table.section(side, "")
    assert inner is not None
    found = _given(inner, "column", "values", "default", "edges", "importance")
    inner.close()
    wanted = (
        f'give {side} = {{ column = "category", values = {{ politics = 10 }}, default = 1 }}, or '
        f'{side} = {{ column = "price", edges = [0, 10, 100], importance = [1, 5] }}'
    )
    if "column" in found and "values" in found and not found.keys() & {"edges", "importance"}:
        return Categories(found["column"], found["values"], found.get("default", 0.0))
    if found.keys() == {"column", "edges", "importance"}:
        return Histogram(**found)
    raise SpecError(f"{side} is a table of an unknown kind: {wanted}")
