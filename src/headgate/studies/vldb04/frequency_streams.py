"""Streams that follow the frequency model, generated as in the paper (section 6.2.3)."""

import numpy as np
import pyarrow as pa

from headgate.models import Frequencies, KeyFrequencies
from headgate.studies.trial import ProbeTrial, stream
from headgate.studies.vldb04.age_streams import R1, R2, W1_S, arrivals

DOMAIN = 50
DIRECT, INVERSE, NONE = "DC", "IC", "UC"
"""Correlation of the two sides' frequencies: direct, inverse, or none."""


def zipf_shares(exponent: float) -> np.ndarray:
    """Frequencies of the values, the most frequent first."""
    share = np.arange(1, DOMAIN + 1.0) ** -exponent
    result: np.ndarray = share / share.sum()
    return result


def frequencies_of(correlation: str, exponent: float, seed: int) -> Frequencies:
    """How often each value occurs on either side.

    Examples
    --------
    >>> model = frequencies_of(INVERSE, 2.0, seed=1)
    >>> bool(model.left.share[0] == model.right.share[-1])
    True
    """
    left = zipf_shares(exponent)
    right = {
        DIRECT: left,
        INVERSE: left[::-1],
        NONE: np.random.default_rng([seed, 7]).permutation(left),
    }[correlation]
    values = (pa.chunked_array([np.arange(DOMAIN)]),)
    return Frequencies(KeyFrequencies(values, left), KeyFrequencies(values, right))


def frequency_streams(model: Frequencies, duration_s: float, seed: int) -> ProbeTrial:
    """Values drawn anew for every row; the first two windows are not counted."""
    rng = np.random.default_rng(seed)
    sides = []
    for share, rate, name in (
        (model.left.share, R1, "stored_at"),
        (model.right.share, R2, "probed_at"),
    ):
        times = arrivals(rng, rate, 0.0, duration_s)
        keys = rng.choice(DOMAIN, size=len(times), p=share)
        sides.append(stream(keys, times, name))
    return ProbeTrial(sides[0], sides[1], window_s=W1_S, counted_from_s=2 * W1_S)
