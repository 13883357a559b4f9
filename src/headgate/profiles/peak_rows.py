"""The peak number of rows that the exact join holds, from event times alone."""

import numpy as np

from headgate.profiles.facts import Both


def peak_rows(times: Both[np.ndarray], windows: Both[int]) -> Both[int]:
    """Rows of each side held at the moment when most are held together.

    Parameters
    ----------
    times
        Times of each side's rows, in any order.
    windows
        The sides' windows, in microseconds. A right row with a zero window is never stored.

    Examples
    --------
    >>> peak_rows(Both(np.array([0, 5, 9, 30]), np.array([8, 31])), Both(10, 0))
    Both(left=3, right=0)
    """
    left, right = np.sort(times.left), np.sort(times.right)
    at = np.concatenate([left, right])
    # On equal times the left row comes first, so it does not yet see right rows of that time.
    held_left = np.concatenate(
        [np.arange(1, len(left) + 1), np.searchsorted(left, right, "right")]
    ) - np.searchsorted(left, at - windows.left, "left")
    held_right = np.zeros(len(at), np.int64)
    if windows.right:
        held_right = np.concatenate(
            [np.searchsorted(right, left, "left"), np.arange(1, len(right) + 1)]
        ) - np.searchsorted(right, at - windows.right, "left")
    if not len(at):
        return Both(0, 0)
    most = int(np.argmax(held_left + held_right))
    return Both(int(held_left[most]), int(held_right[most]))
