"""Draws from the suite's own strategies by a seed, without Hypothesis around it.

Hypothesis draws a case in some milliseconds, notes every choice and shrinks. For millions of cases
that is too slow, so the few kinds of strategies that `tests/checks` uses are drawn here as they
are. A failing seed is then repeated as it is.
"""

import math
import random
from collections.abc import Callable
from typing import Any


class SeededDraw:
    """Stands in for the ``data`` of a property test."""

    def __init__(self, seed: Any) -> None:
        self.rng = random.Random(seed)

    def draw(self, strategy: Any, label: Any = None) -> Any:
        """A value of a strategy."""
        strategy = getattr(strategy, "wrapped_strategy", strategy)
        return _DRAWN[type(strategy).__name__](self, strategy)


def _integer(data: SeededDraw, strategy: Any) -> int:
    low, high = strategy.start, strategy.end
    # As Hypothesis does, the ends more often than others.
    if data.rng.random() < 0.1:
        return int(data.rng.choice((low, high)))
    return data.rng.randint(low, high)


def _list(data: SeededDraw, strategy: Any) -> list[Any]:
    most = 60 if math.isinf(strategy.max_size) else int(strategy.max_size)
    size = data.rng.randint(strategy.min_size, most)
    return [data.draw(strategy.element_strategy) for _ in range(size)]


_DRAWN: dict[str, Callable[[SeededDraw, Any], Any]] = {
    "IntegersStrategy": _integer,
    "BooleansStrategy": lambda data, strategy: data.rng.random() < 0.5,
    "SampledFromStrategy": lambda data, strategy: data.rng.choice(tuple(strategy.elements)),
    "JustStrategy": lambda data, strategy: strategy.elements[0],
    "ListStrategy": _list,
    "TupleStrategy": lambda data, strategy: tuple(map(data.draw, strategy.element_strategies)),
    "CompositeStrategy": lambda data, strategy: strategy.definition(
        data.draw, *strategy.args, **strategy.kwargs
    ),
    "FloatStrategy": lambda data, strategy: data.rng.uniform(
        strategy.min_value, strategy.max_value
    ),
}
