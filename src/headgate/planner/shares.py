"""A join's share of a shared budget, and the table of all shares."""

from collections.abc import Mapping
from dataclasses import dataclass

from headgate.planner.quality_curve import Measure
from headgate.report.report_section import ReportSection
from headgate.spec import Budget
from headgate.spec.quantity import format_bytes


@dataclass(frozen=True)
class BudgetShare:
    """The memory one join of a group gets and the quality expected from it.

    Parameters
    ----------
    weight
        Its target quality relative to the others.
    memory, quality
        Its rows or bytes, and the recall or error expected of it.
    exact_memory
        What the exact join would take.
    prop_memory, prop_quality
        The same if memory were shared in proportion to what each join needs.
    why
        Where its curve comes from; empty where the caller gave it.
    """

    weight: float
    memory: int
    quality: float
    exact_memory: float
    prop_memory: int
    prop_quality: float
    why: str


def as_text(
    budget: Budget,
    measure: Measure,
    shares: Mapping[str, BudgetShare],
    worst: float,
    worst_under_prop: float,
) -> str:
    """One line per join, and the expected quality of the worst-off."""
    heads = ("join", "weight", "memory", "of exact", measure.value, "under PROP")
    table = [heads, *(_cells(budget, name, share) for name, share in shares.items())]
    widths = [max(len(row[place]) for row in table) for place in range(len(heads))]
    lines = [
        "  "
        + "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in table
    ]
    best = "lowest recall is as high" if measure is Measure.RECALL else "greatest error is as low"
    by_weight = any(share.weight != 1 for share in shares.values())
    what = {
        (Measure.RECALL, False): "Lowest recall",
        (Measure.RECALL, True): "Lowest recall over weight",
        (Measure.ERROR, False): "Greatest error",
        (Measure.ERROR, True): "Greatest error times weight",
    }[measure, by_weight]
    return "\n".join(
        [
            f"{len(shares)} joins share {budget} so that the {best} as can be",
            *lines,
            f"{what} {worst:.3f}; in proportion to what each needs (PROP) it would be "
            f"{worst_under_prop:.3f}.",
            *(f"  {name}: {share.why}" for name, share in shares.items() if share.why),
        ]
    )


def as_section(
    plan_text: str, budget: Budget, measure: Measure, shares: Mapping[str, BudgetShare]
) -> ReportSection:
    """The same as a section, for notebooks: first and last lines of the text, and the table."""
    title, *rest = plan_text.splitlines()
    heads = ("join", "weight", "memory", "of exact", measure.value, "under PROP")
    rows = tuple(_cells(budget, name, share) for name, share in shares.items())
    return ReportSection(title, heads=heads, rows=rows, below=tuple(rest[len(rows) + 1 :]))


def _cells(budget: Budget, name: str, share: BudgetShare) -> tuple[str, ...]:
    in_rows = budget.rows is not None
    part = share.memory / share.exact_memory if share.exact_memory else 1.0
    return (
        name,
        f"{share.weight:g}",
        f"{share.memory:,} rows" if in_rows else format_bytes(share.memory),
        f"{100 * part:.1f} %",
        f"{share.quality:.3f}",
        f"{share.prop_quality:.3f}",
    )
