"""Figure 10: two joins under PROB in one memory, one of them easier the more keys are skewed.

The paper's range of Z is not printed; what it says comes out for Z from 1 on. Below, nearly even
frequencies leave either join little to choose from, and the directly correlated one is the easier:
the figure shows both sides.
"""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure as Drawing

from headgate.report.plot_style import STYLES
from headgate.studies.study import Cell, Claim, Figure, Finding, Row, Study
from headgate.studies.vldb04.frequency_streams import DIRECT, INVERSE
from headgate.studies.vldb04.shared_memory import (
    ALLOC,
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

MEMORY = 20.0
SKEWED = 1.0
"""The Zipf exponent from which on the inversely correlated join is the easier one."""


def measure(cell: Cell) -> Sequence[Row]:
    """Both joins under one scheme, at one skew."""
    joins = [Contender(kind, cell["z"]) for kind in (DIRECT, INVERSE)]
    return shared(joins, MEMORY, cell["scheme"], cell.seed, cell.quick)


def _nearly_flat(results: pd.DataFrame) -> Finding:
    line = least_recall(results, "z")[ALLOC].loc[SKEWED:]
    return Finding(
        bool(line.max() - line.min() < 0.05), f"between {line.min():.3f} and {line.max():.3f}"
    )


def _falls(results: pd.DataFrame) -> Finding:
    line = least_recall(results, "z")[PROP].loc[SKEWED:]
    falls = bool((line.diff().dropna() < 0).all()) and line.iloc[0] - line.iloc[-1] > 0.2
    return Finding(falls, ", ".join(f"{recall:.3f} at {z:g}" for z, recall in line.items()))


def _easier(results: pd.DataFrame) -> Finding:
    given = memory_given(results, "z", ALLOC)[f"{INVERSE} 1"].loc[SKEWED:]
    falls = bool((given.diff().dropna() < 0).all())
    return Finding(falls, ", ".join(f"{part:.1f} % at {z:g}" for z, part in given.items()))


def draw(results: pd.DataFrame) -> Drawing:
    """Minimum recall, and who got how much, against the skew."""
    colours = {f"{DIRECT} 1": STYLES[2][0], f"{INVERSE} 1": STYLES[3][0]}
    return draw_sharing(results, "z", "skew of the keys (Zipf exponent Z)", colours, MEMORY)


FIG10 = Study(
    name="vldb04-fig10",
    title="ALLOC and PROP with 20 % memory: a directly and an inversely correlated join",
    paper=PAPER,
    place="section 6.2.5, Figure 10",
    grid={"z": (0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0), "scheme": (ALLOC, PROP)},
    quick_grid={"z": (1.0, 1.5, 2.0)},
    measure=measure,
    seeds=(1, 2, 3),
    claims=(
        Claim(
            "alloc-is-nearly-constant",
            "As Z grows from 1 to 2, ALLOC's minimum recall remains almost constant (within 0.05)",
            _nearly_flat,
        ),
        Claim(
            "prop-falls-sharply",
            "PROP's falls sharply (at every step, by over 0.2 in all)",
            _falls,
        ),
        Claim(
            "alloc-is-never-behind",
            "ALLOC's minimum recall is at least PROP's at every Z (within 0.005)",
            lambda results: never_behind(results, "z", 0.005),
        ),
        Claim(
            "the-easy-join-gets-less",
            "As Z grows the inversely correlated join becomes easier, and ALLOC gives it less",
            _easier,
        ),
        Claim(
            "recall-is-the-same",
            "Theorem 5.1: under ALLOC both joins have the same recall (within 0.03)",
            lambda results: comes_out_alike(results, "z", 0.03),
        ),
        Claim(
            "closed-form",
            "Measured recall is that of section 3.3, for either join under either scheme (within "
            "0.03)",
            lambda results: follows_closed_form(results, 0.03),
        ),
    ),
    figures=(Figure(draw),),
)
STUDIES = (FIG10,)
