"""Declares metrics: dataclasses whose fields each describe one metric."""

from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any

SUM, LAST, MAX, RATIO = "sum", "last", "max", "ratio"
"""How to combine the values of two batches: add them, take the later or the greater one, or, for a
ratio, compute it from metrics that add up."""


@dataclass(frozen=True)
class Metric:
    """One figure that a join or lookup reports.

    Attributes
    ----------
    name
        The same in `Stats`, in Spark's observed metrics and in the documentation.
    unit
        The unit; empty for a plain number.
    meaning
        A sentence.
    is_real
        Whether it may be a fraction.
    batches
        How to combine batches: `SUM`, `LAST`, `MAX` or `RATIO`. Over the shards of a batch, all
        but ratios are summed.
    leaves, given_up
        Whether it counts rows that have left or were never stored, and whether it counts losses
        made to stay within the budget.
    """

    name: str
    unit: str
    meaning: str
    is_real: bool
    batches: str
    leaves: bool = False
    given_up: bool = False


def metric(
    unit: str,
    meaning: str,
    batches: str = SUM,
    *,
    default: float | None = 0,
    leaves: bool = False,
    given_up: bool = False,
) -> Any:
    """Declare a metric as the default of a field in its group's dataclass.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Hops:
    ...     hops: int = metric("rows", "Rows passed on.")
    >>> Hops(), metrics_of(Hops)[0].meaning
    (Hops(hops=0), 'Rows passed on.')
    """
    told = {"unit": unit, "meaning": meaning, "batches": batches}
    return field(default=default, metadata={**told, "leaves": leaves, "given_up": given_up})


@lru_cache
def metrics_of(*groups: type) -> tuple[Metric, ...]:
    """The metrics of some groups, in order of declaration."""
    return tuple(
        Metric(name=entry.name, is_real=entry.type is not int, **entry.metadata)
        for group in groups
        for entry in fields(group)
    )


def names_of(*groups: type) -> tuple[str, ...]:
    """The names of the metrics of some groups."""
    return tuple(each.name for each in metrics_of(*groups))
