"""Chooses a sampling scheme by trying each on a piece of the streams."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.api import estimate
from headgate.api.profiler import profile
from headgate.api.window_join import WindowJoin
from headgate.columns.times import NO_TIME, microseconds
from headgate.engine.inputs import as_arrow
from headgate.kernel.pair_block import SHARD_BITS
from headgate.profiles.profile import Profile
from headgate.spec import Budget, Sample, SpecError
from headgate.spec.budget import AMPLE
from headgate.spec.quantity import SECOND_US

if TYPE_CHECKING:
    import pandas as pd

EQ, PPS, UNIFORM = "EQ-CLUSTER", "PPS-CLUSTER", "UNIFORM"
AS_GOOD = 1.05
"""A scheme that needs to know less is preferred if its error is no greater than this many times the
least."""


@dataclass(frozen=True)
class TriedScheme:
    """The trial of one scheme: its relative error over the seeds, and its sample."""

    scheme: str
    error: float
    bias: float
    rows: float


@dataclass(frozen=True, eq=False)
class SampleChoice:
    """The recommended sample, and why.

    Attributes
    ----------
    goal, models
        Arguments for the join: ``WindowJoin(..., goal=choice.goal, **choice.models)``.
    tried
        The schemes, best first.
    model_error
        Relative error of the matches predicted from the first half of the piece for the second:
        UNIFORM needs it low.
    size_variation
        Standard deviation of matches per row, over their mean: PPS-CLUSTER gains when it is high.
    between_clusters
        The share of the column's variance between clusters: cluster samples lose when it is high.

    Examples
    --------
    >>> def chosen(join, left, right):
    ...     choice = hg.choose_sample(join, left, right, "price")
    ...     print(choice)  # every scheme tried, with its error
    ...     return choice.goal
    """

    goal: Sample
    models: dict[str, Any]
    tried: tuple[TriedScheme, ...]
    model_error: float
    size_variation: float
    between_clusters: float

    def __str__(self) -> str:
        lines = [
            f"{one.scheme:<12} error {one.error:.2%}, bias {one.bias:+.2%}, {one.rows:,.0f} rows"
            for one in self.tried
        ]
        return "\n".join(
            [
                *lines,
                f"matches foreseen are off by {self.model_error:.0%}; matches of rows vary by "
                f"{self.size_variation:.0%}; {self.between_clusters:.0%} of the variance is "
                f"between clusters",
            ]
        )


def choose_sample(
    join: WindowJoin,
    left: "pa.Table | pd.DataFrame",
    right: "pa.Table | pd.DataFrame",
    column: str,
    *,
    runs: int = 20,
) -> SampleChoice:
    """Try EQ-CLUSTER, PPS-CLUSTER and UNIFORM on a piece of the streams, for an average.

    Models are learned on the first half of the time and tested, like the schemes, on the second, so
    a model that does not hold shows. The budget is the join's own; the piece should span several
    windows.

    Parameters
    ----------
    join
        The join to sample; of its goal, only column names, confidence and target error are used.
    left, right
        Bounded pieces of the two streams.
    column
        The result column to be averaged.
    runs
        How many samples to draw with each scheme.

    Examples
    --------
    >>> import headgate as hg
    >>> from headgate.demo.auctions import auction_stream
    >>> stream = auction_stream(rows=16_000)
    >>> join = hg.WindowJoin(
    ...     left_on="id",
    ...     right_on="auction",
    ...     left=hg.Side(time="opened_at", window="10 minutes"),
    ...     right=hg.Side(time="bid_at", window="0 seconds"),
    ...     budget=hg.Budget(rows=30),
    ...     goal=hg.Sample(),
    ... )
    >>> choice = hg.choose_sample(join, stream.auctions, stream.bids, "price")
    >>> choice.goal.kind, choice.between_clusters > 0.5
    ('cluster', True)
    """
    goal = _checked_goal(join)
    tables = (as_arrow(left, "left", "choose_sample"), as_arrow(right, "right", "choose_sample"))
    first, second = _halves(join, tables)
    learned = profile(
        *first,
        left_on=join.keys.left,
        right_on=join.keys.right,
        left=join.left,
        right=join.right,
    )
    if min(learned.rates) <= 0:
        raise SpecError(
            f"the first half of the piece has {learned.rows.left.rows:,} left and "
            f"{learned.rows.right.rows:,} right rows, too few to estimate their rates: give a "
            f"longer piece"
        )
    options = _options(goal, learned)
    cluster, _ = options[EQ]
    exact = _asked(join, AMPLE, cluster, {}, 0).run(*second).pairs
    values = _numbers(exact, column)
    tried = {
        scheme: _try(
            join,
            second,
            float(values.mean()),
            column=column,
            scheme=scheme,
            goal=as_tried,
            models=models,
            runs=runs,
        )
        for scheme, (as_tried, models) in options.items()
    }
    least = min(one.error for one in tried.values())
    chosen = next(name for name in (EQ, PPS, UNIFORM) if tried[name].error <= AS_GOOD * least)
    sizes, between = _clusters(join, second, exact, column)
    foreseen = _foreseen(join, second, learned)
    return SampleChoice(
        *options[chosen],
        tuple(sorted(tried.values(), key=lambda one: one.error)),
        float(np.abs(foreseen - sizes).sum() / max(sizes.sum(), 1)),
        float(sizes.std() / max(sizes.mean(), 1e-12)),
        between,
    )


Tables = tuple[pa.Table, pa.Table]


def _checked_goal(join: WindowJoin) -> Sample:
    """Return the join's goal; raise if there is no scheme to choose for it."""
    if not isinstance(join.goal, Sample):
        raise SpecError("choose_sample chooses for a join with goal=hg.Sample(...)")
    if join.where is not None:
        raise SpecError(
            f"choose_sample knows joins on keys alone, and this one has where={join.where!r}: "
            f'Sample("cluster") is right for any join'
        )
    if not _waiting(join):
        raise SpecError(
            "both windows are zero, so rows meet only those of their own time and the schemes do "
            'not differ: ask for Sample("cluster"), which is right for any join'
        )
    return join.goal


