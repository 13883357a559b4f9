"""Optimal allocation of scarce CPU and memory between two streams: ICDE'03's three cases.

A join makes σ(λa·B + λb·A) pairs a unit of time: rows of A probe window B, rows of B window A. With
limited processing only μ rows a unit of time can probe; with limited memory both windows together
hold M rows. The optimum is at a corner: each resource goes to one side first, the other gets the
rest.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from headgate.spec import SpecError

Two = tuple[float, float]
"""A number for A and one for B."""

MAX_A, MAX_B, EQUAL = "MaxA", "MaxB", "Equal"
PROP_RATES, PROP_WINDOWS = "Prop to rates", "Prop to windows"
PROP, INV_PROP = "Prop", "InvProp"
MAX_A_MAX_LB, MAX_B_MAX_LA = "MaxA/Maxλb", "MaxB/Maxλa"
MAX_A_MAX_LA, MAX_B_MAX_LB = "MaxA/Maxλa", "MaxB/Maxλb"
BEST = "Best"


@dataclass(frozen=True)
class Demand:
    """The demand of a join without limits.

    Parameters
    ----------
    rates
        λa and λb: rows of A and of B a unit of time.
    windows
        Rows asked for in window A and in window B; infinite for as many as there is room for.
    selectivity
        σ: the chance that two rows match.

    Examples
    --------
    >>> Demand((800, 200), (100, 200), 0.01).output()
    1800.0
    """

    rates: Two
    windows: Two
    selectivity: float = 1.0

    def __post_init__(self) -> None:
        if not all(0 <= rate < math.inf for rate in self.rates):
            raise SpecError(f"rates={self.rates}: give numbers, 0 or more")
        if not all(window >= 0 for window in self.windows):
            raise SpecError(f"windows={self.windows}: give numbers of rows, 0 or more")
        if not 0 <= self.selectivity <= 1:
            raise SpecError(f"selectivity={self.selectivity!r} is not a chance, from 0 to 1")

    def output(self, rates: Two | None = None, windows: Two | None = None) -> float:
        """Pairs a unit of time, at other rates or windows if given (Equation 12)."""
        (a, b), (in_a, in_b) = rates or self.rates, windows or self.windows
        # An idle stream makes nothing, however large the window.
        made = (a * in_b if a else 0.0) + (b * in_a if b else 0.0)
        return self.selectivity * made


@dataclass(frozen=True)
class JoinAllocation:
    """What each side gets under a strategy.

    Attributes
    ----------
    strategy
        Its name.
    rates
        Rows of A and of B that probe in a unit of time.
    windows
        Rows that window A and window B hold.
    output
        Pairs expected a unit of time.
    """

    strategy: str
    rates: Two
    windows: Two
    output: float


def best_cpu(demand: Demand, service: float, minimum: Two = (0.0, 0.0)) -> JoinAllocation:
    """The best allocation of a CPU that can serve ``service`` probes per unit of time.

    Rows probe the larger window first; all are stored.

    Parameters
    ----------
    demand
        The join's demand, with finite windows.
    service
        μ: rows that can probe in a unit of time.
    minimum
        Rows of A and of B that must probe in a unit of time.

    Examples
    --------
    The paper's example, without and with a minimum of ten rows a side:

    >>> demand = Demand((200, 200), (500, 1000))
    >>> best_cpu(demand, 100).rates, best_cpu(demand, 100, minimum=(10, 10)).rates
    ((100.0, 0.0), (90.0, 10.0))

    References
    ----------
    Kang, Naughton, Viglas, Evaluating Window Joins over Unbounded Streams, ICDE 2003, section
    5.2.1, Equations 13 and 14.
    """
    return _best(_with_rates(demand, _rate_corners(demand, service, minimum)))


def best_memory(demand: Demand, rows: float) -> JoinAllocation:
    """The best allocation of ``rows`` rows of memory: the slower stream's window first.

    Parameters
    ----------
    demand
        The join's demand.
    rows
        M: rows that both windows hold together.

    Examples
    --------
    >>> best_memory(Demand((10, 50), (800, 800), 0.005), 1000).windows
    (800.0, 200.0)

    References
    ----------
    Kang, Naughton, Viglas, ICDE 2003, section 5.2.2, Equations 15 and 16.
    """
    return _best(_with_windows(demand, _window_corners(demand, rows)))


def best_both(
    demand: Demand, service: float, rows: float, minimum: Two = (0.0, 0.0)
) -> JoinAllocation:
    """The best allocation of both: one side probes first, the other side is stored first.

    Parameters
    ----------
    demand, service, rows, minimum
        As in `best_cpu` and `best_memory`.

    Examples
    --------
    >>> best = best_both(Demand((50, 50), (math.inf, 60), 0.01), service=10, rows=100)
    >>> best.rates, best.windows, best.output
    ((0.0, 10.0), (100.0, 0.0), 10.0)

    References
    ----------
    Kang, Naughton, Viglas, ICDE 2003, section 5.2.3, Equations 17 to 19.
    """
    # Output is linear in the rates for fixed windows and in the windows for fixed rates, and grows
    # with each: the optimum is at a corner of both.
    corners = product(_rate_corners(demand, service, minimum), _window_corners(demand, rows))
    return _best(_made(BEST, demand, rates, windows) for rates, windows in corners)


def cpu_strategies(
    demand: Demand, service: float, minimum: Two = (0.0, 0.0)
) -> tuple[JoinAllocation, ...]:
    """The paper's five ways to share a processor.

    What one side cannot use goes to the other.

    Examples
    --------
    >>> for each in cpu_strategies(Demand((800, 200), (100, 200), 0.01), service=100):
    ...     print(f"{each.strategy:<16}{each.output:.1f}")
    MaxA            200.0
    MaxB            100.0
    Prop to rates   180.0
    Prop to windows 133.3
    Equal           150.0
    """
    weights: dict[str, Two] = {
        MAX_A: (1.0, 0.0),
        MAX_B: (0.0, 1.0),
        PROP_RATES: demand.rates,
        PROP_WINDOWS: _finite(demand.windows),
        EQUAL: (1.0, 1.0),
    }
    least = _checked_minimum(demand, service, minimum)
    return tuple(
        _made(name, demand, _shared(service, by, demand.rates, least), demand.windows)
        for name, by in weights.items()
    )


def memory_strategies(demand: Demand, rows: float) -> tuple[JoinAllocation, ...]:
    """The paper's five ways to share memory.

    Examples
    --------
    >>> for each in memory_strategies(Demand((10, 50), (1000, 1000), 0.005), rows=1000):
    ...     print(f"{each.strategy:<16}{each.output:.1f}")
    MaxA            250.0
    MaxB            50.0
    Prop            83.3
    InvProp         216.7
    Equal           150.0
    """
    weights: dict[str, Two] = {
        MAX_A: (1.0, 0.0),
        MAX_B: (0.0, 1.0),
        PROP: demand.rates,
        INV_PROP: demand.rates[::-1],
        EQUAL: (1.0, 1.0),
    }
    _check_amount("rows", rows)
    return tuple(
        _made(name, demand, demand.rates, _shared(rows, by, demand.windows))
        for name, by in weights.items()
    )


def both_strategies(
    demand: Demand, service: float, rows: float, minimum: Two = (0.0, 0.0)
) -> tuple[JoinAllocation, ...]:
    """The paper's five ways to share both.

    Examples
    --------
    >>> demand = Demand((50, 50), (math.inf, math.inf), 0.01)
    >>> for each in both_strategies(demand, service=10, rows=100):
    ...     print(f"{each.strategy:<16}{each.output:.1f}")
    MaxA/Maxλb      10.0
    MaxB/Maxλa      10.0
    MaxA/Maxλa      0.0
    MaxB/Maxλb      0.0
    Equal           5.0
    """
    to_a, to_b, even = (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)
    weights: dict[str, tuple[Two, Two]] = {
        MAX_A_MAX_LB: (to_a, to_b),
        MAX_B_MAX_LA: (to_b, to_a),
        MAX_A_MAX_LA: (to_a, to_a),
        MAX_B_MAX_LB: (to_b, to_b),
        EQUAL: (even, even),
    }
    least = _checked_minimum(demand, service, minimum)
    _check_amount("rows", rows)
    return tuple(
        _made(
            name,
            demand,
            _shared(service, by_rate, demand.rates, least),
            _shared(rows, by_window, demand.windows),
        )
        for name, (by_window, by_rate) in weights.items()
    )


def _made(strategy: str, demand: Demand, rates: Two, windows: Two) -> JoinAllocation:
    return JoinAllocation(strategy, rates, windows, demand.output(rates, windows))


def _best(candidates: Iterator[JoinAllocation]) -> JoinAllocation:
    return max(candidates, key=lambda each: each.output)


def _with_rates(demand: Demand, corners: tuple[Two, Two]) -> Iterator[JoinAllocation]:
    windows = _finite(demand.windows)
    return (_made(BEST, demand, rates, windows) for rates in corners)


def _with_windows(demand: Demand, corners: tuple[Two, Two]) -> Iterator[JoinAllocation]:
    return (_made(BEST, demand, demand.rates, windows) for windows in corners)


def _rate_corners(demand: Demand, service: float, minimum: Two) -> tuple[Two, Two]:
    least = _checked_minimum(demand, service, minimum)
    return (
        _shared(service, (1.0, 0.0), demand.rates, least),
        _shared(service, (0.0, 1.0), demand.rates, least),
    )


def _window_corners(demand: Demand, rows: float) -> tuple[Two, Two]:
    _check_amount("rows", rows)
    return _shared(rows, (1.0, 0.0), demand.windows), _shared(rows, (0.0, 1.0), demand.windows)


def _shared(total: float, weights: Two, most: Two, least: Two = (0.0, 0.0)) -> Two:
    """Share a total by weights within bounds; what one side cannot use the other gets.

    ``least`` adds up to no more than the total, and neither is above its ``most``.
    """
    total = min(total, sum(most))
    share = weights[0] / sum(weights) if sum(weights) > 0 else 0.5
    lowest, highest = max(least[0], total - most[1]), min(most[0], total - least[1])
    first = min(max(total * share, lowest), highest)
    return float(first), float(total - first)


def _checked_minimum(demand: Demand, service: float, minimum: Two) -> Two:
    _check_amount("service", service)
    for name, least, rate in zip("AB", minimum, demand.rates, strict=True):
        if not 0 <= least <= rate:
            raise SpecError(
                f"a minimum of {least:,.6g} rows of {name} cannot be served where {rate:,.6g} come "
                f"in a unit of time: give a number from 0 to {rate:,.6g}"
            )
    if sum(minimum) > service:
        raise SpecError(
            f"a minimum of {minimum[0]:,.6g} rows of A and {minimum[1]:,.6g} of B is more than the "
            f"{service:,.6g} that can be processed in a unit of time: ask for less, or serve more"
        )
    return minimum


def _check_amount(name: str, amount: float) -> None:
    if not 0 <= amount < math.inf:
        raise SpecError(f"{name}={amount!r} is not an amount: give a number, 0 or more")


def _finite(windows: Two) -> Two:
    if math.inf in windows:
        raise SpecError(
            f"windows={windows}: where memory is not limited, give the rows that each window holds"
        )
    return windows
