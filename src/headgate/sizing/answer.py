"""Runs the what-if analysis: from traces to recall against memory."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from headgate.engine.limits import room_for
from headgate.learning import Estimate
from headgate.policies import Policy
from headgate.sizing.auto_cells import NOTE, AutoCells
from headgate.sizing.grid import Cell, CellCount, Report, Run, cells_of, try_cells
from headgate.sizing.optimum import LABEL, is_solved, optimum
from headgate.sizing.points import budgets_of, policies_of
from headgate.sizing.sizes_between import tried_between
from headgate.sizing.trial_material import TrialMaterial
from headgate.sizing.what_if import SizingPoint, WhatIf
from headgate.spec import Budget, How, MaxImportance, SpecError
from headgate.spec.budget import MONITOR

LIKELY_ROWS = 10_000
"""A usual budget of a shard, of which a monitor's share is taken."""
Build = Callable[[Policy, Budget], Any]
OPTIMUM_NOTE = (
    "{label} was planned over {rows:,} rows{which}: it is a ceiling, and no policy to run."
)
BOUND_NOTE = (
    "{label} is an upper bound over {rows:,} rows{which}: no policy can make more, and at every "
    "memory something makes at least {reached:.0%} of it."
)


def answer(
    material: TrialMaterial,
    policies: "Iterable[str | Policy] | str | Policy | None",
    memory: "Sequence[int | float | str] | int | str | None",
    jobs: int,
    report: Report,
    run: Run = try_cells,
    build: Build | None = None,
) -> WhatIf:
    """Try every policy with every budget; ``run`` says where to execute.

    ``build`` makes the join with a policy and a budget.
    """
    trace = material.keys
    request = trace.request
    if not material.needs.rows:
        raise SpecError(
            "the exact join would hold no row: there are none, or both windows are zero"
        )
    budgets = budgets_of(memory, material.needs, request.budget)
    chosen = policies_of(policies, request)
    cells, counted = cells_of(chosen, budgets), CellCount(report)

    def recalls(cells: Sequence[Cell]) -> list[Estimate | None]:
        return run(material, cells, jobs, counted.next())

    tries = recalls if material.is_whole else AutoCells(request, chosen, recalls).recalls

    def trial(cells: Sequence[Cell]) -> tuple[SizingPoint, ...]:
        return tuple(
            _point(cell.policy.label, cell.budget, recall, material)
            for cell, recall in zip(cells, tries(cells), strict=True)
            if recall is not None
        )

    points = trial(cells)
    between = () if memory is not None else tried_between(points, chosen, budgets[0], trial)
    best, notes = _optimum(material, budgets, points)
    return WhatIf(
        points=points,
        between=between,
        optimum=best,
        needs=material.needs,
        pairs=_pairs(material),
        rows=material.rows or trace.whole.rows,
        buffered=material.rows is not None,
        looked_at=_looked_at(material),
        share=trace.draw.share,
        drawn_by="times" if material.is_tiny else "keys",
        question=question(material),
        notes=(*material.notes, *_by_history(material, cells), *_of_auto(material, chosen), *notes),
        importance=isinstance(request.goal, MaxImportance),
        how=request.how,
        monitored={policy.label: _monitored(policy, request.budget) for policy in chosen},
        build=None if build is None else partial(_built, build, chosen),
    )


def _of_auto(material: TrialMaterial, chosen: Sequence[Policy]) -> tuple[str, ...]:
    """How "auto" was told, where it was not run."""
    if material.is_whole:
        return ()
    return tuple(NOTE.format(label=policy.label) for policy in chosen if policy.tries_others)


def _monitored(policy: Policy, budget: Budget) -> float:
    """The part of a memory budget that goes to a monitor which only estimates recall."""
    if policy.learns or policy.samples or budget.monitor is not None:
        return 0.0
    return room_for(Budget(rows=LIKELY_ROWS), policy, 1, MONITOR).rows / LIKELY_ROWS


