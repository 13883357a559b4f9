"""Rows of an input and the join they go through; the exact answer to both by brute force.

Rows are known by their place in the whole input, so that runs cut differently can be compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from headgate.kernel.terms import Terms
from headgate.sampling import Uniform
from headgate.spec import RowWindow, Window

NULL = -1


class Arrival(NamedTuple):
    """A row of the input."""

    time: int
    side: int
    key: int
    size: int
    delay: int
    """How much later than its time it may be handed over."""
    value: int | None = 0
    """What a band or comparison looks at."""


@dataclass(frozen=True)
class Case:
    """An input in event order, and the join to run it through."""

    arrivals: tuple[Arrival, ...]
    terms: Terms
    keyed: bool = True
    """Whether keys must be equal; otherwise the band or comparison alone decides."""
    importance: tuple[float, ...] | None = None
    """Of each row; None where all count alike."""
    effort: tuple[tuple[float, float], ...] | None = None
    """Shares to probe and to store of each row; None where all is done."""

    @property
    def windows(self) -> tuple[Window, Window]:
        """How long rows wait."""
        return self.terms.windows

    def is_null(self, row: Arrival) -> bool:
        """Whether the row can match nothing."""
        no_value = self.terms.where is not None and row.value is None
        return no_value or (self.keyed and row.key == NULL)

    def value(self, row: Arrival) -> float:
        """The number a band or comparison looks at; tenths where numbers are real."""
        value = row.value or 0
        return value / 10 if self.terms.where is not None and self.terms.where.real else value

    def may_meet(self, one: Arrival, other: Arrival) -> bool:
        """Whether two rows are partners if their times allow it."""
        if one.side == other.side or self.is_null(one) or self.is_null(other):
            return False
        left, right = (one, other) if one.side == 0 else (other, one)
        where = self.terms.where
        fits = where is None or where.holds(self.value(left), self.value(right))
        return fits and (not self.keyed or one.key == other.key)

    def with_ample_memory(self) -> "Case":
        """The same join without limits; a sample of single pairs then takes them all."""
        terms, policy = self.terms.unlimited(), self.terms.policy
        if isinstance(policy, Uniform):
            terms = replace(terms, policy=replace(policy, share=1.0))
        return replace(self, terms=terms)


def weigh(case: Case) -> np.ndarray:
    """What the policy makes of each row's key."""
    weights = np.zeros(len(case.arrivals))
    for side in (0, 1):
        mine = [i for i, row in enumerate(case.arrivals) if row.side == side]
        weights[mine] = case.terms.policy.weigh([keys_of(case.arrivals[i] for i in mine)], side)
    return weights


def exact_pairs(case: Case) -> list[tuple[int, int]]:
    """The join by brute force: of each two rows the earlier one's window must reach the later."""
    order = sorted(
        range(len(case.arrivals)), key=lambda i: (case.arrivals[i].time, case.arrivals[i].side)
    )
    pairs = []
    for place, one in enumerate(order):
        first = case.arrivals[one]
        window = case.windows[first.side]
        rows_of_side = 1
        for other in order[place + 1 :]:
            second = case.arrivals[other]
            rows_of_side += second.side == first.side
            waited = rows_of_side if isinstance(window, RowWindow) else second.time - first.time
            if case.may_meet(first, second) and waited <= window.span:
                pairs.append((one, other) if first.side == 0 else (other, one))
    return sorted(pairs)


def keys_of(rows: "Sequence[Arrival] | object") -> pa.ChunkedArray:
    keys = [None if row.key == NULL else row.key for row in rows]
    return pa.chunked_array([pa.array(keys, pa.int64())])
