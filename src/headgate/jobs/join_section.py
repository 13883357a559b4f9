"""Builds a job's `WindowJoin` from the tables of the file, checking each part on its own."""

from functools import partial
from pathlib import Path
from typing import Any

from headgate.api.window_join import WindowJoin
from headgate.jobs.goal_section import read_goal
from headgate.jobs.job_section import JobSection
from headgate.jobs.source_section import SourceSection
from headgate.kernel.index_choice import parse_index
from headgate.policies import make_policy
from headgate.profiles.profile import Profile
from headgate.spec import (
    Band,
    Budget,
    Compare,
    MaxImportance,
    Predicate,
    Sample,
    Side,
    SpecError,
)
from headgate.spec.how import parse_how
from headgate.spec.window import parse_window

_LIMITS = ("rows", "memory", "cpu")


def read_side(section: JobSection) -> tuple[Side | None, tuple[str, ...] | None]:
    """Read the time, window and key of a side."""
    problems = section.problems
    time = section.text("time", "the column with the event time", required=True)
    window = section.text(
        "window", 'how long a row waits, such as "10 minutes" or "1000 rows"', required=True
    )
    parsed = None
    if window is not None:
        parsed = problems.attempt(section.at("window"), lambda: parse_window(window))
    key = section.texts("key", 'the key column, or several, such as ["id", "region"]')
    if time is None or parsed is None:
        return None, key
    return Side(time, parsed), key


def read_join(
    section: JobSection,
    sides: tuple[JobSection, JobSection],
    sources: tuple[SourceSection | None, SourceSection | None],
) -> WindowJoin | None:
    """Read the join; return None if it is invalid."""
    problems, before = section.problems, section.problems.count
    (left, left_key), (right, right_key) = (read_side(side) for side in sides)
    budget = _read_budget(section)
    goal = read_goal(section)
    where = _read_where(section)
    settings = _read_settings(section, keyed=left_key is not None)
    seen = _read_profile(section)
    if left_key is None and right_key is None and where is None and not section.has("where"):
        given = any(side.has("key") for side in sides)
        if not given:
            for side in sides:
                side.missing("key", "the column that must be equal on both sides, or join.where")
    elif (left_key is None) != (right_key is None):
        lacking = sides[0] if left_key is None else sides[1]
        if not lacking.has("key"):
            lacking.missing("key", "as many key columns as on the other side")
    _check_columns(sides, sources, (left, right), (left_key, right_key), where)
    if problems.count > before or not (left and right and budget and goal):
        return None
    given_settings = {name: value for name, value in settings.items() if value is not None}
    sides_given = (left, right)
    is_planned = seen is not None and where is None and settings["policy"] in (None, "auto")
    models = {}
    if seen is not None and (not is_planned or isinstance(goal, Sample)):
        rates = tuple(seen.rates)
        models = {"ages": seen.ages, "frequencies": seen.frequencies, "rates": rates}
    join = problems.attempt(
        section.path,
        lambda: WindowJoin(
            left=sides_given[0],
            right=sides_given[1],
            left_on=left_key,
            right_on=right_key,
            budget=budget,
            goal=goal if section.has("goal") else None,
            where=where,
            **{**models, **given_settings},
        ),
    )
    if join is None or seen is None or not is_planned:
        return join
    return problems.attempt(section.at("profile"), lambda: join.plan(seen, live=True).join)


def _read_settings(section: JobSection, keyed: bool) -> dict[str, Any]:
    """Read what is given by one word or number; None for what is left out."""
    problems = section.problems
    settings: dict[str, Any] = {
        "how": section.text("how", 'the kind of join, such as "left"'),
        "unmatched": section.text("unmatched", 'which rows without a partner, "certain" or "all"'),
        "suffix": section.text("suffix", "the ending for right columns whose name is taken"),
        "seed": section.whole("seed", "a whole number"),
        "policy": section.text("policy", 'the name of a policy, such as "auto"'),
        "prior": section.text("prior", 'what policy "auto" begins with, such as "prob"'),
        "index": section.any("index"),
        "rates": section.any("rates"),
    }
    if settings["how"] is not None:
        problems.attempt(section.at("how"), lambda: parse_how(settings["how"]))
    if settings["policy"] is not None:
        problems.attempt(section.at("policy"), lambda: make_policy(settings["policy"]))
    if settings["index"] is not None:
        problems.attempt(section.at("index"), lambda: parse_index(settings["index"], keyed=keyed))
    return settings


