"""Cuts a batch of arrivals into steps, so that a join learns within a batch.

What a step teaches is used from the next step on. A batch may be as large as a whole backfill, so
joins that learn take it in steps, in event order, as `run` does.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from headgate.columns.row_sizes import row_bytes
from headgate.engine.driver import Driver
from headgate.engine.join_step import JoinStep
from headgate.engine.placed_rows import Screened
from headgate.engine.replay import most_to_learn_from, most_to_observe
from headgate.engine.table_rows import TableRows
from headgate.kernel.event_order import event_order
from headgate.kernel.terms import Terms
from headgate.policies import Policy
from headgate.spec.budget import UNLIMITED

Arriving = tuple[Screened[TableRows], Screened[TableRows]]


class Part(NamedTuple):
    """The arrivals of a step, and whether they are the last of their batch."""

    arriving: Arriving
    is_last: bool


def in_steps(arriving: Arriving, size: Callable[[], int]) -> Iterator[Part]:
    """The arrivals in event order, ``size()`` of them at a time; at least one step.

    Rows that could not take part are counted in the first step.
    """
    left, right = arriving
    count = len(left) + len(right)
    most = size()
    if count <= most:
        yield Part(arriving, is_last=True)
        return
    side = np.repeat(np.array([0, 1], np.uint8), [len(left), len(right)])
    order = event_order(np.concatenate([left.time, right.time]), side)
    first = 0
    while first < count:
        part = order[first : first + most]
        of_right = part >= len(left)
        lefts = _taken(left, part[~of_right], counted=first == 0)
        rights = _taken(right, part[of_right] - len(left), counted=first == 0)
        first += len(part)
        yield Part((lefts, rights), is_last=first == count)
        most = size()


def _taken(side: Screened[TableRows], which: np.ndarray, counted: bool) -> Screened[TableRows]:
    """Some of the arrivals, in a table of their own."""
    rows = replace(side.rows, place=side.rows.place[which], rows=side.rows.rows.take(which))
    own = replace(rows, table=rows.only(rows.table), place=np.arange(len(which)))
    if counted:
        return replace(side, rows=own)
    return Screened(own)


def step_rows(driver: Driver[TableRows], policy: Policy, learns: bool) -> int | None:
    """How many rows the next step of a join should bring; None if that does not matter."""
    if learns:
        return most_to_learn_from(sum(driver.progress.seen), driver.stored_rows)
    return most_to_observe(driver.stored_rows) if policy.observes else None


def all_fit(terms: Terms, stored: tuple[TableRows, TableRows], arriving: Arriving) -> bool:
    """Whether the stored rows and all arrivals fit the limits together, so none is given up."""
    both = list(zip(stored, arriving, strict=True))
    rows = [len(old) + len(new) for old, new in both]
    if not _within(rows, terms.most_rows, terms.pooled):
        return False
    if min(terms.most_bytes[:1] if terms.pooled else terms.most_bytes) >= UNLIMITED:
        return True  # sizes are not looked at where nothing depends on them
    sizes = [_bytes(old) + _bytes(new.rows) for old, new in both]
    return _within(sizes, terms.most_bytes, terms.pooled)


def _within(amounts: list[int], most: tuple[int, int], pooled: bool) -> bool:
    """Whether both sides are within a limit: together, or each within its own."""
    if pooled:
        return sum(amounts) <= most[0]
    return all(amount <= limit for amount, limit in zip(amounts, most, strict=True))


def _bytes(rows: TableRows) -> int:
    return int(row_bytes(rows.table)[rows.place].sum())


def keep_compact(driver: Driver[TableRows], step: JoinStep[TableRows]) -> None:
    """Store the rows that survive a step, in tables that hold no others."""
    driver.keep(step)
    left, right = driver.stored
    driver.stored = (left.compact(), right.compact())
