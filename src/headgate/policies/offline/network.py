"""Memory as a flow: each unit is a slot, going from row to row as time goes on.

A *timeline* has a node for every moment at which a row may be stored. A slot on the timeline is
free; it leaves the timeline with a row and comes back when the row is given up. What a row makes on
the way is the gain of the arcs it takes, so the flow of greatest gain is the best plan. The solver
is OR-Tools' (cost-scaling push-relabel).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from headgate.spec import SpecError

SHORTCUTS = (8, 64, 512)
MOST_BITS, ROOM_BITS = 30, 60


@dataclass(frozen=True, eq=False)
class Network:
    """Where slots may go, beside the timeline itself.

    Nodes ``0`` to ``places`` are the timeline, the last its end; others follow.

    Parameters
    ----------
    places
        Moments of the timeline, before its end.
    nodes
        All nodes.
    tail, head, capacity, gain
        An entry an arc. Gains are not negative.

    Examples
    --------
    Two rows want the one slot at once, and the second is worth more:

    >>> one = np.ones(2, np.int64)
    >>> Network(1, 2, 0 * one, one, one, np.array([1.0, 2.0])).best_flow(memory=1).tolist()
    [0, 1]
    """

    places: int
    nodes: int
    tail: np.ndarray
    head: np.ndarray
    capacity: np.ndarray
    gain: np.ndarray

    @property
    def arcs(self) -> int:
        """Arcs that the solver is given."""
        return len(self.tail) + len(self._timeline()[0])

    def best_flow(self, memory: int) -> np.ndarray:
        """How many slots take each arc, so that the gain of all is greatest.

        Whole gains are taken as they are; others, and those too great, in steps of the greatest
        gain over 2³⁰, or over 2²² in a network of a quarter of a million nodes: as fine as the
        solver can take without overflow.
        """
        flow = np.zeros(len(self.tail), np.int64)
        # More slots than rows could ever take would only make the solver work.
        slots = min(memory, int(self.capacity[self.tail <= self.places].sum()))
        if slots < 1:
            return flow
        free_tail, free_head = self._timeline()
        free = np.full(len(free_tail), slots, np.int64)
        solver = _solver()
        solver.add_arcs_with_capacity_and_unit_cost(
            np.concatenate([self.tail, free_tail]).astype(np.int32),
            np.concatenate([self.head, free_head]).astype(np.int32),
            np.concatenate([np.minimum(self.capacity, slots), free]),
            np.concatenate([-self._whole_gains(), 0 * free]),
        )
        solver.set_node_supply(0, slots)
        solver.set_node_supply(self.places, -slots)
        status = solver.solve()
        if status != solver.OPTIMAL:
            raise RuntimeError(f"the flow solver gave up: {status}")
        flow[:] = solver.flows(np.arange(len(flow), dtype=np.int32))
        return flow

    def _timeline(self) -> tuple[np.ndarray, np.ndarray]:
        """Arcs along which free slots wait; with shortcuts, which spare the solver small steps."""
        tails = [np.arange(self.places)]
        heads = [tails[0] + 1]
        for length in SHORTCUTS:
            tails.append(np.arange(0, self.places - length, length))
            heads.append(tails[-1] + length)
        return np.concatenate(tails), np.concatenate(heads)

    def _whole_gains(self) -> np.ndarray:
        # The solver multiplies costs by nodes, and adds them up along a path of as many.
        finest = 1 << max(1, min(MOST_BITS, ROOM_BITS - 2 * self.nodes.bit_length()))
        greatest = float(self.gain.max(initial=0.0))
        if greatest <= finest and np.array_equal(self.gain, np.rint(self.gain)):
            return self.gain.astype(np.int64)
        return np.rint(self.gain * (finest / greatest)).astype(np.int64)


def _solver() -> Any:
    try:
        from ortools.graph.python import min_cost_flow
    except ModuleNotFoundError as missing:
        raise SpecError(
            "planning a join needs OR-Tools, and it is not installed: "
            'pip install "headgate[offline]"'
        ) from missing
    return min_cost_flow.SimpleMinCostFlow()
