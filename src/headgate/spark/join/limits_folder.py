"""The folder from which running joins read their limits, and what was last published there."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headgate.planner.balancer import Member
from headgate.spark.join.published_changes import LONGEST_LIMIT
from headgate.spec import SpecError
from headgate.spec.bounded_json import read_json

KEPT = "limits.json"
"""File beside the published limits, with those last published and last in force."""
LONGEST_KEPT = 1_000_000


def keep_limits(folder: Path, members: Mapping[str, Member]) -> None:
    """Write down the limits last published and last in force.

    Do so before publishing: after a crash in between, no memory is given away twice.
    """
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f".{KEPT}.unfinished"
    told = {
        name: {"told": member.told, "in_force": member.in_force} for name, member in members.items()
    }
    unfinished.write_text(json.dumps(told))
    os.replace(unfinished, folder / KEPT)


def members_before(folder: Path, names: Mapping[str, int]) -> dict[str, Member] | None:
    """Load the limits from the folder of an earlier run; None if the folder is new.

    ``names`` are those of the joins, with the number of shards of each.
    """
    kept = folder / KEPT
    if not kept.exists():
        return None
    told = _read_kept(kept)
    if set(told) != set(names):
        raise SpecError(
            f"folder {str(folder)!r} holds the limits of {', '.join(sorted(told))}, and these are "
            f"{', '.join(sorted(names))}: give each group, and each join, a folder of its own"
        )
    return {
        name: Member(told[name]["told"], told[name]["in_force"], shards)
        for name, shards in names.items()
    }


def _read_kept(kept: Path) -> dict[str, dict[str, int]]:
    """Read the limits last published and last in force, by join."""
    try:
        with kept.open("rb") as file:
            text = file.read(LONGEST_KEPT + 1).decode()
        told = read_json(text, "a list of limits", LONGEST_KEPT, deepest=2)
    except (OSError, ValueError) as error:
        raise _broken(kept, error) from error
    limits = told.values() if isinstance(told, dict) else [None]
    if not all(isinstance(each, dict) and _is_told(each) for each in limits):
        raise _broken(kept, "it does not say what was told to each join, and what is in force")
    return dict(told)


def _is_told(limits: dict[str, Any]) -> bool:
    given = [limits.get("told"), limits.get("in_force")]
    return all(type(limit) is int and 0 < limit < 10**LONGEST_LIMIT for limit in given)


def _broken(kept: Path, reason: object) -> SpecError:
    return SpecError(
        f"{kept} cannot be read ({reason}): write it from a copy, or remove it together with the "
        f"checkpoints of the queries, since without it nobody knows their limits"
    )
