"""The cost of touching a row in each structure: measured, or as printed in the paper."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from typing import NamedTuple

from headgate.models.cost.structure import Structure
from headgate.spec import SpecError


class MeasuredCost(NamedTuple):
    """The measured cost of a structure at one window size, in CPU time."""

    window: float
    """Rows in it."""
    search: float
    """A probe."""
    update: float
    """A row that enters and one that leaves."""


@dataclass(frozen=True)
class Weight:
    """CPU time per row touched, in one structure.

    One weight for windows of all sizes is the paper's form. With caches and fixed costs per probe,
    the cost of a touch depends on the window size: where ``measured`` has the cost of whole probes
    and updates, that is used.

    Parameters
    ----------
    search, update
        P_d and I_d: when probing, and when inserting or invalidating.
    search_spread, update_spread
        Standard deviations of these over the measurements they come from; 0 when given.
    arrive
        Cost per arrival, paid once if either window uses the structure: rows of the bitmap are
        sorted beforehand.
    switch
        Extra cost when a row of one stream follows a row of the other and both windows use the
        structure: caches favour repeated work.
    measured
        Costs at several window sizes, smallest first; interpolated between them, and scaled by rows
        touched beyond them.

    Examples
    --------
    >>> costs = MeasuredCost(10, 30.0, 5.0), MeasuredCost(1000, 3000.0, 5.0)
    >>> weight = Weight(1.0, 1.0, measured=costs)
    >>> [round(weight.of_search(rows, float), 6) for rows in (10, 100, 5000)]
    [30.0, 300.0, 15000.0]
    """

    search: float
    update: float
    search_spread: float = 0.0
    update_spread: float = 0.0
    arrive: float = 0.0
    switch: float = 0.0
    measured: Sequence[MeasuredCost] = ()

    def __post_init__(self) -> None:
        for part in fields(self)[:6]:
            value = getattr(self, part.name)
            if not (isinstance(value, int | float) and 0 <= value < math.inf):
                raise SpecError(f"{part.name}={value!r} is not a cost: give a number, 0 or more")
        points = tuple(MeasuredCost(*point) for point in self.measured)
        if not all(value > 0 for point in points for value in point):
            raise SpecError(f"measured={points}: sizes and costs are numbers above 0")
        if any(one.window >= other.window for one, other in pairwise(points)):
            raise SpecError(f"measured={points}: give the smallest window first, each size once")
        object.__setattr__(self, "measured", points)

    def of_search(self, window: float, touched: Callable[[float], float]) -> float:
        """What a probe costs; ``touched`` says how many rows it touches in a window."""
        if not self.measured or window <= 0:
            return touched(window) * self.search
        return _between([(p.window, p.search) for p in self.measured], window, touched)

    def of_update(self, window: float, touched: Callable[[float], float]) -> float:
        """The cost of one row entering and another leaving."""
        if not self.measured or window <= 0:
            return touched(window) * self.update
        return _between([(p.window, p.update) for p in self.measured], window, touched)


def _between(
    points: Sequence[tuple[float, float]], window: float, touched: Callable[[float], float]
) -> float:
    """Interpolate a cost log-log between two sizes; beyond all sizes, scale by rows touched."""
    for (rows, cost), (more_rows, more) in pairwise(points):
        if rows <= window <= more_rows:
            along = math.log(window / rows) / math.log(more_rows / rows)
            return cost * math.exp(along * math.log(more / cost))
    rows, cost = points[0] if window <= points[0][0] else points[-1]
    return cost * touched(window) / touched(rows)


@dataclass(frozen=True)
class Weights:
    """The weights of structures on one machine.

    Parameters
    ----------
    by_structure
        Those that are known; structures without weights are never chosen.
    source
        Where they come from, in a few words.

    Examples
    --------
    >>> weights = Weights({"hash": Weight(2e-8, 5e-8, search_spread=1e-9)}, "my machine")
    >>> weights["hash"].update
    5e-08
    >>> Weights.from_json(weights.to_json()) == weights
    True
    """

    by_structure: Mapping[Structure, Weight]
    source: str = ""

    def __post_init__(self) -> None:
        known = {Structure.of(name): weight for name, weight in self.by_structure.items()}
        if not known:
            raise SpecError("weights of no structure: give those of one at least")
        object.__setattr__(self, "by_structure", known)

    @property
    def structures(self) -> tuple[Structure, ...]:
        """Those that have weights, in the order of `Structure`."""
        return tuple(each for each in Structure if each in self.by_structure)

    def __getitem__(self, structure: "Structure | str") -> Weight:
        asked = Structure.of(structure)
        if asked not in self.by_structure:
            known = ", ".join(self.structures)
            raise SpecError(
                f"no weights for {asked}, only for {known}: measure them with `headgate calibrate`"
            )
        return self.by_structure[asked]

    def to_json(self) -> str:
        """The weights as text."""
        weights = {name.value: asdict(weight) for name, weight in self.by_structure.items()}
        return json.dumps({"source": self.source, "weights": weights})

    @classmethod
    def from_json(cls, text: str) -> "Weights":
        """Weights from what `to_json` wrote."""
        try:
            stored = json.loads(text)
            weights = {Structure(name): Weight(**of) for name, of in stored["weights"].items()}
            source = str(stored["source"])
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise SpecError(
                f"this is not a file of weights ({error}): write it with `headgate calibrate`"
            ) from error
        return cls(weights, source)


PAPER_WEIGHTS = Weights(
    {
        Structure.SCAN: Weight(3e-4, 1e-4),
        Structure.HASH: Weight(5.5e-4, 7.8e-4),
        Structure.BTREE: Weight(2.6e-4, 2.6e-4),
        Structure.TTREE: Weight(2.6e-4, 2.7e-4),
    },
    "ICDE 2003, Equation 7",
)
"""As printed in Equation 7: Java on a 1,533 MHz machine.

They were fitted to runs over 60 seconds' worth of rows, so costs by them are best read as seconds
of processor time a minute of stream. Only their ratios decide which structure is cheapest.
"""
