"""Grows trees over the columns of watched rows, whose leaves differ in what rows meet, and when.

A split is judged by the probability of what was met on its two sides, with the rates of each
unknown but thought to be like those of both: one factor for how many matches, and shares for the
ages at which they come. So a split that says nothing costs probability, and is not made. Rows come
in event order, and are added up in whole numbers.
"""

from itertools import count
from typing import NamedTuple

import numpy as np

from headgate.models.class_ages import AGES, MOST_CLASSES, PARTS
from headgate.models.column_tree import LEAF, ColumnTree, Node

LEVEL, SHAPE = 1.0, 8.0
"""Matches that the rate of a node counts for where its children's are judged, and those by which
the ages are told."""
LEAST_GAIN = 3.0
"""In nats, above the logarithm of the splits that were tried."""
LEAST_ROWS = 8
"""Of a leaf."""
MOST_BINS = 16
"""Of a trait: the frequent categories and all others; or quantiles, and null."""
UNITS = 1024.0
"""Of time in an age, in which waiting is counted."""
WIDTHS = np.diff(np.append(PARTS, 1.0))
NULL = np.float32(np.nan)


class Lives(NamedTuple):
    """What rows of a side met, and how long they waited, by row and class of age."""

    traits: np.ndarray  # float32 (row, trait)
    met: np.ndarray  # float64 (row, age)
    waited: np.ndarray  # float64 (row, age): in units of the age's share of the window

    def where(self, which: np.ndarray) -> "Lives":
        """Some of the rows."""
        return Lives(self.traits[which], self.met[which], self.waited[which])


class Grown(NamedTuple):
    """A tree, and the rates of its leaves in matches a window, by class and age."""

    tree: ColumnTree
    rates: np.ndarray


class NodeSplit(NamedTuple):
    """The best split of a node."""

    gain: float
    node: Node
    left: np.ndarray
    """Which of the node's rows go left."""


class Bins(NamedTuple):
    """A trait in bins: the values of each, and the bin of each row."""

    is_number: bool
    values: np.ndarray
    """Upper ends of the bins of numbers, or categories; the last bin is for null, or others."""
    of_row: np.ndarray


def grow(rows: Lives, are_numbers: tuple[bool, ...], most: int = MOST_CLASSES) -> Grown:
    """Grow a tree, the best split first."""
    start = root_rates(rows)
    bins = [binned(rows.traits[:, at], number) for at, number in enumerate(are_numbers)]
    spread = overdispersion(rows, start)
    nodes: list[Node] = [Node(LEAF)]
    numbers = count(1)
    where: dict[int, np.ndarray] = {0: np.arange(len(rows.traits))}
    rates = {0: start}
    splits = {0: best_split(rows, bins, where[0], start, spread)}
    while len(where) < most:
        at = max(splits, key=lambda each: (splits[each].gain, -each))
        best = splits.pop(at)
        if best.gain <= 0:
            break
        mine, left, right = where.pop(at), next(numbers), next(numbers)
        nodes[at] = best.node._replace(left=left, right=right)
        nodes += [Node(LEAF), Node(LEAF)]
        above = rates.pop(at)
        for child, part in ((left, mine[best.left]), (right, mine[~best.left])):
            where[child] = part
            rates[child] = rates_below(above, rows.met[part], rows.waited[part], spread)
            splits[child] = best_split(rows, bins, part, rates[child], spread)
    leaves = sorted(where)
    for leaf, at in enumerate(leaves):
        nodes[at] = Node(LEAF, leaf=leaf)
    return Grown(ColumnTree(tuple(nodes)), np.stack([rates[at] for at in leaves]))


def root_rates(rows: Lives) -> np.ndarray:
    """Matches a window of all rows by age; ages that none has reached are like the last known."""
    met, waited = rows.met.sum(axis=0), rows.waited.sum(axis=0) * WIDTHS / UNITS
    if not waited.any():
        return np.zeros(AGES)
    mean = max(met.sum(), 0.5) / waited.sum()
    rates: np.ndarray = (met + 1.0) / (waited + 1.0 / mean)
    last = int(np.flatnonzero(waited > 0)[-1])
    rates[last + 1 :] = rates[last]
    return rates


