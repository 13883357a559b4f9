"""The error every part of a request raises, at construction, when it cannot be served."""


class SpecError(ValueError):
    """A request that cannot be served: says what was given, what is accepted, what to do.

    Examples
    --------
    >>> import headgate as hg
    >>> try:
    ...     hg.Budget(rows=0)
    ... except hg.SpecError as error:
    ...     print(error)
    budget of 0 rows: give a whole number of rows, one or more
    """
