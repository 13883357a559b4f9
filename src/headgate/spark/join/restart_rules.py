"""What may change when a query is restarted from its checkpoint, and what it means for the state.

One rule a fact of the description. A fact without a rule may not change. The table for users is in
docs/guides/restarts.md.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from headgate.spark.join.join_description import PARTITIONS, Facts, read_description, spark_columns
from headgate.spec import How, SpecError
from headgate.spec.bounded_json import shortened

WHOLE = ("tinyint", "smallint", "int", "bigint")
REAL = ("float", "double")
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")
_ARROW = {
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "float": "float",
    "double": "double",
}
ELSEWHERE = "start from a new checkpoint location"
MALFORMED = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""Errors that reading a damaged description raises."""
RESHARD = "`headgate reshard` writes a checkpoint for another number of shards"
OUTER = (How.INNER, How.LEFT, How.RIGHT, How.FULL)


@dataclass(frozen=True)
class Restart:
    """What is different from the join that wrote a checkpoint.

    Parameters
    ----------
    before, now
        The facts of both.
    changed
        The names of those that differ, all of which may.
    """

    before: Facts = field(default_factory=dict)
    now: Facts = field(default_factory=dict)
    changed: frozenset[str] = frozenset()

    def touches(self, *facts: str) -> bool:
        """Whether any of these facts is another."""
        return not self.changed.isdisjoint(facts)

    @property
    def columns(self) -> bool:
        """Whether stored rows have other columns, or other types."""
        return self.touches("left columns", "right columns")

    @property
    def windows(self) -> bool:
        """Whether a window is another."""
        return self.touches("left window", "right window")


def check_restart(before: str, now: str) -> Restart:
    """What has changed from one description to another; raises where a checkpoint of the one cannot
    be taken up by the other.

    Examples
    --------
    >>> check_restart('{"shards": "2"}', '{"shards": "4"}')
    Traceback (most recent call last):
    ...
    headgate.spec.errors.SpecError: this checkpoint was written by another join: shards was 2 and \
is now 4. Nothing was lost: set it back, or start from a new checkpoint location
    """
    if before == now:
        return Restart()
    try:
        return _compared(read_description(before), read_description(now))
    except MALFORMED as error:
        if isinstance(error, SpecError):
            raise
        raise SpecError(
            f"the join's description in this checkpoint cannot be read "
            f"({shortened(repr(error))}): it is damaged, or not Headgate's. "
            f"Restore it from a copy, or {ELSEWHERE}"
        ) from error


def _compared(old: Facts, new: Facts) -> Restart:
    both = Restart(old, new)
    refused, changed = [], set()
    for fact in sorted({*old, *new} - {"version", "hash"}):
        if _same(fact, old.get(fact), new.get(fact)):
            continue
        changed.add(fact)
        # A lookup's description has no version, and nothing in it may change.
        rule = RULES.get(fact, _may_not) if "version" in new else _may_not
        reason = rule(fact, both)
        if reason is not None:
            was, is_now = (_shown(each.get(fact, "not set")) for each in (old, new))
            because = f" ({reason})" if reason else ""
            refused.append(f"{fact} was {was} and is now {is_now}{because}")
    if refused:
        raise SpecError(
            f"this checkpoint was written by another join: {'; '.join(refused)}. Nothing was "
            f"lost: set it back, or {ELSEWHERE}"
        )
    return Restart(old, new, frozenset(changed))


def _same(fact: str, before: Any, now: Any) -> bool:
    if before == now:
        return True
    if fact.endswith(" keys") and isinstance(before, str) and isinstance(now, list):
        return before == ", ".join(now)  # as format 6 has them
    if fact.endswith(" columns") and isinstance(before, dict):
        shown = before["shown"]  # empty where a shard was driven without Spark
        return not shown or (_is_simple(now) and shown == spark_columns(now).simpleString())
    # What format 6 does not say.
    return before is None and fact in ("key types", "goal", "budget", "monitor")


def _is_simple(columns: list[Facts]) -> bool:
    return all(each["type"] is not None for each in columns)


