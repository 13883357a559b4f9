"""Figure 10: two joins under PROB share one memory; one gets easier with key skew.

The paper's range of Z is not printed; what it says comes out for Z from 1 on. Below, nearly even
frequencies leave either join little to choose from, and the directly correlated one is the easier:
the figure shows both sides.
"""

import pandas as pd

from headgate.studies.study import Claim, ClaimFinding, Figure, Study
from headgate.studies.vldb04.frequency_streams import DIRECT, INVERSE
from headgate.studies.vldb04.shared_memory import ALLOC, PROP, least_recall
from headgate.studies.vldb04.strategies import PAPER
from headgate.studies.vldb04.two_joins import TwoJoins

SKEWED = 1.0
"""The Zipf exponent from which on the inversely correlated join is the easier one."""


JOINS = TwoJoins(
    axis="z",
    label="skew of the keys (Zipf exponent Z)",
    hard=DIRECT,
    easy=INVERSE,
    percent=20.0,
    since=SKEWED,
)


def _nearly_flat(results: pd.DataFrame) -> ClaimFinding:
    line = least_recall(results, "z")[ALLOC].loc[SKEWED:]
    return ClaimFinding(
        bool(line.max() - line.min() < 0.05), f"between {line.min():.3f} and {line.max():.3f}"
    )


def _falls(results: pd.DataFrame) -> ClaimFinding:
    line = least_recall(results, "z")[PROP].loc[SKEWED:]
    falls = bool((line.diff().dropna() < 0).all()) and line.iloc[0] - line.iloc[-1] > 0.2
    return ClaimFinding(falls, ", ".join(f"{recall:.3f} at {z:g}" for z, recall in line.items()))


FIG10 = Study(
    name="vldb04-fig10",
    title="ALLOC and PROP with 20 % memory: a directly and an inversely correlated join",
    paper=PAPER,
    place="section 6.2.5, Figure 10",
    grid={"z": (0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0), "scheme": (ALLOC, PROP)},
    quick_grid={"z": (1.0, 1.5, 2.0)},
    measure=JOINS.measure,
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
        *JOINS.claims("Z", "the inversely correlated join", "section 3.3", 0.03),
    ),
    figures=(Figure(JOINS.draw),),
)
STUDIES = (FIG10,)
