"""Laying rows out in event order, the way the kernel reads them."""

from typing import NamedTuple

import numpy as np

from headgate.engine.compiled import compiled


class Columns(NamedTuple):
    """What is known of the rows, as given: an entry a row in each array."""

    time: np.ndarray
    side: np.ndarray
    arriving: np.ndarray
    code: np.ndarray
    size: np.ndarray
    mark: np.ndarray
    score: np.ndarray
    group: np.ndarray
    matches: np.ndarray
    touched: np.ndarray


def event_order(time: np.ndarray, side: np.ndarray) -> np.ndarray:
    """Indices in order of (time, side); stable, so that of equals the earlier given comes first.

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
    side: np.ndarray,
    arriving: np.ndarray,
    sequence: np.ndarray,
    seen: np.ndarray,
) -> None:
    """Give arriving rows their sequence numbers, counting each side on from ``seen``."""
    for index in order:
        if arriving[index]:
            sequence[index] = seen[side[index]]
            seen[side[index]] += 1


@compiled
def fill(
    links: np.ndarray, rows: np.ndarray, order: np.ndarray, place: np.ndarray, columns: Columns
) -> None:
    """Write each row's records, in event order; ``place`` becomes the inverse of ``order``."""
    for position in range(order.size):
        index = order[position]
        place[index] = position
        link = links[position]
        link.mark = columns.mark[index]
        link.size = columns.size[index]
        link.side = columns.side[index]
        link.arriving = columns.arriving[index]
        link.alive = 0
        row = rows[position]
        row.time = columns.time[index]
        row.score = columns.score[index]
        row.touched = columns.touched[index]
        row.matches = columns.matches[index]
        row.code = columns.code[index]
        row.group = columns.group[index]


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
