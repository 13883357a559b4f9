"""How much of what could be tried is tried: in the usual round, and in that of `make test-long`."""

import os
from collections.abc import Callable, Collection, Iterable
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis.database import DirectoryBasedExampleDatabase

ROUND = os.environ.get("HEADGATE_TESTS")
LONG = ROUND == "long"
FIRST_FAILURE = ROUND == "first failure"
"""Whether it only matters that a test fails: inputs that fail are then not made smaller."""
TIMES_MORE = 10
EXAMPLES = ".hypothesis/examples"


def examples(count: int) -> settings:
    """So many generated inputs, the same every time: a failure is that of the change at hand.

    The long round draws ten times as many, others each time. It keeps those that failed, and
    tries them first.
    """
    if not LONG:
        tried = (Phase.explicit, Phase.generate) if FIRST_FAILURE else tuple(Phase)
        return settings(
            max_examples=count, deadline=None, derandomize=True, database=None, phases=tried
        )
    kept = DirectoryBasedExampleDatabase(EXAMPLES)
    return settings(max_examples=TIMES_MORE * count, deadline=None, database=kept)


def usually(
    few: Collection[Any], every: Iterable[Any], name: Callable[[Any], str] = str
) -> list[Any]:
    """Every value as a parameter; all but a few are left to the long round."""
    return [
        pytest.param(value, id=name(value), marks=() if value in few else pytest.mark.long)
        for value in every
    ]


def spread(ones: Iterable[Any], others: Iterable[Any], apart: int) -> list[Any]:
    """All pairs as parameters; all but one in so many are left to the long round.

    Each of the ones then comes with a part of the others, and each of the others with a part of
    the ones.
    """
    pairs = [
        (one, other, (place + its_place) % apart == 0)
        for place, one in enumerate(ones)
        for its_place, other in enumerate(others)
    ]
    return [
        pytest.param(one, other, id=f"{one}-{other}", marks=() if usual else pytest.mark.long)
        for one, other, usual in pairs
    ]
