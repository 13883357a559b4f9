"""Dividing one memory budget among joins: ALLOC (maximises the worst-off join) and PROP.

ALLOC is a max-min allocation: the joins' weighted qualities rise together until memory is spent. A
join that cannot rise further, because it is at its best or because the next step of its curve costs
more memory than is left, stays where it is, and the others go on without it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite

from headgate.planner.quality_curve import ROUNDED, Measure, QualityCurve
from headgate.spec import SpecError

HALVINGS = 200
"""The most bisections of an interval of standings; ends earlier at the precision of doubles."""


@dataclass(frozen=True)
class BudgetAllocation:
    """The memory given to each join and the quality expected from it.

    Parameters
    ----------
    memory
        Memory of each join, in the unit of the curves; adds up to the budget, up to rounding.
    quality
        Expected recall, or error, of each join.
    worst
        The lowest quality divided by weight; for errors, the greatest error times weight.
    """

    memory: dict[str, float]
    quality: dict[str, float]
    worst: float


def alloc(
    curves: Mapping[str, QualityCurve],
    memory: float,
    weights: Mapping[str, float] | None = None,
) -> BudgetAllocation:
    """Allocate memory so that the worst-off join is as good as possible.

    Maximises the lowest q / w over joins with recall q and weight w; for errors e, minimises the
    greatest e · w. All memory is handed out: what raises no join's quality goes to joins that have
    less than their exact join needs, then to all, in proportion.

    Examples
    --------
    >>> hard = QualityCurve([0, 100], [0.0, 1.0])
    >>> easy = QualityCurve([0, 10, 100], [0.0, 0.9, 1.0])
    >>> given = alloc({"hard": hard, "easy": easy}, 55)
    >>> {name: round(rows, 6) for name, rows in given.memory.items()}
    {'hard': 49.5, 'easy': 5.5}
    >>> round(given.worst, 6), round(prop({"hard": hard, "easy": easy}, 55).worst, 6)
    (0.495, 0.275)

    References
    ----------
    Srivastava and Widom, Memory-Limited Execution of Windowed Stream Joins, VLDB 2004, section 5.
    """
    weigh = _checked(curves, memory, weights)
    given: dict[str, float] = {}
    rising, left = dict(curves), float(memory)
    while rising:
        # A step that takes exactly the memory left must not be missed because a sum was rounded,
        # nor a level reached in one round be lost in the next: the tolerance grows with the rounds.
        rounded = (1 + len(given)) * ROUNDED * memory
        lower, upper = _highest(rising, weigh, left + rounded)
        needs = {name: _needs(rising, weigh, name, lower) for name in rising}
        # Either no join can rise by more than rounding, or a step of a curve blocks it.
        steps = {name: _needs(rising, weigh, name, upper) - needs[name] for name in rising}
        at_best = [name for name, curve in rising.items() if _stands_best(curve, needs[name])]
        stays = at_best or [max(steps, key=lambda name: steps[name])]
        for name in stays:
            given[name] = needs[name]
            left -= needs[name]
            del rising[name]
    return _allocation(curves, weigh, _with_spare(curves, given, float(memory)))


def prop(
    curves: Mapping[str, QualityCurve],
    memory: float,
    weights: Mapping[str, float] | None = None,
) -> BudgetAllocation:
    """Allocate memory in proportion to what each exact join needs; weights only affect ``worst``.

    Examples
    --------
    >>> small, large = QualityCurve([0, 10], [0.0, 1.0]), QualityCurve([0, 30], [0.0, 1.0])
    >>> prop({"small": small, "large": large}, 20).memory
    {'small': 5.0, 'large': 15.0}
    """
    weigh = _checked(curves, memory, weights)
    return _allocation(curves, weigh, _in_proportion(curves, float(memory)))


def in_whole(
    curves: Mapping[str, QualityCurve],
    given: BudgetAllocation,
    memory: int,
    weights: Mapping[str, float] | None = None,
    least: int = 0,
) -> BudgetAllocation:
    """The allocation rounded to whole rows or bytes, within the total; each join gets ``least``.

    What rounding down leaves over goes to the joins with the lowest weighted quality.

    Examples
    --------
    >>> easy, hard = QualityCurve([0, 1, 100], [0.0, 0.9, 1.0]), QualityCurve([0, 100], [0.0, 1.0])
    >>> in_whole({"easy": easy, "hard": hard}, alloc({"easy": easy, "hard": hard}, 50), 50).memory
    {'easy': 1, 'hard': 49}
    """
    weigh = _checked(curves, memory, weights)
    if memory < least * len(curves):
        raise SpecError(
            f"{memory:,} is too little for {len(curves)} joins that need {least:,} each at least: "
            f"give more"
        )
    # A join below the minimum is topped up from those that have most.
    whole = {name: max(int(amount * (1 + ROUNDED)), least) for name, amount in given.memory.items()}
    while sum(whole.values()) > memory:
        most = max(whole, key=lambda name: whole[name])
        whole[most] = max(whole[most] - (sum(whole.values()) - memory), least)
    while (spare := memory - sum(whole.values())) > 0:
        lowest = min(curves, key=lambda name: curves[name].standing(whole[name], weigh[name]))
        whole[lowest] += 1 if spare <= len(curves) else spare // len(curves)
    return _allocation(curves, weigh, whole)


def _checked(
    curves: Mapping[str, QualityCurve], memory: float, weights: Mapping[str, float] | None
) -> dict[str, float]:
    """The weight of each join."""
    if not curves:
        raise SpecError("there is no join to give memory to: give at least one curve")
    measures = {curve.measure for curve in curves.values()}
    if len(measures) > 1:
        raise SpecError(
            "some joins are measured by recall and some by error: they cannot be compared, "
            "so give curves of one measure"
        )
    if not (isfinite(memory) and memory >= 0):
        raise SpecError(f"memory={memory!r} is not accepted: give a finite number, 0 or more")
    return checked_weights(curves, weights)


def checked_weights(
    joins: Mapping[str, object], weights: Mapping[str, float] | None
) -> dict[str, float]:
    """The weight of each join, 1 where none is given.

    Examples
    --------
    >>> checked_weights({"a": 0, "b": 0}, {"b": 2})
    {'a': 1.0, 'b': 2.0}
    """
    given = dict(weights or {})
    unknown = [name for name in given if name not in joins]
    if unknown:
        raise SpecError(
            f"weights name {', '.join(map(repr, unknown))}, which is not a join: the joins are "
            f"{', '.join(map(repr, joins))}"
        )
    for name, weight in given.items():
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not (number and isfinite(weight) and weight > 0):
            raise SpecError(
                f"the weight of {name!r} is {weight!r}: give a number above 0; a join of weight 2 "
                f"should be twice as good as one of weight 1"
            )
    return {name: float(given.get(name, 1.0)) for name in joins}


def _needs(
    curves: Mapping[str, QualityCurve], weights: Mapping[str, float], name: str, standing: float
) -> float:
    return curves[name].need_to_stand(standing, weights[name])


def _stands_best(curve: QualityCurve, memory: float) -> bool:
    return memory >= curve.need(curve.best)


def _highest(
    curves: Mapping[str, QualityCurve], weights: Mapping[str, float], memory: float
) -> tuple[float, float]:
    """Two adjacent levels of weighted quality: memory suffices for the lower, not for the upper."""

    def fits(standing: float) -> bool:
        return sum(_needs(curves, weights, name, standing) for name in curves) <= memory

    upper = max(curve.standing(inf, weights[name]) for name, curve in curves.items())
    if fits(upper):
        return upper, upper
    lower = min(curve.standing(0.0, weights[name]) for name, curve in curves.items())
    for _ in range(HALVINGS):
        middle = (lower + upper) / 2
        if middle in (lower, upper):
            break
        lower, upper = (middle, upper) if fits(middle) else (lower, middle)
    return lower, upper


def _with_spare(
    curves: Mapping[str, QualityCurve], given: Mapping[str, float], memory: float
) -> dict[str, float]:
    """The given memory plus each join's part of the spare memory.

    Curves are estimates: where a curve says more memory would not help, it still may.
    """
    spare = max(memory - sum(given.values()), 0.0)
    lacks = {name: max(curve.full - given[name], 0.0) for name, curve in curves.items()}
    lacking = sum(lacks.values())
    part = min(spare / lacking, 1.0) if lacking > 0 else 0.0
    filled = {name: given[name] + part * lacks[name] for name in curves}
    more = _in_proportion(curves, max(spare - part * lacking, 0.0))
    return {name: filled[name] + more[name] for name in curves}


def _in_proportion(curves: Mapping[str, QualityCurve], memory: float) -> dict[str, float]:
    whole = sum(curve.full for curve in curves.values())
    if whole <= 0:
        return {name: memory / len(curves) for name in curves}
    return {name: memory * curve.full / whole for name, curve in curves.items()}


def _allocation(
    curves: Mapping[str, QualityCurve], weights: Mapping[str, float], memory: Mapping[str, float]
) -> BudgetAllocation:
    standings = [curves[name].standing(memory[name], weights[name]) for name in curves]
    worst = min(standings)
    measure = next(iter(curves.values())).measure
    return BudgetAllocation(
        {name: memory[name] for name in curves},
        {name: curves[name].at(memory[name]) for name in curves},
        worst if measure is Measure.RECALL else -worst,
    )
