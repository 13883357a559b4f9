"""Durations as readable text, to three digits."""

from headgate.models.model_plots import UNITS


def about(us: float) -> str:
    """A duration as text, in the largest unit of which there is at least one.

    Examples
    --------
    >>> about(476_123_456), about(3_600_000_000), about(999_999), about(0)
    ('7.94 minutes', '1 hour', '1 second', '0 seconds')
    """
    for name, unit in UNITS:
        if us >= 0.9995 * unit:
            count = us / unit
            shown = f"{count:.3g}" if count < 999.5 else f"{count:,.0f}"
            return f"{shown} {name.removesuffix('s') if shown == '1' else name}"
    return "0 seconds"
