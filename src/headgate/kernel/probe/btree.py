"""B+tree index in flat arrays, one tree per side: entries in linked leaves, separators above.

All nodes but the root are at least half full. A node has room for one entry more than it may hold,
so that an insert comes first and the split after it; a node that falls below half borrows from a
neighbour, or is merged with one.
"""

from typing import Any, NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.kernel.probe.entries import count_below, entry_of, row_of
from headgate.kernel.probe.index import Index, IndexEntry, IndexRoom, Look

NONE = np.int64(-1)
ZERO, ONE = np.int64(0), np.int64(1)
ROOT, HEIGHT, USED, FREE = np.int64(0), np.int64(1), np.int64(2), np.int64(3)
MOST_LEVELS = 64


class BTree(NamedTuple):
    """The trees of both sides."""

    keys: np.ndarray  # int64 (side, node, place): a leaf's entries, or separators of children
    links: np.ndarray  # int32 (side, node, place): children; of a leaf the first is the next leaf
    counts: np.ndarray  # int32 (side, node): keys in use
    state: np.ndarray  # int64 (side, 4): root, levels above the leaves, nodes ever used, free ones
    path: np.ndarray  # int64 (level, 2): nodes on the way down, and the child taken in each


def empty_btree(most: int, node: int) -> BTree:
    """Allocate trees for ``most`` rows per side in nodes of ``node`` entries.

    Examples
    --------
    >>> tree, found = empty_btree(10, 4), np.zeros(10, np.int64)
    >>> for row, group in enumerate((5, 3, 9, 3, 7, 1)):
    ...     enter(tree, ZERO, group, row)
    >>> leave(tree, ZERO, 3, 1)
    >>> found[: find(tree, ZERO, 3, 8, found, ZERO)].tolist()
    [3, 0, 4]
    """
    nodes = 2 * (most // (node // 2) + 2)
    tree = BTree(
        np.empty((2, nodes, node + 1), np.int64),
        np.empty((2, nodes, node + 2), np.int32),
        np.empty((2, nodes), np.int32),
        np.array([[0, 0, 1, -1]] * 2, np.int64),
        np.empty((MOST_LEVELS, 2), np.int64),
    )
    tree.counts[:, 0] = 0
    tree.links[:, 0, 0] = NONE
    return tree


@compiled
def _new_node(tree: BTree, side: int) -> Any:
    own = tree.state[side]
    node = own[FREE]
    if node != NONE:
        own[FREE] = tree.links[side, node, 0]
        return node
    node = own[USED]
    own[USED] = node + ONE
    return node


@compiled
def _free_node(tree: BTree, side: int, node: int) -> None:
    tree.links[side, node, 0] = tree.state[side, FREE]
    tree.state[side, FREE] = node


@compiled
def _child_for(keys: np.ndarray, count: int, entry: int) -> Any:
    """Which child an entry belongs to: separators are the least entry to their right."""
    return count_below(keys, count, entry + ONE)


@compiled
def _descend(tree: BTree, side: int, entry: int) -> Any:
    """The leaf an entry belongs to; records the path to it in ``path``."""
    node = tree.state[side, ROOT]
    for level in range(tree.state[side, HEIGHT]):
        child = _child_for(tree.keys[side, node], tree.counts[side, node], entry)
        tree.path[level, 0] = node
        tree.path[level, 1] = child
        node = np.int64(tree.links[side, node, child])
    return node


@compiled
def find(tree: BTree, side: int, first: int, end: int, found: np.ndarray, count: Any) -> Any:
    """Write the rows of groups ``first`` to before ``end`` from index ``count`` on; the new count.

    O(log window + rows found).
    """
    least, stop = entry_of(first, ZERO), entry_of(end, ZERO)
    node = tree.state[side, ROOT]
    for _ in range(tree.state[side, HEIGHT]):
        child = _child_for(tree.keys[side, node], tree.counts[side, node], least)
        node = np.int64(tree.links[side, node, child])
    at = count_below(tree.keys[side, node], tree.counts[side, node], least)
    while node != NONE:
        keys = tree.keys[side, node]
        for place in range(at, tree.counts[side, node]):
            if keys[place] >= stop:
                return count
            found[count] = row_of(keys[place])
            count += ONE
        node = np.int64(tree.links[side, node, 0])
        at = ZERO
    return count


@compiled
def enter(tree: BTree, side: int, group: int, row: int) -> None:
    """Insert a row. O(log window)."""
    most = tree.keys.shape[2] - ONE
    entry = entry_of(group, row)
    leaf = _descend(tree, side, entry)
    keys, count = tree.keys[side, leaf], np.int64(tree.counts[side, leaf])
    place = count_below(keys, count, entry)
    for at in range(count, place, -1):
        keys[at] = keys[at - ONE]
    keys[place] = entry
    tree.counts[side, leaf] = count + ONE
    if count < most:
        return
    right = _new_node(tree, side)
    kept = (most + ONE) >> ONE
    _move_keys(tree, side, leaf, kept, target=right, place=ZERO, count=most + ONE - kept)
    tree.counts[side, leaf] = kept
    tree.counts[side, right] = most + ONE - kept
    tree.links[side, right, 0] = tree.links[side, leaf, 0]
    tree.links[side, leaf, 0] = right
    _add_child(tree, side, tree.keys[side, right, 0], right)


@compiled
def _move_keys(
    tree: BTree, side: int, source: int, start: int, target: int, place: int, count: int
) -> None:
    for at in range(count):
        tree.keys[side, target, place + at] = tree.keys[side, source, start + at]


@compiled
def _move_children(
    tree: BTree, side: int, source: int, start: int, target: int, place: int, count: int
) -> None:
    for at in range(count):
        tree.links[side, target, place + at] = tree.links[side, source, start + at]


@compiled
def _add_child(tree: BTree, side: int, separator: int, child: int) -> None:
    """Enter a node split off to the right of the path's end, level by level as nodes overflow."""
    most = tree.keys.shape[2] - ONE
    own = tree.state[side]
    level = own[HEIGHT] - ONE
    while level >= ZERO:
        node, place = tree.path[level, 0], tree.path[level, 1]
        keys, links = tree.keys[side, node], tree.links[side, node]
        count = np.int64(tree.counts[side, node])
        for at in range(count, place, -1):
            keys[at] = keys[at - ONE]
            links[at + ONE] = links[at]
        keys[place] = separator
        links[place + ONE] = child
        tree.counts[side, node] = count + ONE
        if count < most:
            return
        # Most + 1 separators: the middle one goes up.
        right = _new_node(tree, side)
        kept = most >> ONE
        moved = most - kept
        separator = keys[kept]
        _move_keys(tree, side, node, kept + ONE, target=right, place=ZERO, count=moved)
        _move_children(tree, side, node, kept + ONE, target=right, place=ZERO, count=moved + ONE)
        tree.counts[side, node] = kept
        tree.counts[side, right] = moved
        child = right
        level -= ONE
    root = _new_node(tree, side)
    tree.keys[side, root, 0] = separator
    tree.links[side, root, 0] = own[ROOT]
    tree.links[side, root, 1] = child
    tree.counts[side, root] = ONE
    own[ROOT] = root
    own[HEIGHT] += ONE


@compiled
def leave(tree: BTree, side: int, group: int, row: int) -> None:
    """Delete a row. O(log window)."""
    fewest = (tree.keys.shape[2] - ONE) >> ONE
    entry = entry_of(group, row)
    leaf = _descend(tree, side, entry)
    keys, count = tree.keys[side, leaf], np.int64(tree.counts[side, leaf]) - ONE
    for at in range(count_below(keys, count + ONE, entry), count):
        keys[at] = keys[at + ONE]
    tree.counts[side, leaf] = count
    if count < fewest:
        _fill_up(tree, side, leaf)


@compiled
def _fill_up(tree: BTree, side: int, node: int) -> None:
    """Refill a node at the path's end that is less than half full, and rebalance above it."""
    fewest = (tree.keys.shape[2] - ONE) >> ONE
    own = tree.state[side]
    level = own[HEIGHT] - ONE
    is_leaf = True
    while level >= ZERO and np.int64(tree.counts[side, node]) < fewest:
        parent, place = tree.path[level, 0], tree.path[level, 1]
        last = np.int64(tree.counts[side, parent])
        if place > ZERO:
            left = np.int64(tree.links[side, parent, place - ONE])
            if tree.counts[side, left] > fewest:
                _take_last(tree, side, parent, place - ONE, left=left, node=node, is_leaf=is_leaf)
                return
        if place < last:
            right = np.int64(tree.links[side, parent, place + ONE])
            if tree.counts[side, right] > fewest:
                _take_first(tree, side, parent, place, node=node, right=right, is_leaf=is_leaf)
                return
        if place > ZERO:
            _merge(tree, side, parent, place - ONE, is_leaf)
        else:
            _merge(tree, side, parent, place, is_leaf)
        node = parent
        is_leaf = False
        level -= ONE
    root = own[ROOT]
    if own[HEIGHT] > ZERO and tree.counts[side, root] == ZERO:
        own[ROOT] = tree.links[side, root, 0]
        own[HEIGHT] -= ONE
        _free_node(tree, side, root)


@compiled
def _take_last(
    tree: BTree, side: int, parent: int, place: int, left: int, node: int, is_leaf: bool
) -> None:
    """Move the last key of the left neighbour; the separator between them is at ``place``."""
    spare, count = np.int64(tree.counts[side, left]) - ONE, np.int64(tree.counts[side, node])
    keys = tree.keys[side, node]
    for at in range(count, ZERO, -1):
        keys[at] = keys[at - ONE]
    if is_leaf:
        keys[0] = tree.keys[side, left, spare]
        tree.keys[side, parent, place] = keys[0]
    else:
        links = tree.links[side, node]
        for at in range(count + ONE, ZERO, -1):
            links[at] = links[at - ONE]
        keys[0] = tree.keys[side, parent, place]
        links[0] = tree.links[side, left, spare + ONE]
        tree.keys[side, parent, place] = tree.keys[side, left, spare]
    tree.counts[side, left] = spare
    tree.counts[side, node] = count + ONE


@compiled
def _take_first(
    tree: BTree, side: int, parent: int, place: int, node: int, right: int, is_leaf: bool
) -> None:
    """Move the first key of the right neighbour; the separator between them is at ``place``."""
    left, count = np.int64(tree.counts[side, right]) - ONE, np.int64(tree.counts[side, node])
    keys = tree.keys[side, right]
    if is_leaf:
        tree.keys[side, node, count] = keys[0]
        tree.keys[side, parent, place] = keys[1]
    else:
        tree.keys[side, node, count] = tree.keys[side, parent, place]
        tree.links[side, node, count + ONE] = tree.links[side, right, 0]
        tree.keys[side, parent, place] = keys[0]
        for at in range(left + ONE):
            tree.links[side, right, at] = tree.links[side, right, at + ONE]
    for at in range(left):
        keys[at] = keys[at + ONE]
    tree.counts[side, right] = left
    tree.counts[side, node] = count + ONE


@compiled
def _merge(tree: BTree, side: int, parent: int, place: int, is_leaf: bool) -> None:
    """Merge the two children on either side of a separator into the left one."""
    links = tree.links[side, parent]
    left, right = np.int64(links[place]), np.int64(links[place + ONE])
    count, more = np.int64(tree.counts[side, left]), np.int64(tree.counts[side, right])
    if is_leaf:
        _move_keys(tree, side, right, ZERO, target=left, place=count, count=more)
        tree.links[side, left, 0] = tree.links[side, right, 0]
        tree.counts[side, left] = count + more
    else:
        tree.keys[side, left, count] = tree.keys[side, parent, place]
        _move_keys(tree, side, right, ZERO, target=left, place=count + ONE, count=more)
        _move_children(tree, side, right, ZERO, target=left, place=count + ONE, count=more + ONE)
        tree.counts[side, left] = count + more + ONE
    last = np.int64(tree.counts[side, parent]) - ONE
    for at in range(place, last):
        tree.keys[side, parent, at] = tree.keys[side, parent, at + ONE]
        links[at + ONE] = links[at + ONE + ONE]
    tree.counts[side, parent] = last
    _free_node(tree, side, right)


@compiled
def insert_entry(tree: BTree, entry: IndexEntry) -> None:
    """Insert a row."""
    enter(tree, entry.side, entry.group, entry.row)


@compiled
def delete_entry(tree: BTree, entry: IndexEntry) -> None:
    """Delete a row."""
    leave(tree, entry.side, entry.group, entry.row)


@compiled
def find_rows(tree: BTree, look: Look, found: np.ndarray, count: Any) -> Any:
    """Write the rows of the groups probed for."""
    return find(tree, look.side, look.first, look.end, found, count)


class BTreeIndex(Index):
    """A B+tree by key, or by key and value."""

    name = "btree"
    insert, delete, find = insert_entry, delete_entry, find_rows

    @staticmethod
    def empty(room: IndexRoom) -> BTree:
        """Allocate for the larger side."""
        return empty_btree(max(room.rows), room.node_rows)
