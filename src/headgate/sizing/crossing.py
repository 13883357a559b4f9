"""Where a curve that was measured at a few points reaches a value between them."""

import numpy as np

HALVINGS = 60


def crossing(at: np.ndarray, value: np.ndarray, wanted: float) -> float | None:
    """Where a curve through these points first reaches a value; None where no point does.

    Between points it is a cubic that rises or falls as they do and overshoots none of them: recall
    bends as memory grows, and straight lines through few points would ask for too much.

    Parameters
    ----------
    at, value
        The points, in order.
    wanted
        The value.

    Examples
    --------
    >>> at = np.array([0.0, 1.0, 2.0, 4.0])
    >>> round(crossing(at, np.sqrt(at), 1.2), 2), round(1.2**2, 2)
    (1.41, 1.44)

    References
    ----------
    Fritsch and Butland, SIAM Journal on Scientific and Statistical Computing 5 (1984), as in
    Moler, Numerical Computing with MATLAB, section 3.4.
    """
    reached = np.flatnonzero(value >= wanted - 1e-12)
    if not len(reached):
        return None
    end = int(reached[0])
    if end == 0:
        return float(at[0])
    width, rise = at[end] - at[end - 1], value[end] - value[end - 1]
    slopes = _slopes(at, value)[end - 1 : end + 1] * width
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        part = (low + high) / 2
        bend = (slopes[0] * (1 - part) - slopes[1] * part + rise * (2 * part - 1)) * (1 - part)
        if value[end - 1] + part * (rise + bend) < wanted:
            low = part
        else:
            high = part
    return float(at[end - 1] + high * width)


def _slopes(at: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The slope of the curve in each point: none where it turns."""
    width, rise = np.diff(at), np.diff(value) / np.diff(at)
    slopes = np.concatenate([rise[:1], np.zeros(len(at) - 2), rise[-1:]])
    alike = np.flatnonzero(rise[:-1] * rise[1:] > 0)
    before, after = 2 * width[1:] + width[:-1], width[1:] + 2 * width[:-1]
    total = (before + after)[alike]
    slopes[alike + 1] = total / (before[alike] / rise[:-1][alike] + after[alike] / rise[1:][alike])
    return slopes
