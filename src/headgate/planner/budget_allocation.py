"""One memory for several joins: ALLOC, which makes the worst-off join as good as can be, and PROP.

A join that stands lower than the others decides, so memory goes where it lifts the lowest: all
joins rise together until memory is spent. A join that cannot rise with the others, because it is
at its best or because the next step of its curve costs more than is left, stays where it is, and
the others go on without it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite

from headgate.planner.quality_curve import ROUNDED, Measure, QualityCurve
from headgate.spec import SpecError

HALVINGS = 200
"""Of an interval of standings; it ends earlier, where doubles cannot be told apart."""


@dataclass(frozen=True)
class Allocation:
    """Who gets how much memory, and what comes of it.

    Parameters
    ----------
    memory
        What each join gets, in the unit of the curves; all of it together what there is, but for
        the last digit or so of a double.
    quality
        Recall, or error, to be expected of each.
    worst
        The lowest of quality over weight; of errors, the greatest error times weight.
    """

    memory: dict[str, float]
    quality: dict[str, float]
    worst: float


def alloc(
    curves: Mapping[str, QualityCurve],
    memory: float,
    weights: Mapping[str, float] | None = None,
) -> Allocation:
    """The allocation under which the worst-off join is as good as can be.

    Recall q of a join of weight w stands at q / w, and the lowest is made as high as it can be;
    of errors e the greatest e · w as low. All memory is handed out: what no join can use to stand
    higher goes to those that have less than their exact join takes, then to all, in proportion.

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
        # A step that takes just what there is must not be missed for a rounded sum, nor what was
        # reached in one round in the next: what rounding may add grows with the rounds.
        rounded = (1 + len(given)) * ROUNDED * memory
        lower, upper = _highest(rising, weigh, left + rounded)
        needs = {name: _needs(rising, weigh, name, lower) for name in rising}
        # Nobody can rise by more than doubles tell apart, or what hinders it is a step.
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
) -> Allocation:
    """Memory in proportion to what each exact join takes; weights only judge it.

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
    given: Allocation,
    memory: int,
    weights: Mapping[str, float] | None = None,
    least: int = 0,
) -> Allocation:
    """The same in whole rows or bytes, never more than there are; each join gets the least.

    What rounding down leaves over goes to the joins that stand lowest.

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
    # One that has less than the least is filled up at the cost of those that have most.
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
            "some joins are measured by recall and some by error: which is worse cannot be told, "
            "so give curves of one measure"
        )
    if not (isfinite(memory) and memory >= 0):
        raise SpecError(f"memory of {memory!r} is none: give a finite number of 0 or more")
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
            f"weights name {', '.join(map(repr, unknown))}, which is no join: the joins are "
            f"{', '.join(map(repr, joins))}"
        )
    for name, weight in given.items():
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not (number and isfinite(weight) and weight > 0):
            raise SpecError(
                f"the weight of {name!r} is {weight!r}: give a number above 0; a join of weight 2 "
                f"is to be twice as good as one of weight 1"
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
    """Two neighbouring standings: all joins reach the lower within memory, not the upper."""

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
    """What each has been given, and its part of what is left.

    Curves are what is known, not what is so: where a curve says that more would not help, more
    may help yet.
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
) -> Allocation:
    standings = [curves[name].standing(memory[name], weights[name]) for name in curves]
    worst = min(standings)
    measure = next(iter(curves.values())).measure
    return Allocation(
        {name: memory[name] for name in curves},
        {name: curves[name].at(memory[name]) for name in curves},
        worst if measure is Measure.RECALL else -worst,
    )
