"""Tells whether keys come as often as they did, and how much earlier counts still say.

A share that was counted long ago is precise where nothing changed and wrong where much did. How far
shares of keys in an epoch are from those of earlier counts, beyond chance, says how many arrivals
the earlier counts are worth: with more, their error would be greater than that of the new counts.
"""

import math

import numpy as np

SURE = 3.0
"""Standard errors beyond which keys are taken to have changed."""


def arrivals_worth(before: np.ndarray, now: np.ndarray) -> float:
    """How many arrivals earlier counts of keys are worth beside new ones; infinite where shares of
    keys differ by chance.

    Examples
    --------
    >>> before = np.full(100, 40.0)
    >>> arrivals_worth(before, np.full(100, 4.0))
    inf
    >>> now = np.concatenate([np.zeros(50), np.full(50, 8.0)])
    >>> round(arrivals_worth(before, now))
    165
    """
    known, new = float(before.sum()), float(now.sum())
    if known <= 1.0 or new <= 1.0:
        return math.inf
    old_share, new_share = before / known, now / new
    chance = 1 / known + 1 / new
    # The squares of counts exceed those of shares by what is chance in them.
    apart = float(((old_share - new_share) ** 2).sum()) - chance
    together = float((((before + now) / (known + new)) ** 2).sum())
    error = chance * math.sqrt(2 * together)
    apart -= SURE * error
    return 1 / apart if apart > 0 else math.inf
