"""Section 4's example: a fixed sequence of replacements loses to an adaptive one."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from headgate.policies.offline import NOT_KEPT, best_sequence
from headgate.studies.sigmod05.streams import PAPER
from headgate.studies.study import Claim, ClaimFinding, Row, Study, StudyCell

R1, S2, S3, R2, R3 = range(5)
"""The stored R row of value 1; the S rows of values 2 and 3; the R rows that these wait for."""
ARRIVES = np.array([0, 0, 1, 1, 2])
THREE = 0.5
"""The chance that the S row of t0 + 1 has the value 3."""
BENEFITS = np.array(
    [
        [0, 0, 0.8, 0.8],
        [0, 1, 0, 0.5],
        [0, 0, THREE, 0],
        [0, 0, 0, 0],
        [0, 0, 0, 0],
    ]
)
"""By row and steps from t0: the chance of a match. The new R rows, 2 and 3, find none to come."""
KEPT = {
    "keep the R row": {R1: 3},
    "replace it by the S row of t0": {S2: 3},
    "and that by the S row of t0 + 1": {S2: 1, S3: 3},
}
"""The paper's three sequences: which row is held up to which step."""
ADAPTIVE, BEST = "adaptive", "FLOWEXPECT"


def worth(kept: dict[int, int], benefits: np.ndarray = BENEFITS) -> float:
    """What a sequence is expected to make."""
    return float(
        sum(benefits[row, ARRIVES[row] + 1 : until + 1].sum() for row, until in kept.items())
    )


def adaptive_worth() -> float:
    """Replace the R row at t0; at t0 + 1 look at what came, and only then decide.

    Examples
    --------
    >>> adaptive_worth()
    1.75
    """
    total = 0.0
    for chance, value in ((THREE, 1.0), (1 - THREE, 0.0)):
        known = BENEFITS.copy()
        known[S3, 2] = value
        total += chance * max(worth({S2: 3}, known), worth({S2: 1, S3: 3}, known))
    return total


def measure(cell: StudyCell) -> Sequence[Row]:
    """What every strategy is worth, and whether it keeps the R row at t0."""
    rows = [
        {"strategy": n, "worth": worth(kept), "keeps_r": R1 in kept} for n, kept in KEPT.items()
    ]
    rows.append({"strategy": ADAPTIVE, "worth": adaptive_worth(), "keeps_r": False})
    best = best_sequence(ARRIVES, BENEFITS, memory=1)
    keeps = bool(best.until[R1] != NOT_KEPT)
    return [*rows, {"strategy": BEST, "worth": best.value, "keeps_r": keeps}]


def _worths(strategies: Sequence[str], expected: Sequence[float]) -> Callable[..., ClaimFinding]:
    def check(results: pd.DataFrame) -> ClaimFinding:
        found = results.set_index("strategy").loc[list(strategies), "worth"]
        shown = ", ".join(f"{value:.4g}" for value in found)
        return ClaimFinding(bool(np.allclose(found, expected, atol=1e-9)), shown)

    return check


def _keeps(results: pd.DataFrame) -> ClaimFinding:
    best = results.set_index("strategy").loc[BEST]
    does = "keeps" if best["keeps_r"] else "gives up"
    return ClaimFinding(bool(best["keeps_r"]), f"{does} the R row, expecting {best['worth']:.4g}")


def _suboptimal(results: pd.DataFrame) -> ClaimFinding:
    found = results.set_index("strategy")["worth"]
    behind = found[ADAPTIVE] - found[BEST]
    return ClaimFinding(bool(behind > 0), f"{behind:.4g} behind the adaptive strategy")


STUDY = Study(
    name="sigmod05-example",
    title="Fixed sequences of replacements against one that waits and sees",
    paper=PAPER,
    place="section 4",
    grid={},
    measure=measure,
    claims=(
        Claim(
            "fixed-sequences",
            "The three fixed sequences are worth 1.6, 1.5 and 1.5",
            _worths(tuple(KEPT), (1.6, 1.5, 1.5)),
        ),
        Claim("adaptive", "The adaptive strategy is worth 1.75", _worths((ADAPTIVE,), (1.75,))),
        Claim("flowexpect-keeps-r", "FLOWEXPECT keeps the R row", _keeps),
        Claim("flowexpect-is-suboptimal", "which is not the best one can do", _suboptimal),
    ),
)
