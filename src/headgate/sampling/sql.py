"""Estimates from a sample as SQL, for Spark, DuckDB or any engine with sums and square roots."""

from headgate.sampling.estimators import EstimateRequest, few_terms, normal_quantile
from headgate.spec import SpecError

CLUSTER_SUMS = {
    "a": "sum({w} * {x})",
    "b": "sum({w})",
    "c": "sum(sqrt({w}) * {x})",
    "d": "sum(sqrt({w}))",
    "n": "count(*)",
}
ROW_SUMS = {"a": "{w} * {x}", "b": "{w}", "c": "sqrt({w}) * {x}", "d": "sqrt({w})", "n": "1"}
TOTALS = {
    "a": "sum(a)",
    "b": "sum(b)",
    "aa": "sum(a * a)",
    "ab": "sum(a * b)",
    "bb": "sum(b * b)",
    "cc": "sum(c * c)",
    "cd": "sum(c * d)",
    "dd": "sum(d * d)",
    "n": "sum(n)",
    "m": "count(*)",
}
VALUE = {"count": "b", "sum": "a", "avg": "a / b"}
VARIANCE = {
    "count": "bb - dd",
    "sum": "aa - cc",
    "avg": "case when m < 2 and bb > dd then cast('Infinity' as double) else "
    "greatest((aa - cc) - 2 * (a / b) * (ab - cd) + (a / b) * (a / b) * (bb - dd), 0.0)"
    " / (b * b) * m / greatest(m - 1.0, 1.0) end",
}


def per_cluster(asked: EstimateRequest, clustered: bool) -> dict[str, str]:
    """What to compute for each cluster, or for each row where rows are their own clusters."""
    weight = quoted(asked.goal.weight)
    value = "1"
    if asked.column is not None and asked.kind != "count":
        value = f"cast({quoted(asked.column)} as double)"
    chosen = CLUSTER_SUMS if clustered else ROW_SUMS
    return {name: text.format(w=weight, x=value) for name, text in chosen.items()}


def figures(asked: EstimateRequest) -> dict[str, str]:
    """The estimate and its error from the sums over clusters."""
    first, second = few_terms(asked.goal.confidence)
    free = "greatest(m - 1.0, 1.0)"
    reach = f"({normal_quantile(asked.goal.confidence)!r} + {first!r} / {free}"
    reach += f" + {second!r} / ({free} * {free}))"
    value, error = VALUE[asked.kind], f"sqrt(greatest({VARIANCE[asked.kind]}, 0.0))"
    return {
        "estimate": value,
        "standard_error": error,
        "low": f"{value} - {reach} * {error}",
        "high": f"{value} + {reach} * {error}",
        "rows": "n",
        "clusters": "m",
    }


def query(asked: EstimateRequest, source: str, clustered: bool) -> str:
    """The whole query over a table, view or subquery."""
    names = [quoted(name) for name in asked.by]
    where = f" where {quoted(asked.column)} is not null" if asked.column is not None else ""
    parts = [f"{text} as {name}" for name, text in per_cluster(asked, clustered).items()]
    inner = f"select {', '.join([*names, *parts])} from {source}{where}"
    if clustered:
        inner += f" group by {', '.join([*names, quoted(asked.goal.cluster)])}"
    totals = [f"{text} as {name}" for name, text in TOTALS.items()]
    middle = f"select {', '.join([*names, *totals])} from ({inner}) as clusters"
    if names:
        middle += f" group by {', '.join(names)}"
    shown = [f"{text} as {name}" for name, text in figures(asked).items()]
    return f"select {', '.join([*names, *shown])} from ({middle}) as totals"


def quoted(name: str) -> str:
    """A column name as it is; only plain names, which every engine spells alike."""
    if not name.replace("_", "a").isalnum() or name[:1].isdigit():
        raise SpecError(
            f'the column name "{name}" would need quotes, which engines spell differently: rename '
            f"the column"
        )
    return name
