"""PROB: keep the rows most likely to match the next arrival."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa

from headgate.models import Frequencies
from headgate.policies.kinds.fixed_score import FixedScore
from headgate.policies.policy import Arrivals, RanksBy
from headgate.spec import SpecError


@dataclass(frozen=True, eq=False)
class Prob(FixedScore):
    """Evict the row whose key is rarest on the other side.

    Where the goal is importance, the row of least probability × importance.

    Parameters
    ----------
    frequencies
        The frequency model of both sides.

    Examples
    --------
    >>> model = Frequencies.of_mappings({"a": 0.9, "b": 0.1}, {"a": 0.5, "b": 0.5})
    >>> Prob(model).label
    'PROB'

    References
    ----------
    Das, Gehrke, Riedewald, SIGMOD 2003; as defined in Srivastava and Widom, VLDB 2004,
    section 3.3.
    """

    frequencies: Frequencies | None

    name: ClassVar[str] = "prob"
    caches: ClassVar[bool] = True
    weighs_keys: ClassVar[bool] = True
    ranks_by: ClassVar[RanksBy] = RanksBy.FREQUENCY
    weighs_matches: ClassVar[bool] = True
    model: ClassVar[str] = "frequencies"

    def __post_init__(self) -> None:
        if self.frequencies is not None and not isinstance(self.frequencies, Frequencies):
            raise SpecError(f"Prob takes a Frequencies model, not {self.frequencies!r}")

    def weigh(self, columns: Sequence[pa.ChunkedArray], side: int) -> np.ndarray:
        """The probability that the other side's next row has the key."""
        if self.frequencies is None:
            raise SpecError("this Prob was shipped without its model and cannot weigh keys")
        return self.frequencies.match_probability(columns, side)

    def without_model(self) -> "Prob":
        """The policy without its model, since weights travel with the rows."""
        return replace(self, frequencies=None)

    def score(self, arrivals: Arrivals) -> np.ndarray:
        """Match probability × importance."""
        score: np.ndarray = arrivals.weight * arrivals.importance
        return score
