"""The load-shedding problem: arrival rates, windows, costs of work and the CPU budget."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from headgate.columns.key_codes import NULL, encode_together
from headgate.models.frequencies import Frequencies
from headgate.spec import SpecError

Sides = tuple[np.ndarray, np.ndarray]
"""Something of each side, an entry a class."""
Shares = Sides | tuple[float, float]
"""Of the rows of each side: by class, or the same for all."""
ROUNDING = 1e-9
"""Of a budget; sums of many rounded numbers may pass it by so much."""


@dataclass(frozen=True, eq=False)
class Workload:
    """A window join under the frequency model, and the processor time it may take.

    Rows are grouped in classes: one per key or, where keys are not known, many keys together. An
    arriving row *probes* if it looks for stored partners, and is *stored* if later rows are to find
    it; a plan says what share of each class does either. A row flips one coin for both, so of two
    shares the smaller is among the larger, and what happens to two rows is independent.

    Parameters
    ----------
    left, right
        Rows of each class a unit of time.
    windows
        How long rows of each side wait. Rows of a side with a zero window are never stored and cost
        no update.
    update
        C_u, to insert a row and to expire it.
    produce
        C_p, to find and produce a pair.
    budget
        What may be spent a unit of time; 1 is all of a processor where costs are times.
    look
        The fixed cost of processing an arrival. The paper has 0.
    chance
        That two rows of a class match; 1 where a class is a key.

    Examples
    --------
    >>> join = Workload([8, 2], [1, 9], windows=(10, 0), update=1, produce=0.1, budget=20)
    >>> join.exact_output, join.exact_cost, join.is_feasible
    (260.0, 36.0, False)
    >>> join.cost((1, 1), (0.5, 0)), join.output((1, 1), (0.5, 0))
    (18.0, 130.0)

    References
    ----------
    Ayad, Naughton, Wright, Srivastava, Approximating Streaming Window Joins Under CPU Limitations,
    2005, section 2.2, Equation 2, and section 3.2.2, Equations 5 to 7.
    """

    left: np.ndarray
    right: np.ndarray
    windows: tuple[float, float]
    update: float
    produce: float
    budget: float
    look: float = 0.0
    chance: "np.ndarray | float" = 1.0

    def __post_init__(self) -> None:
        left, right = np.array(self.left, np.float64), np.array(self.right, np.float64)
        if left.ndim != 1 or left.shape != right.shape or not left.size:
            raise SpecError(
                f"rates of shape {left.shape} and {right.shape}: give both sides a rate a class, "
                f"of the same classes, one or more"
            )
        chance = np.array(np.broadcast_to(self.chance, left.shape), np.float64)
        amounts = (self.windows, self.update, self.produce, self.budget, self.look)
        given = np.concatenate([left, right, chance, *map(np.ravel, map(np.array, amounts))])
        if not np.all(np.isfinite(given)) or np.any(given < 0) or np.any(chance > 1):
            raise SpecError(
                f"rates, windows={self.windows}, update={self.update}, produce={self.produce}, "
                f"budget={self.budget}, look={self.look} and chances must be finite and not "
                f"negative, chances at most 1"
            )
        object.__setattr__(self, "left", left)
        object.__setattr__(self, "right", right)
        object.__setattr__(self, "chance", chance)

    @classmethod
    def of_frequencies(
        cls,
        frequencies: Frequencies,
        rates: tuple[float, float],
        windows: tuple[float, float],
        update: float,
        produce: float,
        budget: float,
        look: float = 0.0,
    ) -> "Workload":
        """One class per key: the left side's keys in order, then those only on the right.

        Where frequencies add up to less than 1, the rows left over are a last class, which matches
        nothing.

        Examples
        --------
        >>> keys = Frequencies.of_mappings({"a": 0.9, "b": 0.1}, {"b": 0.5, "c": 0.5})
        >>> join = Workload.of_frequencies(keys, (10, 2), (1, 1), 1, 1, budget=5)
        >>> join.left.tolist(), join.right.tolist()
        ([9.0, 1.0, 0.0], [0.0, 1.0, 1.0])
        """
        own = (frequencies.left, frequencies.right)
        codes, _ = encode_together([side.columns for side in own])
        both = np.concatenate(codes)
        every, first = np.unique(both[both != NULL], return_index=True)
        place = np.full(int(every.max(initial=0)) + 1, len(every))
        place[every[np.argsort(first)]] = np.arange(len(every))
        by_class = np.zeros((2, len(every) + 1))
        for side, (each, keys) in enumerate(zip(codes, own, strict=True)):
            known = each != NULL
            by_class[side, place[each[known]]] = keys.share[known]
            by_class[side, -1] = 1 - keys.share[known].sum()
        by_class[:, -1] = np.where(by_class[:, -1] > ROUNDING, by_class[:, -1], 0.0)
        if not by_class[:, -1].any():
            by_class = by_class[:, :-1]
        chance = np.ones(by_class.shape[1])
        chance[len(every) :] = 0.0
        return cls(
            left=rates[0] * by_class[0],
            right=rates[1] * by_class[1],
            windows=windows,
            update=update,
            produce=produce,
            budget=budget,
            look=look,
            chance=chance,
        )

    @classmethod
    def of_selectivity(
        cls,
        selectivity: float,
        rates: tuple[float, float],
        windows: tuple[float, float],
        update: float,
        produce: float,
        budget: float,
        look: float = 0.0,
    ) -> "Workload":
        """Nothing is known but f, the chance that any two rows match.

        Examples
        --------
        >>> Workload.of_selectivity(0.01, (100, 50), (10, 4), 1, 1, budget=500).exact_output
        700.0
        """
        left, right = (np.array([rate], np.float64) for rate in rates)
        return cls(
            left=left,
            right=right,
            windows=windows,
            update=update,
            produce=produce,
            budget=budget,
            look=look,
            chance=selectivity,
        )

    @property
    def classes(self) -> int:
        """How many classes of rows there are."""
        return len(self.left)

    @property
    def rates(self) -> Sides:
        """Rows of each side and class a unit of time."""
        return self.left, self.right

    @property
    def updates(self) -> tuple[float, float]:
        """What storing a row of each side costs."""
        left, right = (self.update if window > 0 else 0.0 for window in self.windows)
        return left, right

    @cached_property
    def matches(self) -> Sides:
        """Partners that a stored row of each side and class meets before it expires."""
        return (
            self.chance * self.right * self.windows[0],
            self.chance * self.left * self.windows[1],
        )

    @cached_property
    def outputs(self) -> Sides:
        """Pairs a unit of time that stored rows of each side and class would make, if all were
        stored and all others probed."""
        return self.left * self.matches[0], self.right * self.matches[1]

    @cached_property
    def exact_output(self) -> float:
        """Pairs of the whole join a unit of time (Equation 6)."""
        return float(self.outputs[0].sum() + self.outputs[1].sum())

    @cached_property
    def exact_cost(self) -> float:
        """What the whole join costs a unit of time (Equation 2)."""
        return self.cost((1.0, 1.0), (1.0, 1.0))

    @property
    def is_feasible(self) -> bool:
        """Whether the budget is enough for the whole join."""
        return self.affords(self.exact_cost)

    def affords(self, cost: float) -> bool:
        """Whether so much may be spent, but for rounding."""
        return cost <= self.budget * (1 + ROUNDING)

    def output(self, probe: Shares, insert: Shares) -> float:
        """Pairs made a unit of time with these shares of the rows probing and stored."""
        left = self.outputs[0] * insert[0] * probe[1]
        right = self.outputs[1] * insert[1] * probe[0]
        return float((left + right).sum())

    def stored(self, insert: Shares) -> tuple[float, float]:
        """Rows of each side that are stored at any time."""
        left, right = (
            window * float((rate * share).sum())
            for rate, share, window in zip(self.rates, insert, self.windows, strict=True)
        )
        return left, right

    def cost(self, probe: Shares, insert: Shares) -> float:
        """What these shares cost a unit of time."""
        spent = self.produce * self.output(probe, insert)
        for side, rate in enumerate(self.rates):
            spent += self.updates[side] * float((rate * insert[side]).sum())
            spent += self.look * float((rate * np.maximum(probe[side], insert[side])).sum())
        return spent

    def within(self, budget: float) -> "Workload":
        """The same join with another budget."""
        return replace(self, budget=budget)

    def only(self, at: int, budget: float) -> "Workload":
        """The rows of one class, within a budget of their own."""
        own = slice(at, at + 1)
        return replace(
            self,
            left=self.left[own],
            right=self.right[own],
            chance=np.asarray(self.chance)[own],
            budget=budget,
        )

    def pooled(self) -> "Workload":
        """The same workload with all keys in one class, as if keys were unknown.

        Examples
        --------
        >>> join = Workload([8, 2], [1, 9], windows=(10, 0), update=1, produce=0.1, budget=20)
        >>> join.pooled().chance, join.pooled().exact_output
        (array([0.26]), 260.0)
        """
        left, right = self.left.sum(), self.right.sum()
        pairs = (self.left * self.right * self.chance).sum()
        chance = pairs / (left * right) if left and right else 0.0
        return replace(
            self,
            left=np.array([left]),
            right=np.array([right]),
            chance=np.array([min(chance, 1.0)]),
        )
