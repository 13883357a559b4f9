"""The best plan where every match of every row has a benefit of its own.

Each row is a chain of its matches, which a slot follows for as long as the row is kept.
"""

from typing import NamedTuple

import numpy as np

from headgate.policies.offline.network import Network
from headgate.policies.offline.planned import NOT_KEPT


class ChainPlan(NamedTuple):
    """Until when to keep each row, and what that makes."""

    end: np.ndarray
    """`NOT_KEPT` for rows that are not stored."""
    gain: float
    arcs: int
    """Of the flow that was solved."""


def plan_chains(
    start: np.ndarray, row: np.ndarray, event: np.ndarray, benefit: np.ndarray, memory: int
) -> ChainPlan:
    """Choose until when to keep each row, so that all benefits together are greatest.

    Parameters
    ----------
    start
        For each row, the event at which it comes.
    row, event, benefit
        The matches by row, then event: whose, when, and what it is worth, not negative. A row
        kept from its start to an event has all matches up to and with that event; the memory it
        took is free for a row that starts then.
    memory
        How many rows fit.

    Returns
    -------
    ChainPlan
        Costs a flow with an arc or two a match.

    Examples
    --------
    Room for one row. The first is worth 2 until event 2, when the second comes:

    >>> matches = np.array([0, 0, 0, 1]), np.array([1, 2, 9, 3]), np.array([1.0, 1, 1, 5])
    >>> plan = plan_chains(np.array([0, 2]), *matches, memory=1)
    >>> plan.end.tolist(), plan.gain
    ([2, 3], 7.0)
    """
    end = np.full(len(start), NOT_KEPT, np.int64)
    worth = benefit > 0
    row, event, benefit = row[worth], event[worth], benefit[worth]
    if not row.size:
        return ChainPlan(end, 0.0, 0)
    starts = np.unique(start[row])
    # A slot given back has no use before the next start, so matches up to it are one link.
    back = np.searchsorted(starts, event)
    link = np.flatnonzero(_changes(row) | _changes(back))
    gain = np.add.reduceat(benefit, link)
    link_end = event[np.append(link[1:], len(row)) - 1]
    row, back = row[link], back[link]
    first = _changes(row)
    last = np.append(first[1:], True)
    # A slot that has followed a link is at its node; after the last it is on the timeline at once.
    node = np.where(last, back, len(starts) + np.cumsum(~last))
    before = np.where(first, np.searchsorted(starts, start[row]), np.roll(node, 1))
    network = Network(
        places=len(starts),
        nodes=len(starts) + 1 + int((~last).sum()),
        tail=np.concatenate([before, node[~last]]),
        head=np.concatenate([node, back[~last]]),
        capacity=np.ones(len(link) + int((~last).sum()), np.int64),
        gain=np.concatenate([gain, np.zeros(int((~last).sum()))]),
    )
    taken = network.best_flow(memory)[: len(link)] > 0
    np.maximum.at(end, row[taken], link_end[taken])
    return ChainPlan(end, float(gain[taken].sum()), network.arcs)


def _changes(values: np.ndarray) -> np.ndarray:
    """Whether each entry differs from the one before."""
    return np.append(True, values[1:] != values[:-1])
