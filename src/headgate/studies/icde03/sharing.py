"""Common parts of Figures 5 to 7: limited resources and strategies to share them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure as Drawing

from headgate.models.cost import Demand, JoinAllocation
from headgate.studies.icde03.limited import (
    PAPER,
    Case,
    at_the_end,
    draw_output,
    in_order,
    measure_allocation,
    near_the_estimate,
)
from headgate.studies.study import Claim, ClaimFinding, Figure, Row, Study, StudyCell

NEAR = 0.05


@dataclass(frozen=True)
class Sharing:
    """A join that exceeds its resources, and the strategies to share them.

    Parameters
    ----------
    demand, keys, fills_s
        As in `Case`.
    strategies
        By name.
    lasts_s, quick_lasts_s
        Seconds of stream that are measured; in a quick run.
    means
        The limited resource, in words: the figure's title.
    """

    demand: Demand
    strategies: Mapping[str, JoinAllocation]
    keys: tuple[int, int]
    fills_s: float
    lasts_s: float
    quick_lasts_s: float
    means: str

    def measure(self, cell: StudyCell) -> Sequence[Row]:
        """Output over time under one strategy."""
        lasts_s = self.quick_lasts_s if cell.quick else self.lasts_s
        case = Case(self.demand, self.keys, lasts_s, self.fills_s)
        return measure_allocation(case, self.strategies[cell["strategy"]], cell.seed)

    def draw(self, results: pd.DataFrame) -> Drawing:
        """Output over time."""
        return draw_output(results, self.means)

    def best_measured(self, results: pd.DataFrame) -> JoinAllocation:
        """The strategy with the most output."""
        return self.strategies[str(at_the_end(results)["pairs"].idxmax())]

    def best_is_solved(self, solved: JoinAllocation, shared: str, unit: str) -> Claim:
        """The claim that the best strategy shares rates or windows as the allocation solved for.

        Parameters
        ----------
        shared
            What is shared: ``"rates"`` or ``"windows"``.
        unit
            What rows of A and B are counted by, in words.
        """

        def judge(results: pd.DataFrame) -> ClaimFinding:
            most, (a, b) = self.best_measured(results), getattr(solved, shared)
            return ClaimFinding(
                getattr(most, shared) == (a, b),
                f"measured {most.strategy}; solved {a:g} rows of A and {b:g} of B{unit}",
            )

        what = "The allocation solved for is the one that makes most"
        return Claim("best-is-solved", what, judge)

    def study(self, number: int, title: str, part: str, claims: tuple[Claim, ...]) -> Study:
        """The study of a figure, whose claims are these."""
        return Study(
            name=f"icde03-fig{number}",
            title=title,
            paper=PAPER,
            place=f"section {part}, Figure {number}",
            grid={"strategy": tuple(self.strategies)},
            measure=self.measure,
            seeds=(1, 2, 3),
            claims=claims,
            figures=(Figure(self.draw),),
        )


def in_this_order(name: str, what: str, strategies: tuple[str, ...]) -> Claim:
    """The claim that strategies make less from the first to the last, at every moment."""
    return Claim(name, what, lambda results: in_order(results, strategies))


def as_estimated(equation: int) -> Claim:
    """The claim that each strategy's output follows an equation of the paper."""

    def judge(results: pd.DataFrame) -> ClaimFinding:
        return near_the_estimate(results, NEAR)

    what = f"Each makes what Equation {equation} says (within {NEAR:.0%})"
    return Claim("as-estimated", what, judge)
