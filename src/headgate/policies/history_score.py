"""Compiling the score function of a history policy."""

from collections.abc import Callable
from typing import Any

from numba import types

from headgate.compiling import callback

SIGNATURE = types.float64(types.int64, types.int64, types.int64, types.float64)


def history_score(function: Callable[[int, int, int, float], float]) -> Any:
    """Compile a score of (matches, touched, time, parameter) to a function the kernel can call."""
    return callback(SIGNATURE)(function)


@history_score
def no_history(matches: int, touched: int, time: int, parameter: float) -> float:
    """Stands in for policies whose score no match changes."""
    return 0.0
