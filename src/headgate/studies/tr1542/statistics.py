"""When collecting key statistics pays off.

Strategies that distinguish keys must count them, and counting takes CPU time too. The paper asks
where that costs more than it gains. Here every arrival that is counted costs C_s: semantic PNI has
the budget less that, PNI, which needs no counts, all of it. The C_s at which both make the same is
what counting may cost at most; below it the keys are worth knowing.

Skew makes counting pay, but only as far as updates are what is paid for: where both sides have the
same few frequent keys, there are more pairs the greater the skew, every pair costs the same, and
the affordable cost of counting falls again.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Drawing
from scipy.optimize import brentq

from headgate.models.skipping import Workload, probe_no_insert, semantic_pni
from headgate.report.plot_style import STYLES
from headgate.studies.study import Claim, ClaimFinding, Figure, Row, Study, StudyCell
from headgate.studies.tr1542.execution import (
    ALIKE,
    INVERSE,
    blocks_for,
    execute,
    streams,
    workload,
)
from headgate.studies.tr1542.uniform import PAPER

RATES, WINDOWS_S = (2.0, 2.0), (100.0, 100.0)
UPDATE = 10.0
"""C_u, where a pair costs 1."""
EXPONENTS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25)
CHEAP, DEAR = 0.5, 1.5
"""Of what counting may cost at most: below it and above."""
ERROR = 0.005


def most_for_counting(join: Workload) -> float:
    """The C_s at which semantic PNI makes no more than PNI does without counting.

    Examples
    --------
    >>> skewed = Workload([9, 1], [1, 9], (10, 10), update=1, produce=0, budget=10)
    >>> round(most_for_counting(skewed), 6)
    0.4
    >>> most_for_counting(Workload([5, 5], [5, 5], (10, 10), update=1, produce=0, budget=10))
    0.0
    """
    without = probe_no_insert(join).output

    def lead(budget: float) -> float:
        return semantic_pni(join.within(budget)).output - without

    if lead(join.budget) <= 1e-9 * without:
        return 0.0
    enough = brentq(lead, 0.0, join.budget, xtol=1e-12 * join.budget)
    arrivals = float(join.left.sum() + join.right.sum())
    return float(join.budget - enough) / arrivals


def measure(cell: StudyCell) -> Sequence[Row]:
    """What counting may cost, and both strategies carried out below that and above."""
    exponent = cell["exponent"]
    join = workload(cell["keys"], RATES, WINDOWS_S, UPDATE, cell["budget"], exponent)
    most = most_for_counting(join)
    arrivals = float(join.left.sum() + join.right.sum())
    sides = streams(cell["keys"], RATES, cell.seed, exponent)
    found: dict[str, float] = {"most": most / UPDATE}
    plan = probe_no_insert(join)
    found["without"] = execute(join, plan, sides, blocks_for(join, plan, ERROR), cell.seed).output
    for name, part in (("cheap", CHEAP), ("dear", DEAR)):
        left = max(join.budget - part * most * arrivals, 0.0)
        plan = semantic_pni(join.within(left))
        made = execute(join, plan, sides, blocks_for(join, plan, ERROR), cell.seed)
        found[name] = made.output
    return [found]


def _even(results: pd.DataFrame) -> ClaimFinding:
    own = results[results["exponent"] == 0]["most"]
    return ClaimFinding(bool(own.max() < 1e-6), f"at most {own.max():.1g} of C_u")


def _most(results: pd.DataFrame) -> pd.DataFrame:
    """A line a kind of keys and budget, a column an exponent."""
    return results.pivot_table(index=["keys", "budget"], columns="exponent", values="most")


def _grows(results: pd.DataFrame) -> ClaimFinding:
    moderate = _most(results[results["exponent"] <= 0.5])
    inverse = _most(results[results["keys"] == INVERSE])
    rises = [bool((np.diff(part.to_numpy(), axis=1) > 0).all()) for part in (moderate, inverse)]
    half, steep = moderate.iloc[:, -1], _most(results).iloc[:, -1]
    return ClaimFinding(
        all(rises),
        f"{half.min():.2f} to {half.max():.2f} of C_u with exponent {half.name}; "
        f"{steep.min():.2f} to {steep.max():.2f} with {steep.name}",
    )


def _as_said(results: pd.DataFrame) -> ClaimFinding:
    own = results[results["exponent"] >= 0.5]
    cheap, dear = own["cheap"] / own["without"] - 1, own["dear"] / own["without"] - 1
    return ClaimFinding(
        bool(cheap.min() > 0 and dear.max() < 0),
        f"at {CHEAP:g} of it semantic PNI is ahead by {cheap.min():.1%} or more, at {DEAR:g} "
        f"behind by {-dear.max():.1%} or more",
    )


def draw(results: pd.DataFrame) -> Drawing:
    """What counting may cost against skew, a line a budget."""
    figure = Drawing(figsize=(8.6, 3.6), layout="constrained")
    kinds = list(dict.fromkeys(results["keys"]))
    panels = np.atleast_1d(figure.subplots(1, len(kinds), sharey=True))
    for axes, keys in zip(panels, kinds, strict=True):
        table = results[results["keys"] == keys].pivot_table(
            index="exponent", columns="budget", values="most"
        )
        for budget, (colour, marker) in zip(table.columns, STYLES, strict=False):
            label = f"budget {100 * budget:.0f} %"
            axes.plot(table.index, table[budget], f"{marker}-", color=colour, label=label)
        axes.set_title(f"Keys: {keys}", loc="left")
        axes.set_xlabel("Zipf exponent of the keys")
        axes.set_ylim(bottom=0)
    panels[0].set_ylabel("counting pays up to\n$C_s$ of so many $C_u$")
    panels[0].legend()
    return figure


STUDY = Study(
    name="tr1542-statistics",
    title="What counting keys may cost before it costs more than it brings",
    paper=PAPER,
    place="section 6: the question left open",
    grid={"keys": (ALIKE, INVERSE), "exponent": EXPONENTS, "budget": (0.2, 0.4, 0.6, 0.8)},
    quick_grid={"exponent": (0.0, 0.5, 1.0), "budget": (0.4, 0.8)},
    measure=measure,
    seeds=(1,),
    claims=(
        Claim("even", "Where all keys are as frequent, counting them never pays", _even),
        Claim(
            "grows-with-skew",
            "The more skewed the keys, the more counting may cost: up to exponent 0.5 where the "
            "sides are alike, throughout where they are inverse",
            _grows,
        ),
        Claim(
            "measured",
            f"Measured (exponent 0.5 or more), semantic PNI is ahead of PNI where counting costs "
            f"{CHEAP:g} of that, and behind where it costs {DEAR:g}",
            _as_said,
        ),
    ),
    figures=(Figure(draw),),
)