def _shown(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    if isinstance(value, list):
        return ", ".join(f"{each['name']} {_type_of(each)}" for each in value)
    if isinstance(value, dict) and len(value) == 1:
        ((unit, amount),) = value.items()
        return str(amount) if unit == "shown" else f"{amount:,} {unit}"
    return value if isinstance(value, str) else json.dumps(value)


Rule = Callable[[str, Restart], str | None]
"""None where a fact may change as it did; else why not, and what to do instead."""


def _may_not(fact: str, both: Restart) -> str | None:
    return ""


def _may(fact: str, both: Restart) -> str | None:
    return None


def _keys(fact: str, both: Restart) -> str | None:
    return "rows are placed and found by their keys"


def _key_types(fact: str, both: Restart) -> str | None:
    return "keys are hashed in the type in which they are compared: cast them to the type before"


def _time(fact: str, both: Restart) -> str | None:
    return "the order and windows of stored rows go by their time column"


def _shards(fact: str, both: Restart) -> str | None:
    return f"each shard has its own state: {RESHARD}"


def _predicate(fact: str, both: Restart) -> str | None:
    return "stored rows were placed, and rows without a partner decided, by the predicate"


def _window(fact: str, both: Restart) -> str | None:
    before, now = both.before[fact], both.now[fact]
    if before.keys() != now.keys():
        return "times and counts of rows cannot be turned into one another"
    ((_, was),) = before.items()
    ((_, is_now),) = now.items()
    if is_now > was and both.now["samples"]:
        return (
            "a sample's weights would be wrong: rows that left under the shorter window cannot be "
            "drawn; a shorter window is taken up"
        )
    return None


def _how(fact: str, both: Restart) -> str | None:
    before, now = How(both.before[fact]), How(both.now[fact])
    if before in OUTER and now in OUTER:
        return None
    return (
        "semi and anti joins let rows go that have met a partner, and others keep them; inner, "
        "left, right and full may become one another"
    )


def _policy(fact: str, both: Restart) -> str | None:
    if not both.now["samples"]:
        return None
    return (
        "a sample's weights follow from how its rows were drawn, and stored rows were drawn "
        "otherwise"
    )


def _seed(fact: str, both: Restart) -> str | None:
    if not both.now["samples"]:
        return None
    return "which rows a sample has drawn follows from its seed"


def _samples(fact: str, both: Restart) -> str | None:
    return _policy(fact, both)


def _columns(fact: str, both: Restart) -> str | None:
    side = fact.partition(" ")[0]
    before, now = both.before[fact], both.now[fact]
    old = _listed(before["shown"]) if isinstance(before, dict) else _typed(before)
    if old is None:
        return "the columns before cannot be told apart by their names"
    new = _typed(now)
    needed = {*both.now[f"{side} keys"], both.now[f"{side} time"]}
    for name, (kind, nullable) in new.items():
        if name not in old:
            if name in needed:
                return f'stored rows have no column "{name}", which the join needs'
            if not nullable:
                return f'column "{name}" is new and would be null in stored rows: make it nullable'
        elif not is_widened(old[name][0], kind):
            return (
                f'column "{name}" was {old[name][0]} and is {kind}: whole numbers, float and '
                f"decimals may become wider, other types stay"
            )
        elif name == both.now[f"{side} time"] and old[name][0] != kind:
            return _time(fact, both)
    return None


def _typed(columns: list[Facts]) -> dict[str, tuple[str, bool]]:
    return {each["name"]: (_type_of(each), each["nullable"]) for each in columns}


def _type_of(column: Facts) -> str:
    """A column's type as Spark shows it, or as Arrow does where that is all that is known."""
    if column["type"] is not None:
        return str(spark_columns([column]).fields[0].dataType.simpleString())
    kind = str(column["arrow"])
    return _ARROW.get(kind, kind.replace("decimal128", "decimal"))


def _listed(struct: str) -> dict[str, tuple[str, bool]] | None:
    """The columns in the text of a struct type; None where names make it ambiguous."""
    found: dict[str, tuple[str, bool]] = {}
    depth, start = 0, len("struct<")
    text = struct.removesuffix(">") + ","
    for place in range(start, len(text)):
        depth += text[place] in "<("
        depth -= text[place] in ">)"
        if text[place] == "," and depth == 0:
            name, colon, kind = text[start:place].partition(":")
            if not colon or name in found:
                return None
            found[name] = (kind, True)
            start = place + 1
    return found


def is_widened(before: str, now: str) -> bool:
    """Whether every value of one type is one of the other, which is at least as wide.

    Examples
    --------
    >>> is_widened("int", "bigint"), is_widened("bigint", "int")
    (True, False)
    >>> is_widened("decimal(10,2)", "decimal(12,3)"), is_widened("decimal(10,2)", "decimal(10,3)")
    (True, False)
    """
    if before == now:
        return True
    for family in (WHOLE, REAL):
        if before in family and now in family:
            return family.index(before) <= family.index(now)
    old, new = _DECIMAL.fullmatch(before), _DECIMAL.fullmatch(now)
    if old is None or new is None:
        return False
    (precision, scale), (wider, finer) = (map(int, each.groups()) for each in (old, new))
    return finer >= scale and wider - finer >= precision - scale


RULES: dict[str, Rule] = {
    "left keys": _keys,
    "right keys": _keys,
    "key types": _key_types,
    "left time": _time,
    "right time": _time,
    "left window": _window,
    "right window": _window,
    "left columns": _columns,
    "right columns": _columns,
    "how": _how,
    "unmatched": _may,
    "predicate": _predicate,
    "policy": _policy,
    "samples": _samples,
    "goal": _may,
    "importance": _may,
    "seed": _seed,
    "budget": _may,
    "monitor": _may,
    "features": _may,
    "shards": _shards,
    PARTITIONS: _shards,
}
