"""The unit-time cost of a window join, by direction and by index structure.

A join is two independent directions: rows of one stream probe the other's window, and that window
is maintained by its own stream. Cost is the number of rows touched times the cost of a touch.
"""

from headgate.models.cost.structure import Pair, Structure, parse_pair
from headgate.models.cost.weights import Weights
from headgate.spec import SpecError

NODE_ROWS = 100
"""Rows a tree node holds, as in the paper's runs."""
BUCKET_ROWS = 10
"""Rows a hash bucket holds, as in the paper's runs."""
BITMAP_FANOUT = 64
"""Places that a bit of the level above sums up."""


def touched_by_search(
    structure: Structure | str,
    window: float,
    node: int = NODE_ROWS,
    bucket: float = BUCKET_ROWS,
    matches: float = 0.0,
) -> float:
    """Rows touched by a probe of a window.

    Parameters
    ----------
    structure
        What stands over the window.
    window
        Rows in it.
    node
        Rows in a tree node.
    bucket
        Rows in a hash bucket.
    matches
        Rows a probe finds. Ordered structures walk along them once they have found the first; in
        a scan and in a bucket they are among the rows touched. The paper leaves them out.

    Examples
    --------
    >>> [touched_by_search(letter, 5000) for letter in "NHBT"]
    [5000.0, 10.0, 14.0, 14.5]

    References
    ----------
    Kang, Naughton, Viglas, Evaluating Window Joins over Unbounded Streams, ICDE 2003, Equations 3
    to 6. Windows smaller than a node or a bucket touch no more rows than they have, and a tree of
    one node has no levels above it; the bitmap is not the paper's.
    """
    _check(window, node, bucket, matches)
    structure = Structure.of(structure)
    if structure is Structure.SCAN:
        return float(window)
    if structure is Structure.HASH:
        return min(max(float(bucket), matches), float(window))
    return _way_down(structure, window, node) + min(matches, float(window))


def touched_by_update(
    structure: Structure | str,
    window: float,
    node: int = NODE_ROWS,
    bucket: float = BUCKET_ROWS,
) -> float:
    """Rows touched when a row enters a window and another leaves it.

    In a scan and in a bucket rows stand in order of arrival, so that each end is one touch. Ordered
    structures are searched for both places.

    Examples
    --------
    >>> [touched_by_update(letter, 5000) for letter in "NHBT"]
    [2.0, 2.0, 28.0, 29.0]

    References
    ----------
    As for `touched_by_search`. For the T-tree, both terms of Equation 6 are meant to be doubled:
    Table 3 comes out only so.
    """
    _check(window, node, bucket, 0.0)
    structure = Structure.of(structure)
    if structure in (Structure.SCAN, Structure.HASH):
        return 2.0
    return 2.0 * _way_down(structure, window, node)


def direction_cost(
    structure: Structure | str,
    probe_rate: float,
    update_rate: float,
    window: float,
    weights: Weights,
    node: int = NODE_ROWS,
    bucket: float = BUCKET_ROWS,
    matches: float = 0.0,
) -> float:
    """The cost of one direction per unit of time: one stream probes, the other updates its window.

    Parameters
    ----------
    structure
        What stands over the window.
    probe_rate
        Rows of the other stream a unit of time.
    update_rate
        Rows of the window's own stream a unit of time.
    window
        Rows in the window.
    weights
        What a touch costs.
    node, bucket, matches
        As in `touched_by_search`.

    Examples
    --------
    >>> from headgate.models.cost import PAPER_WEIGHTS
    >>> round(direction_cost("hash", 800, 200, 3000, PAPER_WEIGHTS), 3)
    4.712

    References
    ----------
    Kang, Naughton, Viglas, ICDE 2003, Equation 2.
    """
    if not (probe_rate >= 0 and update_rate >= 0):
        raise SpecError(f"rates of {probe_rate} and {update_rate}: give numbers, 0 or more")
    weight = weights[structure]

    def search(rows: float) -> float:
        return touched_by_search(structure, rows, node, bucket)

    def update(rows: float) -> float:
        return touched_by_update(structure, rows, node, bucket)

    found = touched_by_search(structure, window, node, bucket, matches) - search(window)
    probe = weight.of_search(window, search) + found * weight.search
    return probe_rate * probe + update_rate * weight.of_update(window, update)


