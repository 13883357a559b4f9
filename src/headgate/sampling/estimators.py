"""Estimates from a sample: count, sum and average, with the error that belongs to the design.

Rows of one cluster were sampled together, so a cluster counts as one observation; treating its rows
as independent would make errors look smaller than they are. A sample of single rows is the case
where every row is a cluster of its own.

For a cluster let A = Σ w·x, B = Σ w, C = Σ √w·x, D = Σ √w over its rows, w being the weight. Sums
of A² - C² over the clusters estimate the variance of Σ A without bias where the rows of a cluster
have one weight, and err on the safe side where it grew as memory got short: a row sampled at
weight v and one at w ≥ v have covariance w·v - w, and A² - C² takes √(v·w) for the last term.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.spec import Sample, SpecError

AGGREGATES = ("count", "sum", "avg")
FIGURES = ("estimate", "standard_error", "low", "high", "rows", "clusters")
SUMS = ("a", "b", "aa", "ab", "bb", "cc", "cd", "dd", "n", "m")
"""Over the clusters: of A, B, their products, rows and clusters."""


@dataclass(frozen=True)
class Estimated:
    """An aggregate over the exact result, estimated from a sample.

    Parameters
    ----------
    estimate
        The unbiased estimate.
    standard_error
        Its standard error.
    low, high
        The confidence interval.
    rows, clusters
        What it rests on.
    within
        Whether it keeps to ``error``; None where no error was asked for.
    error
        The relative error asked for, or a wider one where that was allowed.

    Examples
    --------
    >>> print(Estimated(10.0, 0.5, 9.0, 11.0, rows=40, clusters=8))
    10 (9 to 11), from 40 rows in 8 clusters
    """

    estimate: float
    standard_error: float
    low: float
    high: float
    rows: int
    clusters: int
    within: bool | None = None
    error: float | None = None

    def __str__(self) -> str:
        return (
            f"{self.estimate:.6g} ({self.low:.6g} to {self.high:.6g}), from {self.rows:,} rows in "
            f"{self.clusters:,} clusters"
        )


class EstimateError(SpecError):
    """An estimate does not keep to the error that was asked for."""


@dataclass(frozen=True)
class EstimateRequest:
    """What to estimate, and how sure to be.

    Parameters
    ----------
    kind
        "count", "sum" or "avg".
    column
        Of what; rows themselves are counted when left out.
    by
        Columns to group by.
    goal
        The sample's goal: the names of its columns, the confidence, and the contract.
    """

    kind: str
    column: str | None
    by: tuple[str, ...]
    goal: Sample

    def __post_init__(self) -> None:
        if self.column is None and self.kind != "count":
            raise SpecError(f"{self.kind} of what? Give the column")

    def check_columns(self, present: Sequence[str]) -> None:
        """Raise unless the sample has the columns."""
        wanted = [name for name in (*self.by, self.column, self.goal.weight) if name is not None]
        for name in wanted:
            if name not in present:
                hint = "; is this the result of a join with goal=hg.Sample(...)?"
                raise SpecError(
                    f'the sample has no column "{name}": it has {", ".join(present)}'
                    f"{hint if name == self.goal.weight else ''}"
                )

    def is_clustered(self, present: Sequence[str]) -> bool:
        """Whether rows were sampled by cluster."""
        return self.goal.cluster in present


def over_table(table: pa.Table, asked: EstimateRequest) -> pa.Table:
    """The estimates of a sample in an Arrow table: a row a group, with `FIGURES`."""
    asked.check_columns(table.column_names)
    if asked.column is not None:
        table = table.filter(pc.is_valid(table.column(asked.column)))
    if table.num_rows == 0:
        return _no_estimates(table.schema, asked)
    weight = table.column(asked.goal.weight).to_numpy()
    value = np.ones(len(weight))
    if asked.column is not None and asked.kind != "count":
        value = table.column(asked.column).cast(pa.float64()).to_numpy()
    root = np.sqrt(weight)
    rows = pa.table(
        {
            **{f"by {place}": table.column(name) for place, name in enumerate(asked.by)},
            "a": weight * value,
            "b": weight,
            "c": root * value,
            "d": root,
            "n": np.ones(len(weight), np.int64),
        }
    )
    names = [f"by {place}" for place in range(len(asked.by))]
    if asked.is_clustered(table.column_names):
        keys = [*names, "cluster"]
        rows = rows.append_column("cluster", table.column(asked.goal.cluster))
        rows = _sums(rows, keys, ("a", "b", "c", "d", "n"))
    a, b, c, d = (rows.column(name).to_numpy() for name in "abcd")
    products = {"aa": a * a, "ab": a * b, "bb": b * b, "cc": c * c, "cd": c * d, "dd": d * d}
    clusters = rows.select([*names, "a", "b", "n"])
    for name, column in products.items():
        clusters = clusters.append_column(name, pa.array(column))
    clusters = clusters.append_column("m", pa.array(np.ones(len(a), np.int64)))
    totals = _sums(clusters, names, SUMS)
    sums = {name: totals.column(name).to_numpy() for name in SUMS}
    figures = figures_of(asked.kind, sums, asked.goal.confidence)
    groups = {name: totals.column(f"by {place}") for place, name in enumerate(asked.by)}
    return pa.table({**groups, **{name: figures[name] for name in FIGURES}})


def _no_estimates(schema: pa.Schema, asked: EstimateRequest) -> pa.Table:
    kinds = [pa.float64()] * 4 + [pa.int64()] * 2
    fields = [*(schema.field(name) for name in asked.by), *zip(FIGURES, kinds, strict=True)]
    return pa.schema(fields).empty_table()


def figures_of(kind: str, sums: dict[str, np.ndarray], confidence: float) -> dict[str, np.ndarray]:
    """Estimates, errors and intervals from the sums over clusters."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if kind == "count":
            estimate, variance = sums["b"], sums["bb"] - sums["dd"]
        elif kind == "sum":
            estimate, variance = sums["a"], sums["aa"] - sums["cc"]
        else:
            mean = sums["a"] / sums["b"]
            spread = sums["aa"] - 2 * mean * sums["ab"] + mean**2 * sums["bb"]
            known = sums["cc"] - 2 * mean * sums["cd"] + mean**2 * sums["dd"]
            few = sums["m"] / np.maximum(sums["m"] - 1.0, 1.0)
            variance = few * np.maximum(spread - known, 0.0) / sums["b"] ** 2
            # A single cluster agrees with itself, which says nothing unless it was certain.
            alone = (sums["m"] < 2) & (sums["bb"] > sums["dd"])
            estimate, variance = mean, np.where(alone, np.inf, variance)
        error = np.sqrt(np.maximum(variance, 0.0))
        reach = _reach(sums["m"], confidence) * error
    return {
        "estimate": estimate,
        "standard_error": error,
        "low": estimate - reach,
        "high": estimate + reach,
        "rows": sums["n"].astype(np.int64),
        "clusters": sums["m"].astype(np.int64),
    }