def overdispersion(rows: Lives, rates: np.ndarray) -> float:
    """By how much more than chance the matches of rows differ: those of a key come together."""
    expected = (rows.waited * (WIDTHS / UNITS * rates)).sum(axis=1)
    known = expected > 0
    if not known.any():
        return 1.0
    off = (rows.met.sum(axis=1)[known] - expected[known]) ** 2 / np.maximum(expected[known], 0.05)
    return float(max(1.0, off.mean()))


def rates_below(
    above: np.ndarray, met: np.ndarray, waited: np.ndarray, spread: float
) -> np.ndarray:
    """The rates of a node's rows, thought to be like those of the node above."""
    by_age = met.sum(axis=0) / spread
    expected = waited.sum(axis=0) * (WIDTHS / UNITS * above) / spread
    level = (LEVEL + by_age.sum()) / (LEVEL + expected.sum())
    if not expected.any():
        return above
    share = expected / expected.sum()
    shape = np.ones(AGES)
    known = share > 0
    told = (SHAPE * share + by_age) / (SHAPE + by_age.sum())
    shape[known] = told[known] / share[known]
    rates: np.ndarray = above * level * shape
    return rates


def binned(values: np.ndarray, is_number: bool) -> Bins:
    """A trait in few bins."""
    if not is_number:
        known, of_row, often = np.unique(values, return_inverse=True, return_counts=True)
        kept = np.sort(np.argsort(-often, kind="stable")[: MOST_BINS - 1])
        place = np.full(len(known), len(kept))
        place[kept] = np.arange(len(kept))
        return Bins(False, known[kept], place[of_row])
    is_null = np.isnan(values)
    ordered = np.sort(values[~is_null])
    at = (np.arange(1, MOST_BINS) * len(ordered)) // MOST_BINS
    ends = np.unique(ordered[at]) if len(ordered) else ordered
    if len(ends) and ends[-1] == ordered[-1]:
        ends = ends[:-1]
    of_row = np.searchsorted(ends, values, side="left")
    of_row[is_null] = len(ends) + 1
    return Bins(True, ends, of_row)


def best_split(
    rows: Lives, bins: list[Bins], mine: np.ndarray, rates: np.ndarray, spread: float
) -> NodeSplit:
    """The best split of a node's rows, less what it must gain; none where that is not above 0."""
    nothing = NodeSplit(-np.inf, Node(LEAF), np.zeros(len(mine), np.bool_))
    if len(mine) < 2 * LEAST_ROWS:
        return nothing
    both = np.concatenate([rows.met[mine], rows.waited[mine]], axis=1)
    scale = np.append(np.ones(AGES), WIDTHS / UNITS * rates) / spread
    best, tried = nothing, 0
    for trait, each in enumerate(bins):
        found = _best_of_trait(trait, each, each.of_row[mine], both, scale)
        if found is not None:
            split, cuts = found
            tried += cuts
            best = max(best, split, key=lambda one: one.gain)
    return best._replace(gain=best.gain - LEAST_GAIN - np.log(max(tried, 1)))


