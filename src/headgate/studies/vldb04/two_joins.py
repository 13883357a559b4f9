"""Common parts of Figures 10 and 11: two joins in one memory, one of which grows easier."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure as Drawing

from headgate.report.plot_style import STYLES
from headgate.studies.study import Claim, ClaimFinding, Row, StudyCell
from headgate.studies.vldb04.shared_memory import (
    ALLOC,
    Contender,
    comes_out_alike,
    draw_sharing,
    follows_closed_form,
    memory_given,
    never_behind,
    shared,
)


@dataclass(frozen=True)
class TwoJoins:
    """Two joins that share memory, and a parameter of both.

    Parameters
    ----------
    axis, label
        The parameter: its column, and what it is in words.
    hard, easy
        Kinds of join; the second is easier the greater the parameter.
    since
        The value from which on that is so.
    percent
        The memory there is, of that for both windows.
    """

    axis: str
    label: str
    hard: str
    easy: str
    percent: float
    since: float = 0.0

    def measure(self, cell: StudyCell) -> Sequence[Row]:
        """Both joins under one scheme, at one value of the parameter."""
        joins = [Contender(kind, cell[self.axis]) for kind in (self.hard, self.easy)]
        return shared(joins, self.percent, cell["scheme"], cell.seed, cell.quick)

    def draw(self, results: pd.DataFrame) -> Drawing:
        """Minimum recall and each join's memory, against the parameter."""
        colours = {f"{self.hard} 1": STYLES[2][0], f"{self.easy} 1": STYLES[3][0]}
        return draw_sharing(results, self.axis, self.label, colours, self.percent)

    def gives_less(self, results: pd.DataFrame) -> ClaimFinding:
        """Whether ALLOC gives the easy join less and less."""
        given = memory_given(results, self.axis, ALLOC)[f"{self.easy} 1"].loc[self.since :]
        falls = bool((given.diff().dropna() < 0).all())
        return ClaimFinding(
            falls, ", ".join(f"{part:.1f} % at {at:g}" for at, part in given.items())
        )

    def claims(self, symbol: str, easier: str, formula: str, within: float) -> tuple[Claim, ...]:
        """Those that both figures make."""
        return (
            Claim(
                "alloc-is-never-behind",
                f"ALLOC's minimum recall is at least PROP's at every {symbol} (within 0.005)",
                lambda results: never_behind(results, self.axis, 0.005),
            ),
            Claim(
                "the-easy-join-gets-less",
                f"As {symbol} grows {easier} becomes easier, and ALLOC gives it less",
                self.gives_less,
            ),
            Claim(
                "recall-is-the-same",
                f"Theorem 5.1: under ALLOC both joins have the same recall (within {within:g})",
                lambda results: comes_out_alike(results, self.axis, within),
            ),
            Claim(
                "closed-form",
                f"Measured recall is that of {formula}, for either join under either scheme "
                f"(within {within:g})",
                lambda results: follows_closed_form(results, within),
            ),
        )
