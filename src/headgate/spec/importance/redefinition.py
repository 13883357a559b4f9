"""Published importance definitions and the event times from which they apply."""

import os
from typing import NamedTuple

from headgate.spec.importance.max_importance import MaxImportance
from headgate.spec.importance.publishing import (
    Moment,
    definitions_in,
    event_time,
    microseconds_of,
)


class Redefinition(NamedTuple):
    """A definition of importance, and when it begins to hold."""

    at_us: int | None
    """Event time in microseconds; None: from the next batch on."""
    goal: MaxImportance

    @classmethod
    def of(cls, at: Moment, goal: MaxImportance) -> "Redefinition":
        """A change at a datetime, or a text that says one.

        Examples
        --------
        >>> Redefinition.of("1970-01-01T00:00:01+00:00", MaxImportance(left="price")).at_us
        1000000
        """
        moment = event_time(at)
        return cls(None if moment is None else microseconds_of(moment), goal)

    @classmethod
    def read(cls, definition: str, at: Moment) -> "Redefinition":
        """A change from the two fields of a published line.

        Examples
        --------
        >>> goal = MaxImportance(left="price").to_json()
        >>> Redefinition.read(goal, "1970-01-01T00:00:01+00:00").at_us
        1000000
        """
        return cls.of(at, MaxImportance.from_json(definition))


def read_changes(folder: str | os.PathLike[str]) -> list[Redefinition]:
    """All that `MaxImportance.publish` has put into a folder, in the order it was published.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = MaxImportance(left="price").publish(folder)
    ...     _ = MaxImportance(left="2 * price").publish(folder, at="1970-01-01T00:00:01+00:00")
    ...     [(at_us, goal.left.sql) for at_us, goal in read_changes(folder)]
    [(None, 'price'), (1000000, '2 * price')]
    """
    return [Redefinition.read(definition, at) for at, definition in definitions_in(folder)]
