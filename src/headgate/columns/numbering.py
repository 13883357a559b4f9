"""Numbers distinct 64-bit values in order of first appearance.

A hash table that compares by value. It grows with the number of different values, not of rows, so
that few keys stay in the processor's caches however many rows there are.
"""

import numpy as np

from headgate.compiling import compiled, prefetch

SLOT = np.dtype([("value", "i8"), ("code", "i8")], align=True)
EMPTY = 0
"""No code: those in the table are one higher, so that fresh memory is an empty table."""
SMALLEST = 1 << 13
AHEAD = 16
GROWTH = 8
"""Where most values so far were new; all may be, and moving them again costs more than room."""


def number(values: np.ndarray) -> tuple[np.ndarray, int]:
    """The number of each value (int32), and how many different ones there are.

    Examples
    --------
    >>> codes, count = number(np.array([7, -7, 7, 0]))
    >>> codes.tolist(), count
    ([0, 1, 0, 2], 3)
    """
    codes = np.empty(len(values), np.int32)
    slots = _slots(SMALLEST)
    at, count = _number(values, codes, slots, 0, 0)
    while at < len(values):
        wanted = min(len(values), GROWTH * count) if 2 * count > at else 2 * count
        larger = _slots(2 * wanted)
        _move(slots, larger)
        slots = larger
        at, count = _number(values, codes, slots, at, count)
    return codes, count


def _slots(least: int) -> np.ndarray:
    return np.zeros(1 << (least - 1).bit_length(), SLOT)


@compiled
def _home(value: int, mask: int) -> np.int64:
    """Where a value's search starts: every bit of it counts, so strides do not collide."""
    mixed = np.uint64(value)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    return np.int64(mixed & np.uint64(mask))


@compiled
def _find(slots: np.ndarray, value: int) -> np.int64:
    """The value's slot, or the empty one where it belongs."""
    mask = slots.size - 1
    at: np.int64 = _home(value, mask)
    while slots[at].code != EMPTY and slots[at].value != value:
        at = (at + 1) & mask
    return at


@compiled
def _number(
    values: np.ndarray, codes: np.ndarray, slots: np.ndarray, start: int, count: int
) -> tuple[int, int]:
    """Number values from ``start`` on, until done or the table is three quarters full."""
    mask = slots.size - 1
    for place in range(start, values.size):
        if 4 * count >= 3 * slots.size:
            return place, count
        if place + AHEAD < values.size:
            prefetch(slots, _home(values[place + AHEAD], mask))
        slot = slots[_find(slots, values[place])]
        if slot.code == EMPTY:
            slot.value = values[place]
            count += 1
            slot.code = count
        codes[place] = slot.code - 1
    return values.size, count


@compiled
def _move(slots: np.ndarray, larger: np.ndarray) -> None:
    mask = larger.size - 1
    for place in range(slots.size):
        if place + AHEAD < slots.size:
            prefetch(larger, _home(slots[place + AHEAD].value, mask))
        if slots[place].code != EMPTY:
            slot = larger[_find(larger, slots[place].value)]
            slot.value = slots[place].value
            slot.code = slots[place].code
