"""What "auto" makes where it cannot be run: from a sample of the keys it learns too little.

It follows the best of the policies that it tries, and loses a little until it knows which that is.
On the 34 streams of `headgate bench --part real`, each with four sizes of memory, it made 0.986 of
what the best of them did on average; nearly all of it where that had nearly all pairs.
"""

from collections.abc import Sequence

from headgate.learning import Estimate

LOST, LOST_AT_MOST = 0.02, 0.2
"""Of what the best of them makes, for each pair that it misses: on average, and nearly always."""
GAINED_AT_MOST = 0.01
"""Where one policy is better at first, and another later."""


def auto_among(rivals: Sequence[Estimate]) -> Estimate:
    """The recall of "auto", from that of the policies that it would try.

    Examples
    --------
    >>> print(auto_among([Estimate(0.2, 0.2, 0.2), Estimate(0.5, 0.5, 0.5)]))
    0.495 (0.450 to 0.505)
    >>> print(auto_among([Estimate(1.0, 1.0, 1.0)]))
    1.000 (1.000 to 1.000)
    """
    best = max(rivals, key=lambda each: each.value)
    missed = 1.0 - best.value
    return Estimate(
        best.value * (1.0 - LOST * missed),
        best.low * (1.0 - LOST_AT_MOST * missed),
        min(best.high * (1.0 + GAINED_AT_MOST), 1.0),
    )
