"""The load-shedding strategies the paper compares, by the names it gives them."""

from collections.abc import Sequence
from typing import Any

from headgate.models import AgeCurve, AgeCurves
from headgate.policies import Age, Fifo, Policy, UntilExpiry
from headgate.spec.quantity import SECOND_US
from headgate.studies.trial import ProbeTrial

PAPER = "Srivastava, Widom: Memory-Limited Execution of Windowed Stream Joins, VLDB 2004"
AGE, RECENT, UNTIL_EXPIRY = "AGE", "RECENT", "UNTIL-EXPIRY"
THEORY = "Theoretical-AGE"
STRATEGIES = (AGE, RECENT, UNTIL_EXPIRY)


def age_curve(width_s: float, matches: Sequence[float]) -> AgeCurve:
    """An age curve whose buckets are so many seconds wide."""
    return AgeCurve(round(width_s * SECOND_US), matches)  # type: ignore[arg-type]


def strategy(name: str, curve: AgeCurve) -> Policy:
    """The policy that a strategy of the paper is here.

    Examples
    --------
    >>> strategy(RECENT, AgeCurve(1, [1]))
    Fifo()
    """
    if name == AGE:
        return Age(AgeCurves(curve, AgeCurve(1, [0])))  # type: ignore[arg-type]
    return {RECENT: Fifo(), UNTIL_EXPIRY: UntilExpiry()}[name]


def equation_3(curve: AgeCurve, rate_s: float, rows: float) -> float:
    """AGE's recall by Equation 3, for so many stored rows and arrivals a second.

    Examples
    --------
    >>> equation_3(age_curve(1, [1, 1, 2, 1]), rate_s=1, rows=3)
    0.8
    """
    rate = rate_s / SECOND_US
    return curve.output(rate).at(rows) / (rate * curve.total)


def recall_row(
    trial: ProbeTrial, curve: AgeCurve, rate_s: float, policy: str, rows: int
) -> dict[str, Any]:
    """Recall of a strategy, or of the theory, within so many stored rows."""
    if policy == THEORY:
        return {"rows": rows, "recall": equation_3(curve, rate_s, rows)}
    return {"rows": rows, "recall": trial.recall(strategy(policy, curve), rows)}
