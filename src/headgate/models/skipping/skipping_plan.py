"""A load-shedding plan: the shares of rows that probe and are stored, and the expected output."""

from dataclasses import dataclass

import numpy as np

from headgate.models.skipping.workload import Shares, Sides, Workload


@dataclass(frozen=True, eq=False)
class SkippingPlan:
    """The shares of rows to process, and the output and cost expected.

    Parameters
    ----------
    name
        The strategy that made it.
    probe, insert
        The share of each side's rows that probe, and that are stored, by class.
    output, cost
        Pairs expected a unit of time, and what they are expected to cost.
    recall
        The share of the whole join's output.
    stored
        Rows of each side expected to be stored at any time.
    bound
        Upper bound on the pairs per unit of time within the limits; equals the output where the
        plan is known to be optimal.
    feasible
        False where the strategy cannot keep within the limits at all; it then does nothing.

    Examples
    --------
    >>> join = Workload([8, 2], [1, 9], windows=(10, 0), update=1, produce=0.1, budget=18)
    >>> SkippingPlan.of(join, "half", (1, 1), (0.5, 0))
    SkippingPlan(half: recall 0.500, 130 pairs for 18 of 18)
    """

    name: str
    probe: Sides
    insert: Sides
    output: float
    cost: float
    recall: float
    stored: tuple[float, float]
    bound: float
    feasible: bool = True
    _workload: Workload | None = None

    @classmethod
    def of(
        cls,
        workload: Workload,
        name: str,
        probe: Shares,
        insert: Shares,
        bound: float | None = None,
        feasible: bool = True,
    ) -> "SkippingPlan":
        """The plan of these shares, by class or for all alike, and what it is expected to bring.

        Rows of a side without a window take no room: those that probe are also inserted, for
        partners with the same timestamp.
        """
        probing = _by_class(workload, probe)
        storing = _by_class(workload, insert)
        left, right = (
            stored if window > 0 else looked
            for window, stored, looked in zip(workload.windows, storing, probing, strict=True)
        )
        storing = (left, right)
        output = workload.output(probing, storing)
        most = workload.exact_output
        return cls(
            name=name,
            probe=probing,
            insert=storing,
            output=output,
            cost=workload.cost(probing, storing),
            recall=output / most if most else 1.0,
            stored=workload.stored(storing),
            bound=output if bound is None else bound,
            feasible=feasible,
            _workload=workload,
        )

    @classmethod
    def infeasible(cls, workload: Workload, name: str) -> "SkippingPlan":
        """Nothing is done: the strategy has no plan within the limits."""
        return cls.of(workload, name, (0.0, 0.0), (0.0, 0.0), feasible=False)

    def shares(self, side: int) -> tuple[float, float]:
        """Of all rows of a side: the shares that probe and that are stored.

        Examples
        --------
        >>> join = Workload([8, 2], [1, 9], windows=(10, 0), update=1, produce=0.1, budget=18)
        >>> SkippingPlan.of(join, "heavy keys", (1, 1), (np.array([1.0, 0.0]), 0)).shares(0)
        (1.0, 0.8)
        """
        rates = np.ones(len(self.probe[side]))
        if self._workload is not None:
            rates = self._workload.rates[side]
        total = float(rates.sum())
        probe, insert = (float((rates * each[side]).sum()) for each in (self.probe, self.insert))
        return (probe / total, insert / total) if total else (1.0, 1.0)

    def __repr__(self) -> str:
        if not self.feasible:
            return f"SkippingPlan({self.name}: infeasible)"
        within = "" if self._workload is None else f" of {self._workload.budget:.4g}"
        return (
            f"SkippingPlan({self.name}: recall {self.recall:.3f}, {self.output:.4g} pairs for "
            f"{self.cost:.4g}{within})"
        )

    def explain(self) -> str:
        """The plan as a small tree.

        Examples
        --------
        >>> join = Workload([8, 2], [1, 9], windows=(10, 0), update=1, produce=0.1, budget=18)
        >>> print(SkippingPlan.of(join, "half", (1, 1), (0.5, 0)).explain())
        half within 18 a unit of time
        ├─ left     100 % of the rows probe, 50 % are stored (5 a unit of time, 50 at a time)
        ├─ right    100 % of the rows probe, none is stored (window 0)
        └─ expect   recall 0.500: 130 pairs for 18; the whole join would cost 36
        """
        work = self._workload
        if work is None:
            return repr(self)
        lines = [f"{self.name} within {work.budget:.4g} a unit of time"]
        if not self.feasible:
            lines.append(
                f"└─ expect   nothing: what it does with every row costs more than the budget; the "
                f"whole join would cost {work.exact_cost:.4g}"
            )
            return "\n".join(lines)
        for side, word in enumerate(("left", "right")):
            rate, total = work.rates[side], float(work.rates[side].sum())
            probing, storing = (
                float((rate * shares[side]).sum()) for shares in (self.probe, self.insert)
            )
            probe = f"{100 * probing / total if total else 100.0:.3g} % of the rows probe"
            if work.windows[side] > 0:
                share = f"{100 * storing / total if total else 100.0:.3g} %"
                store = (
                    f"{share} are stored ({storing:.4g} a unit of time, {self.stored[side]:.4g} at "
                    f"a time)"
                )
            else:
                store = "none is stored (window 0)"
            lines.append(f"├─ {word:<8} {probe}, {store}")
        lines.append(
            f"└─ expect   recall {self.recall:.3f}: {self.output:.4g} pairs for {self.cost:.4g}; "
            f"the whole join would cost {work.exact_cost:.4g}"
        )
        return "\n".join(lines)


def _by_class(workload: Workload, shares: Shares) -> Sides:
    left, right = (
        np.clip(np.broadcast_to(share, workload.classes), 0.0, 1.0).astype(np.float64)
        for share in shares
    )
    return left, right
