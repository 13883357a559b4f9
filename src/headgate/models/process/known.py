"""A stream whose values are all known beforehand."""

from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np

from headgate.models.process.process import NEGLIGIBLE, Moment, Now, Process, lattice, steps_ahead
from headgate.models.process.process_fit import ProcessFit, whole
from headgate.spec import SpecError


@dataclass(frozen=True, eq=False)
class Known(Process):
    """The offline case: every value is known, from step 0 to the last.

    Examples
    --------
    >>> Known([5, 7, 5]).chance(np.array([5, 7]), Now(0, 5), np.array([1, 2])).tolist()
    [[0.0, 1.0], [1.0, 0.0]]

    References
    ----------
    Xie, Yang and Chen, SIGMOD 2005, section 7.1.
    """

    values: np.ndarray

    markov: ClassVar[bool] = False

    def __post_init__(self) -> None:
        values = whole(self.values, 1, "known stream")
        values.setflags(write=False)
        object.__setattr__(self, "values", values)

    def chance(self, values: np.ndarray, now: Now, ahead: np.ndarray) -> np.ndarray:
        """1 where the value comes, 0 elsewhere and after the end."""
        step = now.step + steps_ahead(ahead)
        there = (step >= 0) & (step < len(self.values))
        coming = self.values[np.where(there, step, 0)]
        comes: np.ndarray = (coming[:, None] == lattice(values)) & there[:, None]
        return comes.astype(np.float64)

    def simulate(self, steps: int, seed: int) -> np.ndarray:
        """The first values; there is nothing to draw."""
        if steps > len(self.values):
            raise SpecError(f"known stream: {steps} steps asked for, {len(self.values)} are known")
        return self.values[:steps].copy()

    @classmethod
    def fit(cls, values: Any) -> ProcessFit:
        """The values themselves, each a parameter."""
        process = cls(values)
        return ProcessFit(process, 0.0, len(process.values), 0.0)

    def frame(self, step: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Refused: no two steps have the same future."""
        self._no_frame()

    def moments(self) -> tuple[Moment, ...]:
        """Refused: no two steps have the same future."""
        self._no_frame()

    def spread(
        self, now: Now, ahead: np.ndarray, negligible: float = NEGLIGIBLE
    ) -> tuple[np.ndarray, np.ndarray]:
        """The value that comes."""
        step = np.clip(now.step + steps_ahead(ahead), 0, len(self.values) - 1)
        return self.values[step], self.values[step]

    def season_length(self) -> int | None:
        """None: nothing comes round."""
        return None

    def ends(self, now: Now) -> int | None:
        """The steps that are left."""
        return max(len(self.values) - 1 - now.step, 0)

    def _no_frame(self) -> NoReturn:
        raise SpecError(
            "known stream: every step has a future of its own, so there is no frame to tabulate "
            "for; compute benefits at each step instead"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Known):
            return NotImplemented
        return bool(np.array_equal(self.values, other.values))

    def __hash__(self) -> int:
        return hash(self.values.tobytes())

    def __repr__(self) -> str:
        return f"Known({len(self.values):,} values)"
