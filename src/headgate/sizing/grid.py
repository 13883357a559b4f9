"""Runs every policy with every budget, in parallel processes where that pays."""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import NamedTuple

from headgate.learning import Estimate
from headgate.policies import Policy
from headgate.sizing.trial_material import TrialMaterial
from headgate.spec import Budget, SpecError
from headgate.trials.simulation import simulate
from headgate.trials.trace import Trace

WORTH_A_PROCESS = 30_000_000
"""Rows to go through, for which starting another process pays."""


class Cell(NamedTuple):
    """A policy to run with a budget."""

    policy: Policy
    budget: Budget


Report = Callable[[int, int], None]
"""Progress callback: receives the number of cells done and the total."""
Run = Callable[[TrialMaterial, Sequence[Cell], int, Report], list[Estimate | None]]
"""Tries cells, with so many processes at a time."""


class CellCount:
    """Counts the cells of several rounds as those of one."""

    def __init__(self, report: Report) -> None:
        self._report, self._of = report, 0

    def next(self) -> Report:
        """The callback of the next round, which adds its cells to those before."""
        before = self._of

        def report(done: int, of: int) -> None:
            self._of = before + of
            self._report(before + done, before + of)

        return report


def cells_of(policies: Sequence[Policy], budgets: Sequence[Budget]) -> list[Cell]:
    """A cell for every policy and budget."""
    return [Cell(policy, budget) for policy in policies for budget in budgets]


def try_cell(trace: Trace, cell: Cell) -> Estimate | None:
    """The recall; None where the budget is too small for the policy."""
    try:
        return simulate(trace, cell.policy, cell.budget).recall
    except SpecError:
        return None


def try_cells(
    material: TrialMaterial, cells: Sequence[Cell], jobs: int, report: Report
) -> list[Estimate | None]:
    """The recall of every cell, in their order."""
    traces = [material.trace_for(cell.policy) for cell in cells]
    for trace in {id(trace): trace for trace in traces}.values():
        _ = trace.met  # computed once, before traces are sent to workers
    jobs = min(jobs, len(cells), 1 + sum(trace.count for trace in traces) // WORTH_A_PROCESS)
    done: list[Estimate | None] = [None] * len(cells)
    report(0, len(cells))
    for count, (place, recall) in enumerate(_each(traces, cells, jobs), 1):
        done[place] = recall
        report(count, len(cells))
    return done


def _each(
    traces: Sequence[Trace], cells: Sequence[Cell], jobs: int
) -> Iterator[tuple[int, Estimate | None]]:
    if jobs <= 1:
        for place, (trace, cell) in enumerate(zip(traces, cells, strict=True)):
            yield place, try_cell(trace, cell)
        return
    known = list({id(trace): trace for trace in traces}.values())
    which = {id(trace): place for place, trace in enumerate(known)}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, _take_up, (known,)) as pool:
        try:
            futures = {
                pool.submit(_try_known, which[id(trace)], cell): place
                for place, (trace, cell) in enumerate(zip(traces, cells, strict=True))
            }
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


_TRACES: list[Trace] = []
"""The traces of a worker process."""


def _take_up(traces: list[Trace]) -> None:
    _TRACES[:] = traces


def _try_known(trace: int, cell: Cell) -> Estimate | None:
    return try_cell(_TRACES[trace], cell)