def _best_of_trait(
    trait: int, bins: Bins, of_row: np.ndarray, both: np.ndarray, scale: np.ndarray
) -> tuple[NodeSplit, int] | None:
    size = int(of_row.max()) + 1
    often = np.bincount(of_row, minlength=size)
    present = np.flatnonzero(often)
    if len(present) < 2:
        return None
    place = np.zeros(size, np.int64)
    place[present] = np.arange(len(present))
    one_hot = (place[of_row][:, None] == np.arange(len(present))).astype(np.float64)
    by_bin = (one_hot.T @ both) * scale  # whole numbers until here
    rows = often[present]
    best, tried = None, 0
    for order in _orders(bins, present, by_bin):
        sums, many = np.cumsum(by_bin[order], axis=0)[:-1], np.cumsum(rows[order])[:-1]
        total = by_bin.sum(axis=0)
        worth = _worth(np.concatenate([sums, total - sums, total[None]]))
        gains = worth[: len(sums)] + worth[len(sums) : -1] - worth[-1]
        allowed = (many >= LEAST_ROWS) & (many <= rows.sum() - LEAST_ROWS)
        tried += int(np.count_nonzero(allowed))
        if not allowed.any():
            continue
        at = int(np.argmax(np.where(allowed, gains, -np.inf)))
        if best is None or gains[at] > best.gain:
            left = present[order[: at + 1]]
            node = _node(trait, bins, left, present[order[at + 1 :]])
            best = NodeSplit(float(gains[at]), node, np.isin(of_row, left))
    return None if best is None else (best, tried)


def _orders(bins: Bins, present: np.ndarray, by_bin: np.ndarray) -> list[np.ndarray]:
    """Orders of the bins in which one cut parts them: numbers as they are, with null at either end;
    categories by how many matches, and by their ages."""
    if bins.is_number:
        order = np.arange(len(present))
        if present[-1] == len(bins.values) + 1:
            return [order, np.roll(order, 1)]
        return [order]
    met, expected = by_bin[:, :AGES], by_bin[:, AGES:]
    level = (LEVEL + met.sum(axis=1)) / (LEVEL + expected.sum(axis=1))
    ages = np.arange(AGES)
    usual = float((expected.sum(axis=0) * ages).sum() / max(expected.sum(), 1e-9))
    age = (met @ ages + LEVEL * usual) / (met.sum(axis=1) + LEVEL)
    late = age - expected @ ages / np.maximum(expected.sum(axis=1), 1e-9)
    return [np.argsort(level, kind="stable"), np.argsort(late, kind="stable")]


def _worth(sums: np.ndarray) -> np.ndarray:
    """The logarithm of the probability of what was met, given what was expected by age, less what
    is the same for all splits."""
    from scipy.special import gammaln  # slow to import

    met, expected = sums[:, :AGES], np.maximum(sums[:, AGES:], 0.0)
    matches, total = met.sum(axis=1), expected.sum(axis=1)
    level = gammaln(LEVEL + matches) - (LEVEL + matches) * np.log(LEVEL + total)
    level += LEVEL * np.log(LEVEL) - gammaln(LEVEL)
    share = expected / np.maximum(total, 1e-300)[:, None]
    prior = np.maximum(SHAPE * share, 1e-3)
    shape = (gammaln(prior + met) - gammaln(prior)).sum(axis=1)
    shape += gammaln(prior.sum(axis=1)) - gammaln(prior.sum(axis=1) + matches)
    # The probability of the ages themselves, where rates are just as expected, is no merit.
    worth: np.ndarray = level + shape + (matches * np.log(np.maximum(total, 1e-300)))
    worth -= (met * np.log(np.maximum(expected, 1e-300))).sum(axis=1)
    return worth


def _node(trait: int, bins: Bins, left: np.ndarray, right: np.ndarray) -> Node:
    last = len(bins.values)
    if bins.is_number:
        null = last + 1
        numbers = left[left != null]
        if not len(numbers):  # null alone goes left
            return Node(trait, threshold=-np.inf, others_left=True)
        high = int(numbers.max())
        threshold = float(bins.values[high]) if high < last else np.inf
        return Node(trait, threshold=threshold, others_left=bool((left == null).any()))
    known = tuple(np.sort(bins.values[left[left < last]]).tolist())
    excepted = tuple(np.sort(bins.values[right[right < last]]).tolist())
    # Others go with their bin; where none was seen, with the side of more categories.
    others = bool((left == last).any()) or (
        not bool((right == last).any()) and len(known) > len(excepted)
    )
    return Node(trait, np.nan, known, others, excepted)
