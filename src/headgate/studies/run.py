"""Measuring the cells of studies, on all cores, with progress shown."""

import multiprocessing
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

import pandas as pd
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from headgate.studies.catalogue import study_named
from headgate.studies.study import Study, StudyCell

Measured = list[dict[str, Any]]


def available_cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def measure(cell: StudyCell) -> Measured:
    """Measure one cell; the study is looked up by name, so that only cells are sent to workers."""
    return cell.rows(study_named(cell.study).measure(cell))


def run(
    studies: Sequence[Study],
    seeds: Sequence[int] | None,
    quick: bool,
    jobs: int,
    console: Console,
) -> Mapping[str, pd.DataFrame]:
    """Measure every cell of the studies; results by study, in the order of the grid.

    The order in which cells are done changes nothing: each draws from its own seed alone.
    """
    cells = [cell for study in studies for cell in study.cells(seeds, quick)]
    left = {study.name: sum(cell.study == study.name for cell in cells) for study in studies}
    done: dict[int, Measured] = {}
    columns = (
        TextColumn("{task.description:<22}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        bars = {name: progress.add_task(name, total=count) for name, count in left.items()}
        for place, measured in _each(cells, jobs):
            done[place] = measured
            name = cells[place].study
            left[name] -= 1
            progress.advance(bars[name])
            if not left[name]:
                progress.stop_task(bars[name])
    return {
        study.name: pd.DataFrame(
            [
                row
                for place, cell in enumerate(cells)
                if cell.study == study.name
                for row in done[place]
            ]
        )
        for study in studies
    }


def _each(cells: Sequence[StudyCell], jobs: int) -> Iterator[tuple[int, Measured]]:
    """Cells as they are done: their place and what was measured."""
    if jobs == 1 or len(cells) < 2:
        for place, cell in enumerate(cells):
            yield place, measure(cell)
        return
    # A fresh interpreter per worker: forking a process with a progress thread may deadlock.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(cells)), mp_context=context) as pool:
        try:
            futures = {pool.submit(measure, cell): place for place, cell in enumerate(cells)}
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
