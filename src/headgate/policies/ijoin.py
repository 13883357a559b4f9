"""IJOIN: keep the rows that bring the most importance for the time they take."""

import math
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar, Literal

from headgate.policies.kinds.residence_score import AS_FITS, AS_NEEDED, Residence, ResidenceScore
from headgate.policies.policy import RanksBy, require_times
from headgate.spec import SpecError, Window
from headgate.spec.quantity import parse_duration_us

Recompute = int | Literal["auto", "successive", "adaptive"]


@dataclass(frozen=True)
class Ijoin(ResidenceScore):
    """Shed the mature row of least residence priority.

    The priority of a row is importance × matches ÷ age, where old matches count less than recent
    ones (the paper's *local* priority). Rows younger than the maturity threshold are never given up
    for others; rows that have made no pair for long are penalised. An arrival is always stored,
    unless no stored row is mature.

    What is left out follows from the *stay*, the time that a row can be stored on average: rows
    stored ÷ rows that come, as observed. With `headgate reproduce ijoin` see on which streams it
    does well, and which policy does better on others.

    Parameters
    ----------
    maturity
        The age up to which a row is not given up, such as "2 seconds" (the paper's τ).
    unproductivity
        How long a row may go without a match before it is penalised (Δ).
    decay
        How fast old matches lose weight, per second: after 1 / decay seconds a match counts for
        1 / e (d). 0 counts them all alike.
    penalty
        Taken off the priority of an unproductive row for every second since its last match (c).
    initial
        The priority of a row until it is first computed, per unit of importance. Left out, it is
        what the row has earned by the time it is mature.
    recompute
        When priorities are computed anew: ``"successive"``, at every decision, which costs as much
        as there are rows; every so many decisions (k-successive); ``"adaptive"``, when the
        importance produced falls; ``"auto"``, whenever a twelfth of the stored rows has been
        replaced, so that the cost of a decision does not grow with the budget. A micro-batch begins
        with all of them computed, so under any but ``"successive"`` it matters a little how a
        stream is cut into batches.
    epsilon
        For ``"adaptive"``: the relative loss of importance, from one decision to the next, that
        makes it compute.

    Examples
    --------
    >>> Ijoin(maturity="2 seconds", unproductivity="3 seconds", recompute="successive").label
    'IJOIN'

    References
    ----------
    Kulkarni and Ravishankar, iJoin: Importance-aware Join Approximation over Data Streams,
    section 4.
    """

    maturity: str | timedelta | None = None
    unproductivity: str | timedelta | None = None
    decay: float | None = None
    penalty: float | None = None
    initial: float | None = None
    recompute: Recompute = "auto"
    epsilon: float = 0.1

    name: ClassVar[str] = "ijoin"
    ranks_by: ClassVar[RanksBy] = RanksBy.RESIDENCE

    def __post_init__(self) -> None:
        for what in ("maturity", "unproductivity"):
            _threshold_us(getattr(self, what), what)
        for what in ("decay", "penalty", "initial"):
            given = getattr(self, what)
            if given is not None and not 0 <= given < math.inf:
                raise SpecError(f"Ijoin({what}={given!r}): give a number from 0 on, or none")
        if not 0 <= self.epsilon <= 1:
            raise SpecError(f"Ijoin(epsilon={self.epsilon!r}): give a share from 0 to 1")
        named = self.recompute in ("auto", "successive", "adaptive")
        counted = isinstance(self.recompute, int) and not isinstance(self.recompute, bool)
        if not named and not (counted and int(self.recompute) >= 1):
            raise SpecError(
                f'Ijoin(recompute={self.recompute!r}): give "auto", "successive", "adaptive", or '
                f"every how many decisions, one or more"
            )

    def check(self, windows: tuple[Window, Window]) -> None:
        """Ages are times, so windows must be."""
        require_times(windows, 'policy "ijoin" goes by what rows bring for the time they take')

    @property
    def residence(self) -> Residence:
        """The thresholds and rates; negative where they follow from the stay."""
        every = {"auto": AS_FITS, "successive": 1, "adaptive": AS_NEEDED}
        return Residence(
            maturity_us=_threshold_us(self.maturity, "maturity"),
            unproductive_us=_threshold_us(self.unproductivity, "unproductivity"),
            decay=-1.0 if self.decay is None else float(self.decay),
            penalty=-1.0 if self.penalty is None else float(self.penalty),
            initial=math.nan if self.initial is None else float(self.initial),
            every=self.recompute if isinstance(self.recompute, int) else every[self.recompute],
            epsilon=float(self.epsilon),
        )


def _threshold_us(given: str | timedelta | None, what: str) -> int:
    """In microseconds; negative where it was left out."""
    return -1 if given is None else parse_duration_us(given, what)
