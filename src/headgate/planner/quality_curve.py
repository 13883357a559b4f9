"""Quality of a join's answer as a function of its memory."""

from dataclasses import dataclass
from enum import Enum
from math import inf

import numpy as np

from headgate.models.memory_curve import MemoryCurve
from headgate.spec import SpecError

ROUNDED = 1e-12
"""The part by which a quotient of doubles may be off, and more."""


class Measure(Enum):
    """The quality measure by which joins are compared: recall or error."""

    RECALL = "recall"
    """The share of the exact result that is made."""
    ERROR = "error"
    """The expected relative error of an aggregate over a sample of the result."""

    @classmethod
    def of(cls, given: "str | Measure") -> "Measure":
        """A measure by its name.

        Examples
        --------
        >>> Measure.of("recall")
        <Measure.RECALL: 'recall'>
        >>> Measure.of("speed")
        Traceback (most recent call last):
        ...
        headgate.spec.errors.SpecError: measure 'speed' is not accepted: give "recall" or "error"
        """
        try:
            return cls(given)
        except ValueError:
            names = " or ".join(f'"{each.value}"' for each in cls)
            raise SpecError(f"measure {given!r} is not accepted: give {names}") from None

    def standing(self, quality: float, weight: float) -> float:
        """The weighted quality by which joins are compared; greater is better.

        The paper's q / w. For errors, smaller is better, and the error of a join with twice the
        weight counts twice.
        """
        return quality / weight if self is Measure.RECALL else -quality * weight

    def quality(self, standing: float, weight: float) -> float:
        """The quality a join of this weight needs for a standing; the inverse of `standing`."""
        return standing * weight if self is Measure.RECALL else -standing / weight


@dataclass(frozen=True, eq=False)
class QualityCurve:
    """Recall, or error, against memory: straight between points, flat after the last.

    Two points with the same memory make a step.

    Parameters
    ----------
    memory
        In rows or bytes, ascending from 0. The last is what the exact join needs.
    quality
        Recall, which never falls, or error, which never rises.
    measure
        Which of the two.

    Examples
    --------
    >>> curve = QualityCurve([0, 10, 40], [0.0, 0.8, 1.0])
    >>> curve.at(25), curve.need(0.4), curve.need(0.9), curve.full
    (0.9, 5.0, 25.0, 40.0)
    >>> QualityCurve([0, 10], [0.5, 0.1], Measure.ERROR).need(0.3)
    5.0
    """

    memory: np.ndarray
    quality: np.ndarray
    measure: Measure = Measure.RECALL

    def __post_init__(self) -> None:
        memory, quality = np.array(self.memory, np.float64), np.array(self.quality, np.float64)
        if memory.ndim != 1 or memory.shape != quality.shape or not len(memory):
            raise SpecError(
                f"quality curve: {memory.size} points of memory and {quality.size} of quality: "
                f"give as many of one as of the other, one or more"
            )
        if not (np.all(np.isfinite(memory)) and np.all(np.isfinite(quality))):
            raise SpecError("quality curve: memory and quality must be finite numbers")
        if memory[0] != 0 or np.any(np.diff(memory) < 0):
            raise SpecError("quality curve: give memory from 0 upwards, ascending")
        if np.any(quality < 0):
            raise SpecError(f"quality curve: a {self.measure.value} cannot be below 0")
        falls = np.diff(quality) if self.measure is Measure.ERROR else -np.diff(quality)
        if np.any(falls > 0):
            word = "rises" if self.measure is Measure.ERROR else "falls"
            raise SpecError(
                f"quality curve: {self.measure.value} {word} with more memory: more memory never "
                f"harms, so give the best value that each amount allows"
            )
        memory.setflags(write=False)
        quality.setflags(write=False)
        object.__setattr__(self, "memory", memory)
        object.__setattr__(self, "quality", quality)

    @classmethod
    def of_output(cls, output: MemoryCurve, exact: float | None = None) -> "QualityCurve":
        """Recall from an output curve; ``exact`` is the exact output, by default its maximum.

        Examples
        --------
        >>> QualityCurve.of_output(MemoryCurve([0, 10], [0, 5])).at(5)
        0.5
        """
        whole = output.most if exact is None else exact
        best = np.maximum.accumulate(output.output)
        recall = np.ones(len(best)) if whole <= 0 else np.minimum(best / whole, 1.0)
        return cls(output.rows, recall)

    @property
    def full(self) -> float:
        """Memory of the exact join."""
        return float(self.memory[-1])

    @property
    def best(self) -> float:
        """Quality with all the memory it could use."""
        return float(self.quality[-1])

    def at(self, memory: float) -> float:
        """Quality with so much memory."""
        before = int(np.searchsorted(self.memory, memory, side="right")) - 1
        if before + 1 >= len(self.memory):
            return self.best
        return float(
            np.interp(memory, self.memory[before : before + 2], self.quality[before : before + 2])
        )

    def need(self, quality: float) -> float:
        """The least memory that reaches a quality; infinite where none does."""
        sign = -1.0 if self.measure is Measure.ERROR else 1.0
        good, wanted = sign * self.quality, sign * quality
        at = int(np.searchsorted(good, wanted, side="left"))
        if at == len(good):
            return inf
        if at == 0:
            return 0.0
        part = (wanted - good[at - 1]) / (good[at] - good[at - 1])
        return float(self.memory[at - 1] + part * (self.memory[at] - self.memory[at - 1]))

    def standing(self, memory: float, weight: float = 1.0) -> float:
        """The join's standing with so much memory."""
        return self.measure.standing(self.at(memory), weight)

    def need_to_stand(self, standing: float, weight: float = 1.0) -> float:
        """The least memory for a standing, or for its best one where that is out of reach."""
        # On a flat part of the curve, rounding must not ask for the next step.
        standing -= ROUNDED * abs(standing)
        needed = self.need(self.measure.quality(standing, weight))
        return self.need(self.best) if needed == inf else needed

    def __repr__(self) -> str:
        return (
            f"QualityCurve({self.measure.value} {self.quality[0]:.3g} to {self.best:.3g}, "
            f"within {self.full:,.6g})"
        )
