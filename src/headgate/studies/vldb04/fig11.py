"""Figure 11: two joins under AGE in one memory, one of them easier the steeper its age curve."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure as Drawing

from headgate.report.plot_style import STYLES
from headgate.studies.study import Cell, Claim, Figure, Finding, Row, Study
from headgate.studies.vldb04.shared_memory import (
    ALLOC,
    DEC,
    INC,
    PROP,
    Contender,
    comes_out_alike,
    draw_sharing,
    follows_closed_form,
    least_recall,
    memory_given,
    never_behind,
    shared,
)
from headgate.studies.vldb04.strategies import PAPER

MEMORY = 50.0


def measure(cell: Cell) -> Sequence[Row]:
    """Both joins under one scheme, with one exponent."""
    joins = [Contender(kind, cell["p"]) for kind in (INC, DEC)]
    return shared(joins, MEMORY, cell["scheme"], cell.seed, cell.quick)


def _rises(results: pd.DataFrame) -> Finding:
    line = least_recall(results, "p")[ALLOC]
    rises = bool((line.diff().dropna() > 0).all())
    return Finding(rises, ", ".join(f"{recall:.3f} at {p:g}" for p, recall in line.items()))


def _constant(results: pd.DataFrame) -> Finding:
    line = least_recall(results, "p")[PROP]
    return Finding(
        bool(line.max() - line.min() < 0.02), f"between {line.min():.3f} and {line.max():.3f}"
    )


def _easier(results: pd.DataFrame) -> Finding:
    given = memory_given(results, "p", ALLOC)[f"{DEC} 1"]
    falls = bool((given.diff().dropna() < 0).all())
    return Finding(falls, ", ".join(f"{part:.1f} % at {p:g}" for p, part in given.items()))


def draw(results: pd.DataFrame) -> Drawing:
    """Minimum recall, and who got how much, against the exponent."""
    colours = {f"{INC} 1": STYLES[2][0], f"{DEC} 1": STYLES[3][0]}
    return draw_sharing(results, "p", "exponent p of the age curves", colours, MEMORY)


FIG11 = Study(
    name="vldb04-fig11",
    title="ALLOC and PROP with 50 % memory: an increasing and a decreasing age curve",
    paper=PAPER,
    place="section 6.2.5, Figure 11",
    grid={"p": (0.5, 1.0, 1.5, 2.0, 2.5, 3.0), "scheme": (ALLOC, PROP)},
    quick_grid={"p": (0.5, 1.5, 3.0)},
    measure=measure,
    seeds=(1, 2, 3),
    claims=(
        Claim("alloc-rises", "As p grows, ALLOC's minimum recall rises", _rises),
        Claim("prop-is-constant", "PROP's remains constant (within 0.02)", _constant),
        Claim(
            "alloc-is-never-behind",
            "ALLOC's minimum recall is at least PROP's at every p (within 0.005)",
            lambda results: never_behind(results, "p", 0.005),
        ),
        Claim(
            "the-easy-join-gets-less",
            "As p grows DEC becomes easier, and ALLOC gives it less",
            _easier,
        ),
        Claim(
            "recall-is-the-same",
            "Theorem 5.1: under ALLOC both joins have the same recall (within 0.02)",
            lambda results: comes_out_alike(results, "p", 0.02),
        ),
        Claim(
            "closed-form",
            "Measured recall is that of Equation 3, for either join under either scheme (within "
            "0.02)",
            lambda results: follows_closed_form(results, 0.02),
        ),
    ),
    figures=(Figure(draw),),
)
STUDIES = (FIG11,)
