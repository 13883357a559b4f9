"""Figure 4: output and fairness against the number of values, where all rows matter alike.

GREEDY then has no information, and its behaviour depends on how it breaks ties. It refuses an
arrival that is no more important than every stored row; if it evicted the older row instead it
would be FIFO, and could not be 20 % fair as in the paper.
"""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure as Drawing

from headgate.studies.ijoin.compare import (
    draw_panels,
    ijoin_is_fair,
    in_case,
    is_first,
    leads,
    listed,
    table,
)
from headgate.studies.ijoin.plans import RAND
from headgate.studies.ijoin.schemes import (
    EXACT,
    FIFO,
    GREEDY,
    IJOIN,
    SCHEMES,
    SIZE,
    measured_runs,
)
from headgate.studies.ijoin.streams import HOT_ALIKE, INDEPENDENT_ALIKE, PAPER
from headgate.studies.study import Claim, ClaimFinding, Figure, Row, Study, StudyCell

DOMAINS = (10, 12, 14, 16, 18, 20)


def measure(cell: StudyCell) -> Sequence[Row]:
    """A scheme with so many values."""
    return measured_runs(cell["scheme"], cell["case"], cell.seed, domain=cell["domain"])


def _falls(results: pd.DataFrame) -> ClaimFinding:
    found = table(results, "domain", "pairs")
    last = (found.iloc[-1] / found.iloc[0]).drop(EXACT)
    falls = all(found[name].is_monotonic_decreasing for name in found)
    return ClaimFinding(falls, f"output with most values / with fewest: {listed(last, '{:.2f}')}")


def _first(results: pd.DataFrame) -> ClaimFinding:
    return is_first(results, "domain")


def _worst(results: pd.DataFrame) -> ClaimFinding:
    found = table(results, "domain", "importance")
    shown = [str(name) for name in found.drop(columns=EXACT).idxmin(axis=1)]
    return ClaimFinding(set(shown) == {GREEDY}, "last: " + ", ".join(sorted(set(shown))))


def _unfair(results: pd.DataFrame) -> ClaimFinding:
    found = table(results, "domain", "fairness")[GREEDY]
    return ClaimFinding(bool(abs(found.iloc[-1] - 0.2) < 0.02), listed(found))


def _small_lead(results: pd.DataFrame) -> ClaimFinding:
    found = leads(results, "domain", IJOIN, (FIFO, RAND, SIZE))
    shown = "; ".join(f"{by} over {best} ({domain})" for domain, (best, by) in found.items())
    return ClaimFinding(all(abs(by.by) < 0.03 for _, by in found.values()), shown)


def draw(results: pd.DataFrame) -> Drawing:
    """Three panels a case."""
    cases = (HOT_ALIKE, INDEPENDENT_ALIKE)
    return draw_panels(results, "domain", cases, "number of values", "Figure 4")


STUDY = Study(
    name="ijoin-fig4",
    title="Output and fairness against the number of values, all rows of the same importance",
    paper=PAPER,
    place="section 5.3, Figure 4",
    grid={
        "case": (HOT_ALIKE, INDEPENDENT_ALIKE),
        "scheme": SCHEMES,
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
        ijoin_is_fair(HOT_ALIKE, "domain"),
        Claim(
            "greedy-worst",
            "Hot topics: GREEDY performs worst, because all rows matter the same",
            in_case(HOT_ALIKE, _worst),
        ),
        Claim(
            "greedy-20-percent-fair",
            "and is only 20 % fair with twenty values (within 2 points)",
            in_case(HOT_ALIKE, _unfair),
        ),
    ),
    figures=(Figure(draw),),
)
