"""The error every part of a request raises, at construction, when it cannot be served."""


class SpecError(ValueError):
    """A request that cannot be served: says what was given, what is accepted, what to do."""