def normal_quantile(confidence: float) -> float:
    """Standard errors to either side of a normal variable's interval.

    Examples
    --------
    >>> round(normal_quantile(0.95), 3)
    1.96
    """
    return NormalDist().inv_cdf((1 + confidence) / 2)


def few_terms(confidence: float) -> tuple[float, float]:
    """What to add for few clusters, over their number less one and over its square.

    The first terms of the expansion of Student's t; right to 1 % from five clusters on.
    """
    z = normal_quantile(confidence)
    return (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96


def _reach(clusters: np.ndarray, confidence: float) -> np.ndarray:
    free = np.maximum(clusters - 1.0, 1.0)
    first, second = few_terms(confidence)
    reach: np.ndarray = normal_quantile(confidence) + first / free + second / free**2
    return reach


def with_contract(table: pa.Table, goal: Sample) -> pa.Table:
    """Add to estimates whether they keep to the error requested."""
    if goal.error is None:
        return table
    estimate, high = (table.column(name).to_numpy() for name in ("estimate", "high"))
    reach = high - estimate
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(reach == 0, 0.0, reach / np.abs(estimate))
    relative = np.nan_to_num(relative, nan=np.inf, posinf=np.inf)
    if goal.otherwise == "fail" and np.any(relative > goal.error):
        before, after = not_within(goal)
        raise EstimateError(f"{before}{relative.max():.1%}{after}")
    error = np.full(len(relative), goal.error)
    if goal.otherwise == "widen":
        error = np.maximum(relative, error)
    table = table.append_column("within", pa.array(relative <= error))
    return table.append_column("error", pa.array(error))


def not_within(goal: Sample) -> tuple[str, str]:
    """The message for a contract not kept: what comes before the relative error, and after it."""
    return (
        "an estimate is only sure to ",
        f" with {goal.confidence:.0%} confidence, and error={goal.error:g} was asked for: give the "
        f"join more memory, aggregate over larger groups, or ask for "
        f'otherwise="widen" or "mark"',
    )


def _sums(table: pa.Table, keys: list[str], columns: Sequence[str]) -> pa.Table:
    summed = table.group_by(keys, use_threads=False).aggregate([(name, "sum") for name in columns])
    return summed.rename_columns([name.removesuffix("_sum") for name in summed.column_names])
