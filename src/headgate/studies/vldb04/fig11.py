"""Figure 11: two joins under AGE share one memory; one gets easier with a steeper age curve."""

import pandas as pd

from headgate.studies.study import Claim, ClaimFinding, Figure, Study
from headgate.studies.vldb04.shared_memory import ALLOC, DEC, INC, PROP, least_recall
from headgate.studies.vldb04.strategies import PAPER
from headgate.studies.vldb04.two_joins import TwoJoins

JOINS = TwoJoins(axis="p", label="exponent p of the age curves", hard=INC, easy=DEC, percent=50.0)


def _rises(results: pd.DataFrame) -> ClaimFinding:
    line = least_recall(results, "p")[ALLOC]
    rises = bool((line.diff().dropna() > 0).all())
    return ClaimFinding(rises, ", ".join(f"{recall:.3f} at {p:g}" for p, recall in line.items()))


def _constant(results: pd.DataFrame) -> ClaimFinding:
    line = least_recall(results, "p")[PROP]
    return ClaimFinding(
        bool(line.max() - line.min() < 0.02), f"between {line.min():.3f} and {line.max():.3f}"
    )


FIG11 = Study(
    name="vldb04-fig11",
    title="ALLOC and PROP with 50 % memory: an increasing and a decreasing age curve",
    paper=PAPER,
    place="section 6.2.5, Figure 11",
    grid={"p": (0.5, 1.0, 1.5, 2.0, 2.5, 3.0), "scheme": (ALLOC, PROP)},
    quick_grid={"p": (0.5, 1.5, 3.0)},
    measure=JOINS.measure,
    seeds=(1, 2, 3),
    claims=(
        Claim("alloc-rises", "As p grows, ALLOC's minimum recall rises", _rises),
        Claim("prop-is-constant", "PROP's remains constant (within 0.02)", _constant),
        *JOINS.claims("p", "DEC", "Equation 3", 0.02),
    ),
    figures=(Figure(JOINS.draw),),
)
STUDIES = (FIG11,)
