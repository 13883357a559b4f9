"""Sorting the rows of a step into event order, as the kernel reads them."""

from typing import NamedTuple

import numpy as np

from headgate.compiling import compiled


class Group(NamedTuple):
    """Rows of one side, all stored or all arriving; each array has one entry per row."""

    side: int
    arriving: int
    first_number: int
    """Number of the first row of the group among the rows of its side."""
    place: np.ndarray
    """Position of each row in event order."""
    time: np.ndarray
    sequence: np.ndarray
    mark: np.ndarray
    code: np.ndarray
    size: np.ndarray
    matches: np.ndarray
    touched: np.ndarray
    recent: np.ndarray
    """Empty where the policy does not look at it."""
    state: np.ndarray
    """See `Watch`; empty where no row is watched."""
    met: np.ndarray
    """Empty, like `made`, where no row has found a partner yet."""
    made: np.ndarray
    score: np.ndarray
    """Empty where scores do not matter."""
    group: np.ndarray
    """Empty where rows are listed by side."""
    skip: np.ndarray
    """See `layout.Skip`; empty where no work is skipped."""
    fate: np.ndarray
    """See `layout.Fate`; empty for arrivals, and for inner joins."""


def event_order(time: np.ndarray, side: np.ndarray) -> np.ndarray:
    """Indices sorted by (time, side); stable, so equal rows keep the order in which they are given.

    Examples
    --------
    >>> event_order(np.array([5, 3, 5]), np.array([1, 0, 0], np.uint8)).tolist()
    [1, 2, 0]
    """
    event_key = 2 * time + side
    if np.all(event_key[1:] >= event_key[:-1]):
        return np.arange(len(event_key))
    order: np.ndarray = np.argsort(event_key, kind="stable")
    return order


@compiled
def number_arrivals(
    order: np.ndarray,
    place: np.ndarray,
    side: np.ndarray,
    arriving: tuple[int, int],
    sequence: np.ndarray,
    seen: np.ndarray,
) -> None:
    """Give arriving rows their sequence numbers, counting each side on from ``seen``.

    ``arriving`` says where they begin and end in the arrays. ``place`` becomes the inverse
    permutation of ``order``.
    """
    for position in range(order.size):
        index = order[position]
        place[index] = position
        if arriving[0] <= index < arriving[1]:
            sequence[index] = seen[side[index]]
            seen[side[index]] += 1


@compiled
def fill(links: np.ndarray, rows: np.ndarray, numbers: np.ndarray, own: Group) -> None:
    """Write the records of a group's rows at their positions in event order."""
    for index in range(own.place.size):
        position = own.place[index]
        numbers[position] = own.first_number + index
        link = links[position]
        link.mark = own.mark[index]
        link.size = own.size[index]
        link.side = own.side
        link.arriving = own.arriving
        link.alive = 0
        link.indexed = 0
        link.watch = own.state[index] if own.state.size else 0
        link.ripe = 0
        link.skip = own.skip[index] if own.skip.size else 0
        link.fate = own.fate[index] if own.fate.size else 0
        row = rows[position]
        row.time = own.time[index]
        row.touched = own.touched[index]
        row.matches = own.matches[index]
        row.sequence = own.sequence[index]
        row.code = own.code[index]
        row.recent = own.recent[index] if own.recent.size else 0.0
        row.met = own.met[index] if own.met.size else 0.0
        row.made = own.made[index] if own.made.size else 0.0
        row.score = own.score[index] if own.score.size else 0.0
        row.group = own.group[index] if own.group.size else own.side


@compiled
def read_histories(
    rows: np.ndarray,
    place: np.ndarray,
    matches: np.ndarray,
    touched: np.ndarray,
    recent: np.ndarray,
) -> None:
    """Read the histories of the rows at these positions."""
    for index in range(place.size):
        row = rows[place[index]]
        matches[index] = row.matches
        touched[index] = row.touched
        recent[index] = row.recent


@compiled
def queue_by_side(
    links: np.ndarray, rows: np.ndarray, side_rows: np.ndarray, first_right: int
) -> None:
    """List the positions of each side's rows in event order, left rows first."""
    next_left, next_right = 0, first_right
    for position in range(rows.size):
        if links[position].side == 0:
            side_rows[next_left] = position
            rows[position].side_index = next_left
            next_left += 1
        else:
            side_rows[next_right] = position
            rows[position].side_index = next_right
            next_right += 1
