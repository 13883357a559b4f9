"""UNIFORM under a CPU budget: what a sampling fraction costs, and the fraction a budget allows.

Costs are those of updating a window (C_u, for every row admitted) and of probing and producing
(C_p). Probing may cost as much as producing, or next to nothing: hence two variants.
"""

from dataclasses import dataclass

import numpy as np

from headgate.models import Frequencies
from headgate.sampling.fractions import most_share
from headgate.spec import SpecError


@dataclass(frozen=True)
class UniformCost:
    """What UNIFORM does and costs in a unit of time, under the frequency model.

    Parameters
    ----------
    frequencies
        Of both sides.
    rates
        Rows of each side a unit of time.
    windows
        The sides' windows in that unit.
    update, produce
        C_u and C_p.
    counts_probes
        Whether a probe that produces nothing costs as much as one that does (Equation 23) or
        nothing (Equation 25).

    Examples
    --------
    >>> model = Frequencies.of_mappings({"a": 1.0}, {"a": 1.0})
    >>> cost = UniformCost(model, (1.0, 1.0), (4.0, 0.0), update=1.0, produce=0.5)
    >>> cost.admitted(0.5), cost.output(0.5)
    (0.9375, 2.0)
    >>> round(cost.fraction_for(1.0), 3)
    0.13

    References
    ----------
    Ayad, Naughton, Wright, Srivastava, Approximating Streaming Window Joins Under CPU Limitations,
    2005, section 4, Equations 18 to 25.
    """

    frequencies: Frequencies
    rates: tuple[float, float]
    windows: tuple[float, float]
    update: float
    produce: float
    counts_probes: bool = True

    def __post_init__(self) -> None:
        if min(self.rates) <= 0 or min(self.windows) < 0 or min(self.update, self.produce) < 0:
            raise SpecError(
                f"rates={self.rates}, windows={self.windows}, update={self.update} and "
                f"produce={self.produce}: rates must be above 0, the others not below"
            )

    def admitted(self, share: float) -> float:
        """Rows admitted to both windows a unit of time (Equations 18 to 20)."""
        return sum(
            self.rates[side] * float((own * (1 - (1 - share) ** matches)).sum())
            for side, own, matches in self._sides()
        )

    def probed(self, share: float) -> float:
        """Stored rows probed a unit of time, chosen or not (Equations 21 and 22)."""
        tails = 1 - share
        total = 0.0
        for side, own, matches in self._sides():
            some = matches > 0
            n = matches[some]
            stored = 1 - tails * (1 - tails**n) / (share * n)
            # Each of a row's n matches comes at an even pace while it is stored.
            total += self.rates[side] * float((own[some] * n * stored).sum())
        return total

    def output(self, share: float) -> float:
        """Result rows a unit of time, of which ``share`` are sampled (Equation 24)."""
        exact = sum(
            self.rates[side] * float((own * matches).sum()) for side, own, matches in self._sides()
        )
        return share * exact

    def cost(self, share: float) -> float:
        """The cost of a unit of time (Equation 23 or 25)."""
        made = self.probed(share) if self.counts_probes else self.output(share)
        return self.admitted(share) * self.update + made * self.produce

    def fraction_for(self, budget: float) -> float:
        """The sampling fraction whose cost the budget meets."""
        return most_share(self.cost, budget)

    def _sides(self) -> list[tuple[int, np.ndarray, np.ndarray]]:
        """For each side: its frequencies, and the matches that rows of each key make."""
        sides = []
        for side in (0, 1):
            own, other = (self.frequencies.left, self.frequencies.right)[:: 1 - 2 * side]
            matches = other.look_up(own.columns) * self.rates[1 - side] * self.windows[side]
            sides.append((side, own.share, matches))
        return sides
