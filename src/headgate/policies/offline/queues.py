"""The best plan where all matches count alike, in a flow as small as the input.

Then the newer of two rows of a side and key is as good as the older and lasts longer, so a plan
need only say *how many* rows of each key to hold: always the newest, each newcomer in the place of
the eldest. The rows of a key share one chain, and the flow has a few arcs a row, however many
matches there are.
"""

from typing import NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.policies.offline.course import Course
from headgate.policies.offline.network import Network
from headgate.policies.offline.planned import NOT_KEPT
from headgate.policies.offline.row_chains import ChainPlan


class Chain(NamedTuple):
    """The rows of a side and the arrivals that may meet them, both by key, then event."""

    rows: np.ndarray
    """``key * events + event``, as `Course.by_key` has it; so is the next."""
    probes: np.ndarray
    next_probe: np.ndarray
    """Of each row."""
    useful: np.ndarray
    """Whether the row is there to meet it."""
    carried: np.ndarray
    """For each probe, how many rows can meet it and the key's probe before."""

    @classmethod
    def of(cls, course: Course, side: int) -> "Chain":
        rows, probes = course.by_key(side), course.by_key(1 - side)
        events = max(course.events, 1)
        key, event = rows // events, rows % events
        passed = key * events + course.last[event]
        next_probe = np.searchsorted(probes, rows)
        useful = next_probe < len(probes)
        useful[useful] = probes[next_probe[useful]] <= passed[useful]
        came = np.searchsorted(rows, probes)
        carried = np.zeros(len(probes), np.int64)
        again = np.flatnonzero(probes[1:] // events == probes[:-1] // events) + 1
        # Older rows pass first, so those that came but have not passed are a count alone.
        carried[again] = came[again - 1] - np.searchsorted(passed, probes[again])
        return cls(rows, probes, next_probe, useful, np.maximum(carried, 0))


def plan_queues(course: Course, sides: tuple[int, ...], memory: int) -> ChainPlan:
    """Choose until when to keep the rows of ``sides``, so that they make the most pairs.

    The plan has an end for every event, `NOT_KEPT` for rows of other sides.

    Examples
    --------
    >>> from headgate.policies.offline.course import Events
    >>> from headgate.spec import TimeWindow
    >>> left, right = Events([1, 2], [7, 8]), Events([3, 4, 5], [7, 8, 8])
    >>> course = Course.of(left, right, (TimeWindow(9), TimeWindow(0)))
    >>> plan = plan_queues(course, sides=(0,), memory=1)
    >>> plan.end.tolist(), plan.gain
    ([-1, 4, -1, -1, -1], 2.0)
    """
    events = max(course.events, 1)
    chains = [Chain.of(course, side) for side in sides]
    starts = np.unique(np.concatenate([chain.rows[chain.useful] % events for chain in chains]))
    end = np.full(course.events, NOT_KEPT, np.int64)
    if not starts.size:
        return ChainPlan(end, 0.0, 0)
    nodes = len(starts) + 1
    tails, heads, capacities, gains = [], [], [], []
    for chain in chains:
        back = np.searchsorted(starts, chain.probes % events)
        # Where no row can be carried on, slots are back on the timeline at once.
        goes_on = np.append(chain.carried[1:] > 0, False)
        node = np.where(goes_on, nodes - 1 + np.cumsum(goes_on), back)
        nodes += int(goes_on.sum())
        carrying = np.flatnonzero(chain.carried)
        entering = np.searchsorted(starts, chain.rows[chain.useful] % events)
        tails += [entering, node[carrying - 1], node[goes_on]]
        heads += [node[chain.next_probe[chain.useful]], node[carrying], back[goes_on]]
        capacities += [np.ones_like(entering), chain.carried[carrying]]
        capacities += [np.full(int(goes_on.sum()), memory)]
        gains += [np.ones(len(entering)), np.ones(len(carrying)), np.zeros(int(goes_on.sum()))]
    network = Network(len(starts), nodes, *map(np.concatenate, (tails, heads, capacities, gains)))
    flow = network.best_flow(memory)
    flows = iter(np.split(flow, np.cumsum([len(tail) for tail in tails])[:-1]))
    for chain in chains:
        entered = np.zeros(len(chain.rows), np.int64)
        entered[chain.useful] = next(flows)
        held = np.zeros(len(chain.probes), np.int64)
        held[np.flatnonzero(chain.carried) - 1] = next(flows)
        next(flows)
        queue = np.empty(len(chain.rows), np.int64)
        _name_rows(
            chain.rows,
            chain.probes,
            entered=entered,
            held=held,
            queue=queue,
            end=end,
            events=events,
        )
    return ChainPlan(end, float((flow * network.gain).sum()), network.arcs)


@compiled
def _name_rows(
    rows: np.ndarray,
    probes: np.ndarray,
    entered: np.ndarray,
    held: np.ndarray,
    queue: np.ndarray,
    end: np.ndarray,
    events: int,
) -> None:
    """From how many rows of a key are held to which, and so to their ends.

    ``entered`` says whether a row adds to their number, ``held`` how many stay after a probe; none
    after a key's last, so that one queue serves all keys.
    """
    at, first, last = 0, 0, 0
    for probe in range(probes.size):
        while at < rows.size and rows[at] < probes[probe]:
            event = rows[at] % events
            if not entered[at] and last > first:
                end[queue[first]] = event
                first += 1
                queue[last] = event
                last += 1
            elif entered[at]:
                queue[last] = event
                last += 1
            at += 1
        while last - first > held[probe]:
            end[queue[first]] = probes[probe] % events
            first += 1