def join_cost(
    pair: "str | Pair",
    rates: tuple[float, float],
    windows: tuple[float, float],
    weights: Weights,
    node: int = NODE_ROWS,
    bucket: float = BUCKET_ROWS,
    matches: tuple[float, float] = (0.0, 0.0),
    probing: tuple[float, float] | None = None,
) -> float:
    """The cost of a join in a unit of time: both directions.

    Parameters
    ----------
    pair
        XY: X stands over window A, which stream B probes, and Y over window B.
    rates
        Rows of A and of B a unit of time that are stored.
    windows
        Rows in window A and in window B.
    weights
        What a touch costs.
    node, bucket
        As in `touched_by_search`.
    matches
        Rows that a probe finds in window A and in window B.
    probing
        Rows of A and of B a unit of time that probe, where these are not those that are stored.

    Examples
    --------
    The first row of the paper's Table 3, its best and its worst:

    >>> from headgate.models.cost import PAPER_WEIGHTS
    >>> workload = {"rates": (2, 998), "windows": (9500, 500), "weights": PAPER_WEIGHTS}
    >>> round(join_cost("TN", **workload), 2), round(join_cost("NT", **workload), 2)
    (4.67, 2849.69)

    References
    ----------
    Kang, Naughton, Viglas, ICDE 2003, section 4.
    """
    over, probes = parse_pair(pair), rates if probing is None else probing
    return sum(
        direction_cost(
            over[side],
            probes[1 - side],
            rates[side],
            window=windows[side],
            weights=weights,
            node=node,
            bucket=bucket,
            matches=matches[side],
        )
        for side in (0, 1)
    ) + arriving_cost(over, probes, weights)


def arriving_cost(pair: Pair, rates: tuple[float, float], weights: Weights) -> float:
    """The fixed cost of arrivals with a pair of structures; 0 in the paper.

    Arrivals are assumed to be in random order, so with rates a and b the stream changes 2ab / (a +
    b) times per unit of time.
    """
    over = [weights[structure] for structure in pair]
    both = sum(rates)
    switches = 2 * rates[0] * rates[1] / both if both else 0.0
    return both * max(each.arrive for each in over) + switches * (
        sum(each.switch for each in over) / 2
    )


def _way_down(structure: Structure, window: float, node: int) -> float:
    """Rows touched to find a place in an ordered structure."""
    if structure is Structure.BITMAP:
        return float(max(_steps(window, BITMAP_FANOUT), 1))
    nodes = -(-window // node)
    in_node = max(min(_steps(node, 2), _steps(window + 1, 2)), 1)
    if structure is Structure.BTREE:
        return float((_steps(nodes, node + 1) + 1) * in_node)
    # On average a T-tree finds the key a level above the lowest, with 1.5 comparisons a level.
    return 1.5 * max(_steps(nodes, 2) - 1, 0) + in_node


def _steps(count: float, base: int) -> int:
    """⌈log_base(count)⌉ in whole numbers, 0 for a count of 1 or less."""
    steps, reached = 0, 1
    while reached < count:
        steps += 1
        reached *= base
    return steps


def _check(window: float, node: int, bucket: float, matches: float) -> None:
    if not 0 <= window < float("inf"):
        raise SpecError(f"window={window!r} is not a number of rows, 0 or more")
    if not (node >= 1 and bucket > 0 and matches >= 0):
        raise SpecError(
            f"node={node}, bucket={bucket} and matches={matches}: a node and a bucket hold rows, "
            f"and matches are 0 or more"
        )
