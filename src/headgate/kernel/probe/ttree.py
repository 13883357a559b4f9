"""T-tree index in flat arrays, one per side: a balanced binary tree of nodes with many entries.

An entry belongs to the node whose least and greatest entries enclose it. If that node is full, its
least entry moves to the preceding node; an inner node that falls below half takes entries from
there. Heights of sibling subtrees differ by at most one, as in an AVL tree.

References
----------
Lehman, Carey: A Study of Index Structures for Main Memory Database Management Systems, VLDB 1986.
"""

from typing import Any, NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.kernel.probe.entries import count_below, entry_of, row_of
from headgate.kernel.probe.index import Index, IndexEntry, IndexRoom, Look

NONE = np.int64(-1)
ZERO, ONE, TWO = np.int64(0), np.int64(1), np.int64(2)
ROOT, USED, FREE = np.int64(0), np.int64(1), np.int64(2)
LEFT, RIGHT = np.int64(0), np.int64(1)
"""Where a node has its children; ``side`` is a side of the join."""

NODE = np.dtype(
    [
        ("left", "i4"),
        ("right", "i4"),
        ("parent", "i4"),
        ("height", "i4"),  # 1 for a leaf
        ("count", "i4"),  # entries in use
    ],
    align=True,
)


class TTree(NamedTuple):
    """The trees of both sides."""

    keys: np.ndarray  # int64 (side, node, place): entries
    nodes: np.ndarray  # NODE (side, node)
    state: np.ndarray  # int64 (side, 3): root, nodes ever used, those of them that are free


