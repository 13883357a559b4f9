"""Lengths of time for people, to three digits."""

from headgate.models.plotting import best_unit


def about(us: float) -> str:
    """A length of time in the largest unit of which there are at least two.

    Examples
    --------
    >>> about(476_123_456), about(5_400_000_000), about(0)
    ('7.94 minutes', '90 minutes', '0 seconds')
    """
    if us == 0:
        return "0 seconds"
    name, unit = best_unit(us)
    return f"{us / unit:.3g} {name}"
