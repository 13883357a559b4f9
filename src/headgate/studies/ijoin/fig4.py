"""Figure 4: output and fairness against the number of values, where all rows matter alike.

GREEDY then has nothing to go by, and what it does is how it breaks ties. Headgate's gives up the
elder of equals. The paper's must refuse the newcomer, or it could not be 20 % fair, so it is here
as well: the same policy, with importances that fall by a billionth from row to row.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Drawing

from headgate.drawing import STYLES
from headgate.studies.ijoin.compare import (
    LINES,
    draw_panels,
    in_case,
    is_first,
    leads,
    listed,
    ranges_of,
    table,
)
from headgate.studies.ijoin.schemes import (
    EXACT,
    FIFO,
    GREEDY,
    IJOIN,
    RAND,
    SCHEMES,
    SIZE,
    measured,
    measured_runs,
    scheme,
)
from headgate.studies.ijoin.streams import HOT_ALIKE, INDEPENDENT_ALIKE, PAPER, Streams, runs_of
from headgate.studies.study import Cell, Claim, Figure, Finding, Row, Study

DOMAINS = (10, 12, 14, 16, 18, 20)
REFUSING = "GREEDY, refusing ties"
RIVALS = (FIFO, RAND, SIZE, GREEDY, REFUSING)
STYLE = {"color": STYLES[6][0], "marker": STYLES[6][1], "markersize": 4.5, "linestyle": "--"}


def ever_less(streams: Streams) -> Streams:
    """The same streams, where a row matters by a trifle less than all before it."""
    trifle = np.arange(streams.importance.size).reshape(streams.importance.T.shape).T * 1e-9
    return replace(streams, importance=streams.importance * (1 - trifle))


def measure(cell: Cell) -> Sequence[Row]:
    """A scheme with so many values."""
    name, case, domain = cell["scheme"], cell["case"], cell["domain"]
    if name != REFUSING:
        return measured_runs(name, case, cell.seed, domain=domain)
    runs = runs_of(case, cell.seed, domain)
    return [
        {"run": run, **measured(ever_less(streams), scheme(GREEDY, cell.seed), seed=cell.seed)}
        for run, streams in enumerate(runs)
    ]


def _falls(results: pd.DataFrame) -> Finding:
    found = table(results, "domain", "pairs")
    last = (found.iloc[-1] / found.iloc[0]).drop(EXACT)
    falls = all(found[name].is_monotonic_decreasing for name in found)
    return Finding(falls, f"output with most values / with fewest: {listed(last, '{:.2f}')}")


def _first(results: pd.DataFrame) -> Finding:
    return is_first(results, "domain", rivals=RIVALS)


def _fair(results: pd.DataFrame) -> Finding:
    found = table(results, "domain", "fairness")[IJOIN]
    return Finding(bool(found.between(0.795, 0.875).all()), listed(found))


def _worst(results: pd.DataFrame) -> Finding:
    found = table(results, "domain", "importance")
    shown = found.drop(columns=EXACT).idxmin(axis=1)
    return Finding(bool((shown == REFUSING).all()), "last: " + ", ".join(sorted(set(shown))))


def _unfair(results: pd.DataFrame) -> Finding:
    found = table(results, "domain", "fairness")[[REFUSING]]
    near = abs(found.iloc[-1, 0] - 0.2) < 0.02
    return Finding(bool(near), ranges_of(found))


def _as_fifo(results: pd.DataFrame) -> Finding:
    found = table(results, "domain", "importance")
    gap = float((found[GREEDY] / found[FIFO] - 1).abs().max())
    return Finding(gap < 1e-9, f"largest difference {gap:.1%}")


def _small_lead(results: pd.DataFrame) -> Finding:
    found = leads(results, "domain", IJOIN, (FIFO, RAND, SIZE))
    shown = "; ".join(f"{by} over {best} ({domain})" for domain, (best, by) in found.items())
    return Finding(all(abs(by.by) < 0.03 for _, by in found.values()), shown)


def draw(results: pd.DataFrame) -> Drawing:
    """Three panels a case."""
    cases = (HOT_ALIKE, INDEPENDENT_ALIKE)
    styles = {**LINES, REFUSING: STYLE}
    return draw_panels(results, "domain", cases, "number of values", "Figure 4", styles)


STUDY = Study(
    name="ijoin-fig4",
    title="Output and fairness against the number of values, all rows of the same importance",
    paper=PAPER,
    place="section 5.3, Figure 4",
    grid={
        "case": (HOT_ALIKE, INDEPENDENT_ALIKE),
        "scheme": (*SCHEMES, REFUSING),
        "domain": DOMAINS,
    },
    quick_grid={"domain": (10, 20)},
    measure=measure,
    seeds=tuple(range(1, 11)),
    claims=(
        Claim(
            "output-falls",
            "Hot topics: with more values every scheme makes less",
            in_case(HOT_ALIKE, _falls),
        ),
        Claim(
            "output-falls-on-independent-values",
            "and so it does on independent values",
            in_case(INDEPENDENT_ALIKE, _falls),
        ),
        Claim(
            "ijoin-first",
            "Hot topics: IJOIN still outperforms all others",
            in_case(HOT_ALIKE, _first),
        ),
        Claim(
            "nothing-to-know-on-independent-values",
            "Beyond the paper: on independent values of one importance nobody can know anything; "
            "IJOIN is within 3 % of the best of FIFO, RAND and SIZE",
            in_case(INDEPENDENT_ALIKE, _small_lead),
        ),
        Claim(
            "ijoin-fair",
            "Hot topics: IJOIN is between 80 % and 85 % fair (within 2 points)",
            in_case(HOT_ALIKE, _fair),
        ),
        Claim(
            "greedy-worst",
            "Hot topics: GREEDY performs worst, if it refuses newcomers that are worth as much as "
            "all that is stored",
            in_case(HOT_ALIKE, _worst),
        ),
        Claim(
            "greedy-20-percent-fair",
            "and is only 20 % fair with twenty values (within 2 points)",
            in_case(HOT_ALIKE, _unfair),
        ),
        Claim(
            "greedy-is-fifo",
            "Beyond the paper: Headgate's GREEDY gives up the elder of equals, and so is FIFO here",
            in_case(HOT_ALIKE, _as_fifo),
        ),
    ),
    figures=(Figure(draw),),
)