def _numbers(exact: pa.Table, column: str) -> np.ndarray:
    """The values to be averaged."""
    if column not in exact.column_names:
        raise SpecError(f'the result has no column "{column}": {", ".join(exact.column_names)}')
    if not pa.types.is_floating(kind := exact.schema.field(column).type) and not (
        pa.types.is_integer(kind) or pa.types.is_decimal(kind)
    ):
        raise SpecError(f'column "{column}" is {kind}: give a column of numbers to average')
    values: np.ndarray = exact.column(column).cast(pa.float64()).drop_null().to_numpy()
    if not len(values):
        raise SpecError("the second half of the piece makes no pairs: give a longer piece")
    return values


def _options(goal: Sample, learned: Profile) -> dict[str, tuple[Sample, dict[str, Any]]]:
    cluster, uniform = (replace(goal, kind=kind, fraction=None) for kind in ("cluster", "uniform"))
    rates = {"rates": learned.rates}
    keys = {"frequencies": learned.frequencies, **rates}
    by_age = learned.explains.better == "age"
    return {
        EQ: (cluster, {}),
        PPS: (cluster, keys),
        UNIFORM: (uniform, {"ages": learned.ages, **rates} if by_age else keys),
    }


def _asked(
    join: WindowJoin, budget: Budget, goal: Sample, models: dict[str, Any], seed: int
) -> WindowJoin:
    return WindowJoin(
        left_on=join.keys.left,
        right_on=join.keys.right,
        left=join.left,
        right=join.right,
        budget=budget,
        goal=goal,
        suffix=join.suffix,
        seed=seed,
        **models,
    )


def _halves(join: WindowJoin, tables: Tables) -> tuple[Tables, Tables]:
    times = [microseconds(t.column(s.time)) for t, s in zip(tables, join.sides, strict=True)]
    known = [time != NO_TIME for time in times]  # rows without a time match nothing
    tables = (tables[0].filter(pa.array(known[0])), tables[1].filter(pa.array(known[1])))
    times = [time[which] for time, which in zip(times, known, strict=True)]
    if not all(len(time) for time in times):
        raise SpecError("a side is empty: give a piece of both streams")
    middle = (min(int(t.min()) for t in times) + max(int(t.max()) for t in times)) // 2
    parts = [
        (table.filter(pa.array(time < middle)), table.filter(pa.array(time >= middle)))
        for table, time in zip(tables, times, strict=True)
    ]
    return (parts[0][0], parts[1][0]), (parts[0][1], parts[1][1])


def _try(
    join: WindowJoin,
    tables: Tables,
    truth: float,
    column: str,
    scheme: str,
    goal: Sample,
    models: dict[str, Any],
    runs: int,
) -> TriedScheme:
    found, rows = [], []
    for seed in range(runs):
        sample = _asked(join, join.budget, goal, models, seed).run(*tables).pairs
        rows.append(sample.num_rows)
        # An empty sample gives no estimate; it counts as entirely wrong.
        plain = replace(goal, error=None)  # the target error is not under test
        found.append(estimate.avg(sample, column, goal=plain).estimate if sample.num_rows else 0.0)
    off = np.array(found) / truth - 1
    return TriedScheme(
        scheme, float(np.sqrt((off**2).mean())), float(off.mean()), float(np.mean(rows))
    )


def _clusters(
    join: WindowJoin, tables: Tables, exact: pa.Table, column: str
) -> tuple[np.ndarray, float]:
    """Matches of each stored row, and the share of the variance that lies between clusters."""
    assert isinstance(join.goal, Sample)
    known = exact.filter(pc.is_valid(exact.column(column)))
    values = known.column(column).cast(pa.float64()).to_numpy()
    number, cluster, counts = np.unique(
        known.column(join.goal.cluster).to_numpy() >> SHARD_BITS,
        return_inverse=True,
        return_counts=True,
    )
    means = np.bincount(cluster, weights=values) / counts
    between = float(np.average((means - values.mean()) ** 2, weights=counts))
    sizes = []
    for side in _waiting(join):
        table, mine = tables[side], number % 2 == side
        # Rows are numbered in order of arrival.
        order = np.argsort(microseconds(table.column(join.sides[side].time)), kind="stable")
        matches = np.zeros(table.num_rows)
        matches[order[number[mine] // 2]] = counts[mine]
        sizes.append(matches)
    total = float(np.var(values))
    return np.concatenate(sizes), between / total if total else 0.0


def _foreseen(join: WindowJoin, tables: Tables, learned: Profile) -> np.ndarray:
    """The matches that the model expects of each stored row."""
    parts = []
    for side in _waiting(join):
        table, window = tables[side], (join.left, join.right)[side].window
        if learned.explains.better == "age":
            parts.append(np.full(table.num_rows, learned.ages[side].total))
        else:
            names = (join.keys.left, join.keys.right)[side]
            columns = [table.column(name) for name in names]
            share = learned.frequencies.match_probability(columns, side)
            parts.append(share * learned.rates[1 - side] * window.span / SECOND_US)
    return np.concatenate(parts)


def _waiting(join: WindowJoin) -> list[int]:
    """The sides whose rows are stored to wait for matches."""
    return [side for side in (0, 1) if join.windows[side].span]
