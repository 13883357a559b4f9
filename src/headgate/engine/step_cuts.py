"""Cuts a batch of arrivals into steps, so that a join learns within a batch.

What an epoch teaches is used from the next one on, and an epoch ends within a batch as often as
not. So joins that learn take a batch in steps, in event order, as `run` does.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from headgate.columns.hashing import hash_keys
from headgate.engine.driver import Driver
from headgate.engine.join_step import JoinStep
from headgate.engine.key_columns import matched
from headgate.engine.placed_rows import Screened
from headgate.engine.shape import Shape
from headgate.engine.table_rows import TableRows
from headgate.kernel.event_order import event_order
from headgate.learning.watch_room import Coming

Arriving = tuple[Screened[TableRows], Screened[TableRows]]


class StepArrivals(NamedTuple):
    """The arrivals of a step, and whether they are the last of their batch."""

    arriving: Arriving
    is_last: bool = True


def in_steps(
    arriving: Arriving, shape: Shape, size: Callable[[Coming], int], follows_keys: bool = False
) -> Iterator[StepArrivals]:
    """The arrivals in event order, at least one step; ``size`` says how many of those to come.

    Rows that could not take part are counted in the first step. A join that follows keys is told
    those to come.
    """
    left, right = arriving
    count = len(left) + len(right)
    side = np.repeat(np.array([0, 1], np.uint8), [len(left), len(right)])
    time = np.concatenate([left.time, right.time])
    order = event_order(time, side)
    joins = np.concatenate([can_join(shape, arriving[place].rows, place) for place in (0, 1)])
    keys = None
    if follows_keys:
        keys = np.concatenate([_keys(shape, arriving[place].rows, place) for place in (0, 1)])
    coming = Coming(side[order], time[order], joins[order], None if keys is None else keys[order])
    most = size(coming)
    if count <= most:
        yield StepArrivals(arriving, is_last=True)
        return
    first = 0
    while first < count:
        part = order[first : first + most]
        of_right = part >= len(left)
        lefts = _taken(left, part[~of_right], counted=first == 0)
        rights = _taken(right, part[of_right] - len(left), counted=first == 0)
        first += len(part)
        yield StepArrivals((lefts, rights), is_last=first == count)
        most = size(coming.after(first))


def can_join(shape: Shape, rows: TableRows, side: int) -> np.ndarray:
    """Which rows can meet any other: those without nulls in the columns that are compared."""
    able = np.ones(len(rows.place), np.bool_)
    for column in matched(shape, rows.table, side).columns:
        if column.null_count:
            able &= column.is_valid().to_numpy()[rows.place]
    return able


def _keys(shape: Shape, rows: TableRows, side: int) -> np.ndarray:
    """The hashes of the rows' keys."""
    hashes: np.ndarray = hash_keys(shape.key_columns(rows.only(rows.table), side))[0]
    return hashes


def _taken(side: Screened[TableRows], which: np.ndarray, counted: bool) -> Screened[TableRows]:
    """Some of the arrivals, in a table of their own."""
    rows = replace(side.rows, place=side.rows.place[which], rows=side.rows.rows.take(which))
    own = replace(rows, table=rows.only(rows.table), place=np.arange(len(which)))
    if counted:
        return replace(side, rows=own)
    return Screened(own)


def keep_compact(driver: Driver[TableRows], step: JoinStep[TableRows]) -> None:
    """Store the rows that survive a step, in tables that hold no others."""
    driver.keep(step)
    left, right = driver.stored
    driver.stored = (left.compact(), right.compact())