def _built(build: Build, chosen: Sequence[Policy], label: str, budget: Budget) -> Any:
    return build({policy.label: policy for policy in chosen}[label], budget)


def question(material: TrialMaterial) -> str:
    """The join, described in one line."""
    request = material.keys.request
    keys = request.keys
    pairs = zip(keys.left, keys.right, strict=True)
    on = [one if one == other else f"{one} = {other}" for one, other in pairs]
    if request.where is not None:
        on.append(str(request.where))
    sides = [
        f"{which} rows ({side.time}) wait {side.window}"
        for which, side in (("left", request.left), ("right", request.right))
    ]
    kind = "Join" if request.how == How.INNER else f"{request.how.capitalize()} join"
    return f"{kind} on {', '.join(on)}; {'; '.join(sides)}."


def _looked_at(material: TrialMaterial) -> int:
    if material.is_tiny and material.times is not None:
        return material.times.count
    return material.keys.count


def _pairs(material: TrialMaterial) -> float:
    """Pairs of the exact result; for buffers, those within one window."""
    trace = material.keys
    if material.rows is None or trace.stretches is None:
        return trace.met.total / trace.share
    counted = float((trace.stretches.end - trace.stretches.counts_from).sum())
    window = max(window.span for window in trace.windows)
    return trace.met.total / trace.draw.share * window / counted


def _by_history(material: TrialMaterial, cells: Sequence[Cell]) -> tuple[str, ...]:
    times = material.times
    if times is None:
        misled = dict.fromkeys(
            cell.policy.label for cell in cells if cell.policy.kind.goes_by_history
        )
        if not misled or not material.keys.is_thinned.any():
            return ()
        return (
            f"{', '.join(misled)} go by what happened to rows, and of frequent keys not all rows "
            f"were looked at: with little memory they do better than told here. Give more rows "
            f"(most_rows) to be sure.",
        )
    labels = dict.fromkeys(
        cell.policy.label for cell in cells if material.trace_for(cell.policy) is times
    )
    if times.stretches is None or not labels:
        return ()
    count = len(times.stretches.begin)
    if material.is_tiny:
        return (
            f"Windows hold few rows, so all keys were looked at in {count} stretches of time, "
            f"evenly spread.",
        )
    return (
        f"{', '.join(labels)} go by what happened to rows, and were run over {times.count:,} rows "
        f"in {count} stretches of time instead.",
    )


def _optimum(
    material: TrialMaterial, budgets: Sequence[Budget], points_tried: Sequence[SizingPoint]
) -> tuple[tuple[SizingPoint, ...], tuple[str, ...]]:
    """The optimum's points, raised to the best policy's result where the sample it is planned
    over falls short of that."""
    trace = material.planned_over
    if trace is None:
        return (), ()
    points = []
    for budget in budgets:
        rows = budget.rows or round((budget.memory or 0) / material.needs.row_bytes)
        best = optimum(trace, max(rows, 1))
        made = max((tried.recall for tried in points_tried if tried.rows == rows), default=0.0)
        best = Estimate(max(best.value, made), max(best.low, made), max(best.high, made))
        points.append(_point(LABEL, budget, best, material))
    is_all = (trace.is_whole and material.is_whole) or material.rows is not None
    which = "" if is_all else " from the middle of the time"
    if is_solved(trace):
        return tuple(points), (OPTIMUM_NOTE.format(label=LABEL, rows=trace.count, which=which),)
    reached = min(point.low / max(point.recall, 1e-300) for point in points)
    told = BOUND_NOTE.format(label=LABEL, rows=trace.count, which=which, reached=reached)
    return tuple(points), (told,)


def _point(label: str, budget: Budget, recall: Estimate, material: TrialMaterial) -> SizingPoint:
    each = material.needs.row_bytes
    rows = budget.rows if budget.rows is not None else round((budget.memory or 0) / max(each, 1.0))
    size = budget.memory if budget.memory is not None else round(rows * each)
    return SizingPoint(label, rows, size, recall.value, recall.low, recall.high)
