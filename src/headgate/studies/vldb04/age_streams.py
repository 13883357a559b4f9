"""Streams that follow the age model, generated as in the paper (section 6.2.1).

The paper's time unit is a second here. Inter-arrival times are uniform in [1/2r, 2/r], as printed:
their mean is 1.25/r, so streams really run at 0.8 r, and a full window really holds 400 rows.
"""

import numpy as np

from headgate.studies.trial import ProbeTrial, stream

R1, R2 = 1.0, 5.0
W1_S = 500.0
BUCKETS = 20
N1 = 5.0
REAL_RATE = R1 / 1.25
"""Left rows a second."""
FULL_WINDOW_ROWS = REAL_RATE * W1_S


def matches_of(shape: np.ndarray) -> np.ndarray:
    """Matches a bucket, in proportion to a shape, n1 in all."""
    matches: np.ndarray = N1 * shape / shape.sum()
    return matches


def age_streams(matches: np.ndarray, duration_s: float, seed: int) -> ProbeTrial:
    """Left rows with unique keys; each right row names one of a bucket drawn from the age curve.

    Right rows begin when the left window is full. The first window after that is not counted,
    since memory was filled all at once and not yet in the order the strategy settles into.

    Examples
    --------
    >>> trial = age_streams(matches_of(np.array([0, 0, 1, 0])), 2000, seed=1)
    >>> trial.left.num_rows, trial.right.num_rows == trial.exact.num_rows
    (1594, True)
    """
    rng = np.random.default_rng(seed)
    left = arrivals(rng, R1, 0.0, duration_s)
    right = arrivals(rng, R2, W1_S, duration_s)
    bucket = rng.choice(len(matches), size=len(right), p=matches / matches.sum())
    width = W1_S / len(matches)
    # Rows of age in [bucket * width, (bucket + 1) * width).
    first = np.searchsorted(left, right - (bucket + 1) * width, side="right")
    beyond = np.searchsorted(left, right - bucket * width, side="right")
    keys = first + (rng.random(len(right)) * (beyond - first)).astype(np.int64)
    return ProbeTrial(
        stream(np.arange(len(left)), left, "stored_at"),
        stream(keys, right, "probed_at"),
        window_s=W1_S,
        counted_from_s=2 * W1_S,
    )


def arrivals(rng: np.random.Generator, rate: float, start: float, end: float) -> np.ndarray:
    """Times of arrival, gaps uniform in [1/2r, 2/r]."""
    most = int((end - start) * 2 * rate) + 1
    times = start + np.cumsum(rng.uniform(0.5 / rate, 2 / rate, most))
    result: np.ndarray = times[times < end]
    return result
