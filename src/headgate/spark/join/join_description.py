"""Describes a join in its checkpoint: so that a restart knows what changed, and others what it is.

A description is a JSON object. In format 7 windows, columns and goal are values of their own; in
format 6 they were texts, which `read_description` brings into the present form.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pyarrow as pa
from pyspark.sql.types import StructField, StructType

from headgate.engine.bound_columns import BoundColumns
from headgate.engine.request import Request
from headgate.sampling import ALL_SAMPLERS, LearnedCluster
from headgate.spec import How, MaxImportance, Sample, TimeWindow, Unmatched, Window
from headgate.spec.window import parse_window

VERSION = 2
"""Of the description itself; format 6 has the first, which does not say so."""
HASH = "xxhash64, seed 42, of the keys as compared, modulo the number of shards"
"""How rows with keys are assigned to shards: `shard_column`."""
PARTITIONS = "spark.sql.shuffle.partitions"

Facts = dict[str, Any]


def describe_join(
    request: Request,
    bound: BoundColumns,
    shards: int,
    partitions: int,
    columns: tuple[StructType | None, StructType | None] = (None, None),
    split: str | None = None,
) -> str:
    """The description of a join; ``columns`` are the sides' columns with Spark's types, if known,
    and ``split`` the keys that are spread over all shards."""
    goal = request.goal
    facts = {
        "version": VERSION,
        "left keys": list(request.keys.left),
        "right keys": list(request.keys.right),
        "key types": [str(kind) for kind in bound.shape.key_types],
        "left time": request.left.time,
        "right time": request.right.time,
        "left window": window_facts(request.left.window),
        "right window": window_facts(request.right.window),
        "left columns": column_facts(bound.schemas[0], columns[0]),
        "right columns": column_facts(bound.schemas[1], columns[1]),
        "how": str(request.how),
        "unmatched": str(request.unmatched),
        "predicate": None if request.where is None else repr(request.where),
        "policy": repr(request.policy.without_model()),
        "samples": request.policy.samples,
        "goal": _goal_name(goal),
        "importance": goal.to_json() if isinstance(goal, MaxImportance) else None,
        "seed": request.seed,
        "budget": asdict(request.budget),
        "monitor": request.monitor_share(live=True),
        **({"features": list(request.features)} if request.features else {}),
        "split keys": split,
        "hash": HASH,
        "shards": shards,
        PARTITIONS: partitions,
    }
    return json.dumps(facts, sort_keys=True, default=str)


def describe_others(shards: int, partitions: int, facts: Mapping[str, str]) -> str:
    """The description of an operator that is not a join: facts a restart must not change."""
    return json.dumps({**facts, "shards": str(shards), PARTITIONS: str(partitions)}, sort_keys=True)


def window_facts(window: Window) -> Facts:
    """A window in its own unit.

    Examples
    --------
    >>> window_facts(TimeWindow(60_000_000))
    {'microseconds': 60000000}
    """
    unit = "microseconds" if isinstance(window, TimeWindow) else "rows"
    return {unit: window.span}


def column_facts(schema: pa.Schema, columns: StructType | None) -> list[Facts]:
    """The columns of a side: name, Arrow type, Spark type (if known), and whether it has nulls."""
    kinds = [None] * len(schema) if columns is None else [each.dataType for each in columns.fields]
    return [
        {
            "name": field.name,
            "arrow": str(field.type),
            "type": None if kind is None else kind.jsonValue(),
            "nullable": field.nullable,
        }
        for field, kind in zip(schema, kinds, strict=True)
    ]


def spark_columns(facts: Sequence[Facts]) -> StructType:
    """The columns of a side with Spark's types, from what a description says of them.

    Examples
    --------
    >>> spark_columns([{"name": "a", "type": "long", "nullable": True}]).simpleString()
    'struct<a:bigint>'
    """
    fields = [
        {"name": each["name"], "type": each["type"], "nullable": each["nullable"], "metadata": {}}
        for each in facts
    ]
    return StructType([StructField.fromJson(field) for field in fields])


def read_description(text: str) -> Facts:
    """The facts of a description, those of format 6 in the present form.

    Of the columns in format 6 only names and Spark types are known, as texts: ``shown``.
    """
    facts: Facts = json.loads(text)
    if "version" in facts or "left time and window" not in facts:
        return facts
    new: Facts = {"version": 1, "goal": None, "seed": int(facts.get("seed", "0"))}
    for side in ("left", "right"):
        time, window = _time_and_window(facts[f"{side} time and window"])
        new |= {
            f"{side} keys": facts[f"{side} keys"],
            f"{side} time": time,
            f"{side} window": window_facts(window),
            f"{side} columns": {"shown": facts[f"{side} columns"]},
        }
    new |= {
        "key types": None,
        "how": facts.get("how", str(How.INNER)),
        "unmatched": facts.get("unmatched", str(Unmatched.CERTAIN)),
        "predicate": facts.get("predicate"),
        "policy": facts["policy"],
        "samples": facts["policy"].partition("(")[0] in _sampler_names(),
        "importance": facts.get("importance"),
        "budget": None,
        "monitor": None,
        "split keys": facts.get("split keys"),
        "hash": HASH,
        "shards": int(facts["shards"]),
        PARTITIONS: int(facts[PARTITIONS]),
    }
    return new


def _time_and_window(text: str) -> tuple[str, Window]:
    """A side's time column and window, which format 6 has in one text; a name may have commas.

    Examples
    --------
    >>> _time_and_window("opened, at, 1,500 seconds")
    ('opened, at', TimeWindow(us=1500000000))
    """
    time, _, window = text.rpartition(", ")
    return time, parse_window(window.replace(",", ""))


def _sampler_names() -> set[str]:
    """The class names of all samplers."""
    return {sampler.__name__ for sampler in (*ALL_SAMPLERS, LearnedCluster)}


def _goal_name(goal: object) -> str:
    if isinstance(goal, MaxImportance):
        return "importance"
    return "sample" if isinstance(goal, Sample) else "subset"