def empty_ttree(most: int, node: int) -> TTree:
    """Allocate trees for ``most`` rows per side in nodes of ``node`` entries.

    Examples
    --------
    >>> tree, found = empty_ttree(10, 4), np.zeros(10, np.int64)
    >>> for row, group in enumerate((5, 3, 9, 3, 7, 1)):
    ...     enter(tree, ZERO, group, row)
    >>> leave(tree, ZERO, 3, 1)
    >>> found[: find(tree, ZERO, 3, 8, found, ZERO)].tolist()
    [3, 0, 4]
    """
    # Of L leaves, L - 1 nodes have two children and are half full; at most L have one child.
    nodes = 3 * (most // (node // 2 + 1) + 2)
    return TTree(
        np.empty((2, nodes, node), np.int64),
        np.empty((2, nodes), NODE),
        np.array([[-1, 0, -1]] * 2, np.int64),
    )


@compiled
def _new_leaf(tree: TTree, side: int, parent: int, entry: int) -> Any:
    own = tree.state[side]
    node = own[FREE]
    if node != NONE:
        own[FREE] = tree.nodes[side, node].parent
    else:
        node = own[USED]
        own[USED] = node + ONE
    fresh = tree.nodes[side, node]
    fresh.left = fresh.right = NONE
    fresh.parent = parent
    fresh.height = ONE
    fresh.count = ONE
    tree.keys[side, node, 0] = entry
    return node


@compiled
def _replace(tree: TTree, side: int, node: int, other: int) -> None:
    """Put ``other``, which may be none, in the place of ``node`` under its parent."""
    nodes = tree.nodes[side]
    parent = np.int64(nodes[node].parent)
    if parent == NONE:
        tree.state[side, ROOT] = other
    elif nodes[parent].left == node:
        nodes[parent].left = other
    else:
        nodes[parent].right = other
    if other != NONE:
        nodes[other].parent = parent


@compiled
def _drop(tree: TTree, side: int, node: int) -> None:
    """Remove a node that has at most one child, and whose entries are kept elsewhere."""
    own = tree.nodes[side, node]
    _replace(tree, side, node, np.int64(max(own.left, own.right)))
    own.parent = tree.state[side, FREE]
    tree.state[side, FREE] = node


@compiled
def _node_before(nodes: np.ndarray, node: int) -> Any:
    """The node with the entries just below those of a node that has a left subtree."""
    before = np.int64(nodes[node].left)
    while nodes[before].right != NONE:
        before = np.int64(nodes[before].right)
    return before


@compiled
def _node_after(nodes: np.ndarray, node: Any) -> Any:
    """The node with the entries just above; none at the end."""
    after = np.int64(nodes[node].right)
    if after != NONE:
        while nodes[after].left != NONE:
            after = np.int64(nodes[after].left)
        return after
    after = np.int64(nodes[node].parent)
    while after != NONE and nodes[after].right == node:
        node, after = after, np.int64(nodes[after].parent)
    return after


@compiled
def find(tree: TTree, side: int, first: int, end: int, found: np.ndarray, count: Any) -> Any:
    """Write the rows of groups ``first`` to before ``end`` from index ``count`` on; the new count.

    O(log window + rows found).
    """
    least, stop = entry_of(first, ZERO), entry_of(end, ZERO)
    nodes, node, begin = tree.nodes[side], tree.state[side, ROOT], NONE
    while node != NONE:
        own = nodes[node]
        if tree.keys[side, node, own.count - ONE] < least:
            node = np.int64(own.right)
        else:
            begin = node
            node = NONE if tree.keys[side, node, 0] < least else np.int64(own.left)
    if begin == NONE:
        return count
    at = count_below(tree.keys[side, begin], nodes[begin].count, least)
    while begin != NONE:
        keys = tree.keys[side, begin]
        for place in range(at, nodes[begin].count):
            if keys[place] >= stop:
                return count
            found[count] = row_of(keys[place])
            count += ONE
        begin = _node_after(nodes, begin)
        at = ZERO
    return count


@compiled
def _descend(tree: TTree, side: int, entry: int) -> tuple[Any, Any]:
    """The node that encloses an entry, or none; and the last node on the way there."""
    nodes = tree.nodes[side]
    node, last = tree.state[side, ROOT], NONE
    while node != NONE:
        last = node
        if entry < tree.keys[side, node, 0]:
            node = np.int64(nodes[node].left)
        elif entry > tree.keys[side, node, nodes[node].count - ONE]:
            node = np.int64(nodes[node].right)
        else:
            break
    return node, last


@compiled
def _put(tree: TTree, side: int, node: int, place: int, entry: int) -> None:
    """Insert an entry into a node that has room."""
    keys, own = tree.keys[side, node], tree.nodes[side, node]
    for at in range(np.int64(own.count), place, -1):
        keys[at] = keys[at - ONE]
    keys[place] = entry
    own.count += ONE


@compiled
def enter(tree: TTree, side: int, group: int, row: int) -> None:
    """Insert a row. O(log window)."""
    most, nodes = np.int64(tree.keys.shape[2]), tree.nodes[side]
    entry = entry_of(group, row)
    node, last = _descend(tree, side, entry)
    if last == NONE:
        tree.state[side, ROOT] = _new_leaf(tree, side, NONE, entry)
        return
    own, keys = nodes[last], tree.keys[side, last]
    if own.count < most:
        _put(tree, side, last, count_below(keys, own.count, entry), entry)
        return
    if node != NONE:
        # The node is full and the entry belongs in it: move its least entry out.
        least = keys[0]
        place = count_below(keys, own.count, entry) - ONE
        for at in range(place):
            keys[at] = keys[at + ONE]
        keys[place] = entry
        entry = least
        if own.left != NONE:
            last = _node_before(nodes, last)
            if nodes[last].count < most:
                _put(tree, side, last, np.int64(nodes[last].count), entry)
                return
            nodes[last].right = _new_leaf(tree, side, last, entry)
        else:
            own.left = _new_leaf(tree, side, last, entry)
    elif entry < keys[0]:
        own.left = _new_leaf(tree, side, last, entry)
    else:
        own.right = _new_leaf(tree, side, last, entry)
    _mend(tree, side, last, NONE)


@compiled
def leave(tree: TTree, side: int, group: int, row: int) -> None:
    """Delete a row. O(log window)."""
    most, nodes = np.int64(tree.keys.shape[2]), tree.nodes[side]
    entry = entry_of(group, row)
    node, _ = _descend(tree, side, entry)
    own, keys = nodes[node], tree.keys[side, node]
    count = np.int64(own.count) - ONE
    for at in range(count_below(keys, count + ONE, entry), count):
        keys[at] = keys[at + ONE]
    own.count = count
    left, right = np.int64(own.left), np.int64(own.right)
    if left != NONE and right != NONE:
        if count < most >> ONE:
            _mend(tree, side, NONE, node)
    elif left != NONE or right != NONE:
        child = max(left, right)
        more = np.int64(nodes[child].count)
        if count + more <= most:
            # An only child is a leaf: merge the two.
            if left != NONE:
                for at in range(count - ONE, NONE, -1):
                    keys[at + more] = keys[at]
                count = ZERO
            for at in range(more):
                keys[count + at] = tree.keys[side, child, at]
            own.count += more
            _drop(tree, side, child)
            _mend(tree, side, node, NONE)
    elif count == ZERO:
        parent = np.int64(own.parent)
        _drop(tree, side, node)
        _mend(tree, side, parent, NONE)


@compiled
def _mend(tree: TTree, side: int, node: Any, short: Any) -> None:
    """Rebalance from ``node`` upwards, and refill ``short``; either may be none.

    A rotation may leave an inner node less than half full; refilling it may empty another node,
    whose removal may need a rotation. Each round moves at least one entry up, or ends.
    """
    half = np.int64(tree.keys.shape[2]) >> ONE
    nodes = tree.nodes[side]
    while True:
        raised = _balance(tree, side, node)
        if raised != NONE:
            short = raised
        if short == NONE:
            return
        own = nodes[short]
        if own.left == NONE or own.right == NONE or own.count >= half:
            return
        before = _node_before(nodes, short)
        moved = min(half - own.count, np.int64(nodes[before].count))
        keys, start = tree.keys[side, short], np.int64(nodes[before].count) - moved
        for at in range(np.int64(own.count) - ONE, NONE, -1):
            keys[at + moved] = keys[at]
        for at in range(moved):
            keys[at] = tree.keys[side, before, start + at]
        own.count += moved
        nodes[before].count = start
        if start > ZERO:
            return
        node = np.int64(nodes[before].parent)
        _drop(tree, side, before)


@compiled
def _height(nodes: np.ndarray, node: int) -> Any:
    return ZERO if node == NONE else np.int64(nodes[node].height)


@compiled
def _set_height(nodes: np.ndarray, node: int) -> None:
    own = nodes[node]
    own.height = ONE + max(_height(nodes, np.int64(own.left)), _height(nodes, np.int64(own.right)))


@compiled
def _child(nodes: np.ndarray, node: int, hand: int) -> Any:
    """The child to the left or right of a node; may be none."""
    return np.int64(nodes[node].right) if hand == RIGHT else np.int64(nodes[node].left)


@compiled
def _hang(nodes: np.ndarray, node: int, hand: int, child: int) -> None:
    """Put a child, which may be none, to the left or right of a node."""
    if hand == RIGHT:
        nodes[node].right = child
    else:
        nodes[node].left = child
    if child != NONE:
        nodes[child].parent = node


@compiled
def _balance(tree: TTree, side: int, node: Any) -> Any:
    """Restore heights from a node upwards; returns a node that became an inner node while less
    than half full, or none. Only the lowest rotation can cause that."""
    half = np.int64(tree.keys.shape[2]) >> ONE
    nodes, raised = tree.nodes[side], NONE
    while node != NONE:
        before = np.int64(nodes[node].height)
        tilt = _height(nodes, _child(nodes, node, LEFT)) - _height(
            nodes, _child(nodes, node, RIGHT)
        )
        is_rotated = tilt > ONE or tilt < -ONE
        if is_rotated:
            heavy = LEFT if tilt > ONE else RIGHT
            child = _child(nodes, node, heavy)
            outer, inner = _child(nodes, child, heavy), _child(nodes, child, ONE - heavy)
            if _height(nodes, outer) < _height(nodes, inner):
                _rotate(tree, side, child, ONE - heavy)
            node = _rotate(tree, side, node, heavy)
        else:
            _set_height(nodes, node)
        top = nodes[node]
        if is_rotated and top.left != NONE and top.right != NONE and top.count < half:
            raised = node
        if np.int64(top.height) == before:
            break
        node = np.int64(top.parent)
    return raised


@compiled
def _rotate(tree: TTree, side: int, node: int, heavy: int) -> Any:
    """The child on the heavy hand takes the node's place; it is returned."""
    nodes = tree.nodes[side]
    top = _child(nodes, node, heavy)
    middle = _child(nodes, top, ONE - heavy)
    _replace(tree, side, node, top)
    _hang(nodes, node, heavy, middle)
    _hang(nodes, top, ONE - heavy, node)
    _set_height(nodes, node)
    _set_height(nodes, top)
    return top


@compiled
def insert_entry(tree: TTree, entry: IndexEntry) -> None:
    """Insert a row."""
    enter(tree, entry.side, entry.group, entry.row)


@compiled
def delete_entry(tree: TTree, entry: IndexEntry) -> None:
    """Delete a row."""
    leave(tree, entry.side, entry.group, entry.row)


@compiled
def find_rows(tree: TTree, look: Look, found: np.ndarray, count: Any) -> Any:
    """Write the rows of the groups probed for."""
    return find(tree, look.side, look.first, look.end, found, count)


class TTreeIndex(Index):
    """A T-tree by key, or by key and value."""

    name = "ttree"
    insert, delete, find = insert_entry, delete_entry, find_rows

    @staticmethod
    def empty(room: IndexRoom) -> TTree:
        """Allocate for the larger side."""
        return empty_ttree(max(room.rows), room.node_rows)
