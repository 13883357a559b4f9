"""Chooses the index structures of both windows: the cheapest pair for a workload."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import product

from headgate.models.cost.structure import Pair, Structure, pair_letters
from headgate.models.cost.unit_time import BUCKET_ROWS, NODE_ROWS, arriving_cost, direction_cost
from headgate.models.cost.weights import Weights
from headgate.spec import SpecError

EXTRA_BYTES: Mapping[Structure, float] = {
    Structure.SCAN: 0.0,
    Structure.HASH: 12.0,
    Structure.BTREE: 24.0,
    Structure.TTREE: 16.0,
    Structure.BITMAP: 8.5,
}
"""Bytes a row that each structure takes beside rows in order of arrival, about.

A link and a bucket's share of the directory; a key and a row number with half-empty nodes, in the
B+tree once more as separators; a place in the order and a bit.
"""


@dataclass(frozen=True)
class IndexChoice:
    """A pair of structures, and what it costs.

    Attributes
    ----------
    pair
        The structures over window A and over window B.
    costs
        The cost of each window's direction in a unit of time.
    extra_bytes
        Bytes that both structures take beside the rows.
    arriving
        What arrivals cost in a unit of time on account of the pair, see `Weight.arrive`.
    """

    pair: Pair
    costs: tuple[float, float]
    extra_bytes: float
    arriving: float = 0.0

    @property
    def cost(self) -> float:
        """Of all arrivals and both directions."""
        return sum(self.costs) + self.arriving

    @property
    def letters(self) -> str:
        """As the paper writes the pair."""
        return pair_letters(self.pair)


@dataclass(frozen=True)
class IndexRanking:
    """Every usable pair, cheapest first, and the excluded ones with the reason.

    Examples
    --------
    >>> from headgate.models.cost import PAPER_WEIGHTS
    >>> print(cheapest((800, 200), (7000, 3000), PAPER_WEIGHTS).explain())
    HT at 6.46 a unit of time, the cheapest of 16 pairs (then HB at 6.72, HH at 7.06)
    ├─ window A   7,000 rows  hash   2.35 (200 probes, 800 updates)
    └─ window B   3,000 rows  ttree  4.11 (800 probes, 200 updates)
    """

    choices: tuple[IndexChoice, ...]
    left_out: tuple[str, ...]
    rates: tuple[float, float]
    windows: tuple[float, float]
    probing: tuple[float, float]

    @property
    def best(self) -> IndexChoice:
        """The cheapest pair."""
        return self.choices[0]

    def explain(self) -> str:
        """What was chosen and why, in a few lines."""
        best, rest = self.best, self.choices[1:3]
        then = ", ".join(f"{each.letters} at {_figure(each.cost)}" for each in rest)
        lines = [
            f"{best.letters} at {_figure(best.cost)} a unit of time, "
            f"the cheapest of {len(self.choices)} pairs" + (f" (then {then})" if then else "")
        ]
        for side, name in enumerate("AB"):
            lines.append(
                f"{'├─' if side == 0 or self.left_out else '└─'} window {name} "
                f"{self.windows[side]:>7,.0f} rows  {best.pair[side]:<6} "
                f"{_figure(best.costs[side])} "
                f"({self.probing[1 - side]:,.6g} probes, {self.rates[side]:,.6g} updates)"
            )
        if self.left_out:
            lines.append("└─ left out  " + "; ".join(self.left_out))
        return "\n".join(lines)


def cheapest(
    rates: tuple[float, float],
    windows: tuple[float, float],
    weights: Weights,
    *,
    equality: bool = True,
    among: Collection[str | Structure] | None = None,
    memory: float | None = None,
    extra_bytes: Mapping[Structure, float] = EXTRA_BYTES,
    node: int = NODE_ROWS,
    bucket: float = BUCKET_ROWS,
    matches: tuple[float, float] = (0.0, 0.0),
    probing: tuple[float, float] | None = None,
) -> IndexRanking:
    """Rank the pairs of structures that serve a join by what they cost.

    The two directions are independent, so without a limit on memory each window gets its own
    cheapest structure. Of pairs with equal cost the smaller comes first.

    Parameters
    ----------
    rates
        Rows of A and of B stored per unit of time, after load shedding.
    windows
        Rows in window A and in window B.
    weights
        What a touch costs; structures without weights are left out.
    equality
        Whether keys are compared for equality. If not, only a scan and ordered structures serve.
    among
        The structures to choose from, by name or letter; None for all that have weights.
    memory
        Bytes that both structures may take beside the rows; None for any number.
    extra_bytes
        Bytes a row that each structure takes.
    node, bucket, matches, probing
        As in `join_cost`.

    Examples
    --------
    The workloads of the paper's Figure 4, with its winners:

    >>> from headgate.models.cost import PAPER_WEIGHTS
    >>> for rates, windows in [((2, 998), (9500, 500)), ((550, 450), (4000, 6000))]:
    ...     cheapest(rates, windows, PAPER_WEIGHTS, among="NHT").best.letters
    'TN'
    'HH'

    References
    ----------
    Kang, Naughton, Viglas, Evaluating Window Joins over Unbounded Streams, ICDE 2003, section 5.1,
    which leaves the B+tree out of its comparison; with it, BN is ahead of TN in the first.
    """
    asked = weights.structures if among is None else tuple(map(Structure.of, among))
    serving = [each for each in asked if equality or each is not Structure.HASH]
    left_out = []
    if len(serving) < len(asked):
        left_out.append("hash: it finds equal keys alone")
    if not serving:
        raise SpecError(
            f"no index can be used: the choice is {', '.join(asked) or 'none'}, and a hash index "
            f"finds equal keys only; allow other indexes too"
        )
    probes = rates if probing is None else probing
    costs = {
        (side, each): direction_cost(
            each,
            probes[1 - side],
            rates[side],
            window=windows[side],
            weights=weights,
            node=node,
            bucket=bucket,
            matches=matches[side],
        )
        for side in (0, 1)
        for each in serving
    }
    choices = [
        IndexChoice(
            (over_a, over_b),
            (costs[0, over_a], costs[1, over_b]),
            windows[0] * extra_bytes[over_a] + windows[1] * extra_bytes[over_b],
            arriving_cost((over_a, over_b), probes, weights),
        )
        for over_a, over_b in product(serving, repeat=2)
    ]
    fitting = [each for each in choices if memory is None or each.extra_bytes <= memory]
    if not fitting:
        least = min(each.extra_bytes for each in choices)
        raise SpecError(
            f"no structure fits in {memory:,.0f} bytes: the smallest pair takes {least:,.0f}; "
            f"give more memory, or weights of the scan, which takes none"
        )
    if len(fitting) < len(choices):
        too_large = [pair_letters(each.pair) for each in choices if each not in fitting]
        left_out.append(f"{', '.join(too_large)}: not within {memory:,.0f} bytes")
    ranked = sorted(fitting, key=lambda each: (each.cost, each.extra_bytes))
    return IndexRanking(tuple(ranked), tuple(left_out), rates, windows, probes)


def _figure(cost: float) -> str:
    """Three digits, and at least two decimals where there is room for them."""
    return f"{cost:,.2f}" if 0.1 <= cost < 1e6 else f"{cost:.3g}"
