"""Student's t distribution: how wide an interval must be where the spread is itself estimated."""


def t_quantile(probability: float, freedom: int) -> float:
    """The value that is not passed with the probability, at so many degrees of freedom.

    Examples
    --------
    >>> round(t_quantile(0.975, 10), 3)
    2.228
    """
    from scipy.special import stdtrit  # slow to import

    return float(stdtrit(freedom, probability))