def _read_budget(section: JobSection) -> Budget | None:
    table = section.section("budget", 'a limit, such as { memory = "64 MB" }', required=True)
    if table is None:
        return None
    given = {name: table.any(name) for name in (*_LIMITS, "split", "monitor")}
    given = {name: value for name, value in given.items() if value is not None}
    if isinstance(given.get("split"), list):
        given["split"] = tuple(given["split"])
    table.close()
    before = table.problems.count
    for name, value in given.items():
        alone = {name: value} if name in _LIMITS else {"rows": 1, name: value}
        table.problems.attempt(table.at(name), partial(Budget, **alone))
    if table.problems.count > before:
        return None
    return table.problems.attempt(table.path, lambda: Budget(**given))


def _read_where(section: JobSection) -> Predicate | None:
    """``{ band = "price", lower = -1, upper = 5 }`` or ``{ compare = "amount", op = "<" }``."""
    table = section.section("where", 'a band or comparison, { band = "price", upper = 5 }')
    if table is None:
        return None
    columns = 'the column, or two, such as ["sent", "seen"] for the left and the right one'
    band, compare = table.texts("band", columns), table.texts("compare", columns)
    given = {name: table.any(name) for name in ("lower", "upper", "op")}
    given = {name: value for name, value in given.items() if value is not None}
    table.close()

    def made() -> Predicate:
        named = band or compare
        if named is None or (band and compare) or len(named) > 2:
            raise SpecError(
                'name one column or two: { band = "price", lower = -1, upper = 5 }, '
                '{ band = ["sent", "seen"], lower = "0 seconds", upper = "5 seconds" }, or '
                '{ compare = "amount", op = "<" }'
            )
        sides = {"left": named[0], "right": named[-1]}
        strange = given.keys() & ({"op"} if band else {"lower", "upper"})
        if strange:
            raise SpecError(f"{', '.join(sorted(strange))} does not fit here: leave it out")
        return Band(**sides, **given) if band else Compare(**sides, **given)

    return table.problems.attempt(table.path, made)


def _read_profile(section: JobSection) -> Profile | None:
    """Load a profile saved by ``headgate profile`` or ``headgate plan``."""
    path = section.text("profile", "the profile.json that headgate profile saved")
    if path is None:
        return None

    def loaded() -> Profile:
        try:
            return Profile.from_json(Path(path).read_text())
        except (OSError, ValueError, KeyError, TypeError) as error:
            if isinstance(error, SpecError):
                raise
            raise SpecError(f"{path} cannot be read as a profile: {error}") from None

    return section.problems.attempt(section.at("profile"), loaded)


def _check_columns(
    sections: tuple[JobSection, JobSection],
    sources: tuple[SourceSection | None, SourceSection | None],
    sides: tuple[Side | None, Side | None],
    keys: tuple[tuple[str, ...] | None, tuple[str, ...] | None],
    where: Predicate | None,
) -> None:
    """Check that the columns the join uses exist, as far as the columns are known."""
    looked_at = (None, None) if where is None else (where.left, where.right)
    for section, source, side, key, other in zip(
        sections, sources, sides, keys, looked_at, strict=True
    ):
        known = None if source is None else source.known_columns()
        if known is None:
            continue
        # Spark ignores case in column names.
        plain = {name.lower() for name in known}
        wanted = [("time", side.time)] if side else []
        wanted += [("key", name) for name in key or ()]
        wanted += [("where", other)] if other else []
        for what, name in wanted:
            if name.lower() not in plain:
                at = ("join", "where") if what == "where" else section.at(what)
                section.problems.note(
                    at,
                    f'the {section.name} side has no column "{name}" ({what}): it has '
                    f"{', '.join(sorted(known))}",
                )


def redefined_from(section: JobSection, goal: object) -> str | None:
    """The folder from which to read new definitions of importance."""
    folder = section.text("redefined", "the folder that MaxImportance.publish writes to")
    if folder is not None and not isinstance(goal, MaxImportance):
        section.problems.note(
            section.at("redefined"),
            'join.redefined is for the goal "max-importance": leave it out, or give that goal',
        )
    return folder
