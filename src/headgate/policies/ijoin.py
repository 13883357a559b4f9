"""IJOIN: keep the rows that produce the most importance per time stored."""

import math
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import ClassVar, Literal

from headgate.policies.kinds.residence_score import (
    AS_FITS,
    AS_NEEDED,
    PlainResidenceScore,
    Residence,
    ResidenceScore,
)
from headgate.policies.policy import RanksBy, require_times
from headgate.spec import SpecError, Window
from headgate.spec.quantity import parse_duration_us

Recompute = int | Literal["auto", "successive", "adaptive"]


@dataclass(frozen=True)
class Ijoin(ResidenceScore):
    """Evict the mature row of least residence priority.

    The priority of a row is importance × matches ÷ age, where old matches count less than recent
    ones (the paper's *local* priority). Rows younger than the maturity threshold are never evicted;
    rows that have made no pair for long are penalised. An arrival is always stored, unless no
    stored row is mature.

    Parameters left out are derived from the *stay*, the average time that a row can be stored: rows
    stored ÷ observed arrival rate. `headgate reproduce ijoin` shows on which streams it does well,
    and which policy does better on others.

    Parameters
    ----------
    maturity
        The age up to which a row is not evicted, such as "2 seconds" (the paper's τ).
    unproductivity
        How long a row may go without a match before it is penalised (Δ).
    decay
        How fast old matches lose weight, per second: after 1 / decay seconds a match counts for
        1 / e (d). 0 counts them all alike.
    penalty
        Taken off the priority of an unproductive row for every second since its last match (c).
    initial
        The priority of a row until it is first computed, per unit of importance. By default the
        priority the row has when it becomes mature.
    recompute
        When all priorities are recomputed: ``"successive"``, at every eviction, which costs
        O(stored rows); a number k, every k evictions (k-successive); ``"adaptive"``, when the
        importance produced falls; ``"auto"``, whenever a twelfth of the stored rows has been
        replaced, so that the cost of an eviction does not grow with the budget. Each micro-batch
        starts with a recomputation, so except under ``"successive"`` results depend slightly on how
        a stream is cut into batches.
    epsilon
        For ``"adaptive"``: the relative loss of importance, from one eviction to the next, that
        triggers a recomputation.

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
    keeps_matched: ClassVar[bool] = True
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
        """Require time windows, since ages are times."""
        require_times(windows, 'policy "ijoin" goes by what rows bring for the time they take')

    def in_miniature(self, stay_us: float, importance: float, share: float) -> "Ijoin":
        """With the thresholds and rates that the whole join derives from the stay of its rows, and
        priorities computed at every eviction."""
        seconds = max(stay_us, 1.0) * 1e-6
        return replace(
            self,
            maturity=timedelta(seconds=PlainResidenceScore.MATURITY * seconds),
            unproductivity=timedelta(seconds=PlainResidenceScore.UNPRODUCTIVE * seconds),
            decay=PlainResidenceScore.DECAY / seconds,
            penalty=PlainResidenceScore.PENALTY * importance / (seconds * seconds),
            recompute="successive",
        )

    @property
    def residence(self) -> Residence:
        """The thresholds and rates; negative where derived from the stay."""
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
    """A threshold in microseconds; negative where left out."""
    return -1 if given is None else parse_duration_us(given, what)
