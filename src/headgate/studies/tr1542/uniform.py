"""UNIFORM's sampling fraction and cost, measured, against Equations 18 to 25."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure as Drawing

from headgate.kernel.layout import Count
from headgate.kernel.rows import Rows
from headgate.kernel.step import Step
from headgate.kernel.step_input import StepInput
from headgate.kernel.terms import Terms
from headgate.kernel.watched import Watching
from headgate.models import Frequencies
from headgate.report.plot_style import STYLES
from headgate.sampling import Uniform
from headgate.sampling.uniform_cost import UniformCost
from headgate.spec import TimeWindow
from headgate.spec.quantity import SECOND_US
from headgate.studies.sampled.memory import (
    KEY_MATCHES,
    LASTS_S,
    WINDOW_S,
    keyed_streams,
)
from headgate.studies.study import Claim, ClaimFinding, Figure, Row, Study, StudyCell

PAPER = (
    "Ayad, Naughton, Wright, Srivastava: Approximating Streaming Window Joins Under CPU "
    "Limitations, 2005"
)
UPDATE = 1.0
"""C_u; costs are in units of it."""
PROBES, OUTPUT = "probes (Equation 23)", "output (Equation 25)"
EVERY_ROW = Watching(seed=0, share=1.0, buckets=1, sides=(True, False))
NEAR = 0.03


def cost_model(produce: float, variant: str) -> UniformCost:
    """The cost of the streams at hand; a unit of time is a second."""
    shares = dict(enumerate((KEY_MATCHES / KEY_MATCHES.sum()).tolist()))
    rate = float(KEY_MATCHES.sum()) / WINDOW_S
    model = Frequencies.of_mappings(shares, shares)
    return UniformCost(
        model, (rate, rate), (WINDOW_S, 0.0), UPDATE, produce, counts_probes=variant == PROBES
    )


def measure(cell: StudyCell) -> Sequence[Row]:
    """Solve for the sampling fraction, run it, and count what it did."""
    sides, codes = keyed_streams(LASTS_S)
    model = cost_model(cell["produce"], cell["variant"])
    budget = cell["budget"] * model.cost(1.0)
    share = model.fraction_for(budget)
    policy = Uniform(model.frequencies, share, seed=cell.seed, as_printed=True)
    terms = Terms((TimeWindow(round(WINDOW_S * SECOND_US)), TimeWindow(0)), policy)
    nothing = (Rows.empty(), Rows.empty())
    step = Step(StepInput(terms, nothing, sides, codes, watching=EVERY_ROW))
    output = sum(len(block.left) for block in step.pairs())
    exact = Step(StepInput(terms.exact(), nothing, sides, codes)).count_pairs()
    probed = int(step.watched(0).made.sum())
    admitted = int(step.counts[Count.ADMITTED].sum())
    # The last rows meet only part of their window; the exact result says how much of it.
    whole = exact / (model.output(1.0) * LASTS_S)
    made = probed if cell["variant"] == PROBES else output
    return [
        {
            "share": share,
            "fraction": output / exact,
            "admitted": admitted / LASTS_S,
            "admitted expected": model.admitted(share),
            "probed": probed / LASTS_S / whole,
            "probed expected": model.probed(share),
            "budget cost": budget,
            "cost": (admitted * UPDATE + made / whole * cell["produce"]) / LASTS_S,
        }
    ]


def _ratio(results: pd.DataFrame, measured: str, expected: str) -> ClaimFinding:
    ratio = results[measured] / results[expected]
    worst = float(ratio.iloc[int((ratio - 1).abs().to_numpy().argmax())])
    return ClaimFinding(abs(worst - 1) <= NEAR, f"farthest {worst:.3f} of it")


def _fraction(results: pd.DataFrame) -> ClaimFinding:
    return _ratio(results, "fraction", "share")


def _admitted(results: pd.DataFrame) -> ClaimFinding:
    return _ratio(results, "admitted", "admitted expected")


def _probed(results: pd.DataFrame) -> ClaimFinding:
    return _ratio(results, "probed", "probed expected")


def _cost(results: pd.DataFrame) -> ClaimFinding:
    return _ratio(results, "cost", "budget cost")


def draw(results: pd.DataFrame) -> Drawing:
    """The fraction that a budget buys, by what producing costs; dots are measured."""
    figure = Drawing(figsize=(9.0, 3.6), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, variant in zip(panels, (PROBES, OUTPUT), strict=True):
        own = results[results["variant"] == variant]
        for (produce, part), (colour, marker) in zip(own.groupby("produce"), STYLES, strict=False):
            mean = part.groupby("budget")[["share", "fraction"]].mean()
            axes.plot(mean.index, mean["share"], color=colour, linewidth=1.0)
            label = f"$C_p = {produce:g}\\,C_u$"
            axes.plot(mean.index, mean["fraction"], marker, color=colour, label=label)
        axes.set_title(f"Cost counts {variant}", loc="left")
        axes.set_xlabel("budget, as a share of the exact join's cost")
        axes.legend()
    panels[0].set_ylabel("sampling fraction (line: solved)")
    return figure


STUDY = Study(
    name="tr1542-uniform",
    title="UNIFORM within a CPU budget",
    paper=PAPER,
    place="section 4, Equations 18 to 25",
    grid={
        "variant": (PROBES, OUTPUT),
        "produce": (0.1, 1.0),
        "budget": (0.1, 0.2, 0.4, 0.6, 0.8),
    },
    quick_grid={"budget": (0.2, 0.6)},
    measure=measure,
    seeds=(1, 2),
    claims=(
        Claim("fraction", "The fraction sampled is the one solved for (within 3 %)", _fraction),
        Claim("admitted", "Rows admitted are those of Equation 20 (within 3 %)", _admitted),
        Claim("probed", "Stored rows probed are those of Equation 22 (within 3 %)", _probed),
        Claim("cost", "The cost is the budget, in both variants (within 3 %)", _cost),
    ),
    figures=(Figure(draw),),
)
