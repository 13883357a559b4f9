"""Joins under every policy within a budget of bytes, and sides with a payload of any type."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import headgate as hg
from headgate.engine.driver import Driver
from headgate.engine.join_step import results
from headgate.engine.limits import room_for, terms_for
from headgate.engine.shape import Shape
from headgate.engine.table_coding import TableCoding
from headgate.engine.table_learner import nothing_learned
from headgate.engine.table_rows import TableRows, screen
from headgate.policies import ALL_POLICIES
from tests.arrow_values import make_array

TIMES = ("opened_at", "bid_at")
WINDOW_US = 100_000_000
LEARNING = 0.1
"""The monitor's part, where something is learned."""

POLICIES = tuple(policy.name for policy in ALL_POLICIES)
WAYS: dict[str, dict[str, Any]] = {
    **{name: {"policy": name} for name in POLICIES},
    "uniform sample": {"goal": hg.Sample("uniform", fraction=0.8), "rates": (1.0, 1.0)},
    "weighted sample": {"goal": hg.Sample("cluster"), "rates": (1.0, 1.0)},
    "equal sample": {"goal": hg.Sample("cluster")},
    "learned sample": {"goal": hg.Sample()},
    "auto": {"policy": "auto"},
}
"""What a join may be asked for: every policy and sampler, with a model or learning it."""
LEARNED = ("learned sample", "auto", "density")
WITHOUT_MODELS = (*LEARNED, "equal sample")


def make_side(rng: np.random.Generator, side: int, rows: int, **payload: pa.DataType) -> pa.Table:
    """A row a second; the large ones are of frequent keys."""
    keys = rng.zipf(1.5, rows) % 8
    large = (keys < 3) & (rng.random(rows) < 0.4)
    return pa.table(
        {
            "key": keys,
            TIMES[side]: pa.array(np.arange(rows) * 1_000_000, pa.timestamp("us", "UTC")),
            **{name: make_array(kind, rng, large) for name, kind in payload.items()},
        }
    )


def join_within(memory: int, way: str, sides: tuple[pa.Table, pa.Table]) -> hg.WindowJoin:
    """A join of two sides in one of `WAYS`."""
    models: dict[str, Any] = {}
    if way not in WITHOUT_MODELS:
        both = {"left_on": ["key"], "right_on": ["key"]}
        models["frequencies"] = hg.Frequencies.of_tables(*sides, **both)
        models["ages"] = hg.AgeCurves.of_buckets((WINDOW_US, WINDOW_US), ((1, 2), (2, 1)))
    return hg.WindowJoin(
        on="key",
        left=hg.Side(time=TIMES[0], window="100 seconds"),
        right=hg.Side(time=TIMES[1], window="100 seconds"),
        budget=hg.Budget(memory=memory, monitor=LEARNING if way in LEARNED else 0.0),
        **WAYS[way],
        **models,
    )


class AfterStep(NamedTuple):
    """Where a step has left a join in process."""

    stored: tuple[pa.Table, pa.Table]
    stored_bytes: int
    given_up: int


def steps(join: hg.WindowJoin, sides: tuple[pa.Table, pa.Table], count: int) -> Iterator[AfterStep]:
    """The rows of both sides put to a join in so many steps, without Spark."""
    names = (sides[0].column_names, sides[1].column_names)
    shape = Shape.of(join.keys, (join.left, join.right), names, join.suffix).sampled(join.drawn)
    share = join.budget.monitor or 0.0
    terms = join.weighed(terms_for(join.budget, join.windows, join.policy, 1, 0.0, share))
    terms = replace(terms, policy=terms.policy.for_shard(0))
    stored, state = tuple(TableRows.nothing(side.schema) for side in sides), None
    if share:
        room = room_for(join.budget, join.policy, 1, share)
        state = nothing_learned(join.windows, room, shape, (sides[0].schema, sides[1].schema))
    driver = Driver(TableCoding(shape, None, state), stored)
    rows = -(-sides[0].num_rows // count)
    for first in range(0, sides[0].num_rows, rows):
        arriving = []
        for side, table in enumerate(sides):
            part = table.slice(first, rows)
            keys = shape.key_columns(part, side)
            weight = join.policy.weigh(keys, side) if join.policy.weighs_keys else None
            arriving.append(screen(part, TIMES[side], weight))
        step = driver.begin(terms, tuple(arriving))
        for _ in results(step, shape):
            pass
        driver.finish(step)
        driver.keep(step)
        driver.stored = tuple(side.compact() for side in driver.stored)
        held = (driver.stored[0].table, driver.stored[1].table)
        yield AfterStep(held, step.stats.stored_bytes, step.stats.shed + step.stats.refused)
