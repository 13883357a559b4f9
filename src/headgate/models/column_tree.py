"""Trees over the columns of rows: they say which class a row is in.

A row's columns come as *traits*, a number for each: a number as it is, a category as its hash, see
`engine/traits.py`. A node asks one trait: whether a number is above a threshold, or which of the
known categories it is. Numbers that are null go where the node says, and so do categories that it
does not know.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

LEAF = -1


class Node(NamedTuple):
    """A question, or where `trait` is `LEAF` a class."""

    trait: int
    threshold: float = 0.0
    """Numbers up to it go left; NaN where the trait is a category."""
    known: tuple[float, ...] = ()
    """Categories that go left, ascending."""
    others_left: bool = False
    """Where other categories go, or numbers that are null."""
    excepted: tuple[float, ...] = ()
    """Categories that go right where others go left, ascending."""
    left: int = 0
    right: int = 0
    leaf: int = 0
    """The class."""


@dataclass(frozen=True)
class ColumnTree:
    """A tree; the first node is asked first.

    Examples
    --------
    >>> big = ColumnTree((Node(0, threshold=9.5, left=1, right=2), Node(LEAF), Node(LEAF, leaf=1)))
    >>> big.classes(np.array([[3.0], [10.0], [np.nan]], np.float32)).tolist()
    [0, 1, 1]
    """

    nodes: tuple[Node, ...] = field(default=(Node(LEAF),))

    @property
    def leaves(self) -> int:
        """How many classes there are."""
        return sum(node.trait == LEAF for node in self.nodes)

    def classes(self, traits: np.ndarray) -> np.ndarray:
        """The class of each row from its traits, by row and trait."""
        found = np.zeros(len(traits), np.int32)
        if self.leaves == 1:
            return found
        waiting = [(0, np.arange(len(traits)))]
        while waiting:
            at, rows = waiting.pop()
            node = self.nodes[at]
            if node.trait == LEAF:
                found[rows] = node.leaf
            elif len(rows):
                left = goes_left(node, traits[rows, node.trait])
                waiting += [(node.left, rows[left]), (node.right, rows[~left])]
        return found

    def facts(self) -> list[list[Any]]:
        """As plain numbers."""
        return [
            [None if value != value else value for value in node]  # NaN is none of JSON's numbers
            for node in self.nodes
        ]

    @classmethod
    def of(cls, facts: list[list[Any]]) -> "ColumnTree":
        """From what `facts` gave."""
        nodes = []
        for trait, threshold, known, others, excepted, *rest in facts:
            threshold = np.nan if threshold is None else float(threshold)
            nodes.append(Node(trait, threshold, tuple(known), others, tuple(excepted), *rest))
        return cls(tuple(nodes))


def goes_left(node: Node, values: np.ndarray) -> np.ndarray:
    """Which of some values of a node's trait go left."""
    if node.threshold == node.threshold:
        left: np.ndarray = values <= node.threshold
        return left | np.isnan(values) if node.others_left else left
    listed = np.array(node.excepted if node.others_left else node.known, np.float32)
    if not len(listed):
        return np.full(len(values), node.others_left)
    place = np.minimum(np.searchsorted(listed, values), len(listed) - 1)
    found: np.ndarray = listed[place] == values
    return ~found if node.others_left else found
