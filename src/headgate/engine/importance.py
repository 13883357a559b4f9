"""What is important, and from when on: definitions, evaluated on the rows of a step.

A join begins with the definition of its goal. Redefinitions come with the event time from which
they hold; the first arrival at or after it finds stored rows, and itself, judged anew. One whose
time has passed, or that has none, holds from the step it comes with.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from headgate.engine.batch import NO_WATERMARK, Progress, Terms
from headgate.spec import Goal, MaxImportance, SpecError


@dataclass(frozen=True)
class Definitions:
    """What is important: at first, and from event times on.

    Parameters
    ----------
    goals
        One definition after the other.
    changes
        The event times, in microseconds, from which the second, third … hold; ascending.
    at_once
        How many of them are new and hold from the very beginning of the step.
    """

    goals: tuple[MaxImportance, ...]
    changes: tuple[int, ...] = ()
    at_once: int = 0

    @classmethod
    def of(
        cls, goal: MaxImportance, redefined: Sequence[tuple[int | None, MaxImportance]] = ()
    ) -> "Definitions":
        """A goal and its redefinitions, in the order in which they were made.

        Examples
        --------
        >>> first, then = MaxImportance(left="price"), MaxImportance(left="price * 2")
        >>> Definitions.of(first, [(1_000_000, then)]).changes
        (1000000,)
        """
        told = [
            (NO_WATERMARK if at is None else at, goal.redefined(other)) for at, other in redefined
        ]
        told.sort(key=lambda change: change[0])
        return cls((goal, *(other for _, other in told)), tuple(at for at, _ in told))

    def check(self, schemas: tuple[pa.Schema, pa.Schema]) -> None:
        """Raise where rows of these schemas do not tell."""
        for goal in self.goals:
            goal.check(schemas)

    def applied(self, terms: Terms) -> Terms:
        """The terms of a join that goes by this."""
        return replace(terms, changes=self.changes)

    def of_rows(self, table: pa.Table, side: int) -> np.ndarray:
        """The importance of a side's rows, by definition and row."""
        return np.stack([goal.evaluate(table, side) for goal in self.goals])


def nothing_to_redefine(goal: Goal) -> SpecError:
    """What to say to who would redefine the importance of a join that has none."""
    return SpecError(
        f"redefined= has nothing to redefine: the goal is {goal!r}, give goal=hg.MaxImportance(...)"
    )


def known_definitions(
    goal: MaxImportance, progress: Progress, news: Sequence[tuple[int | None, str]] = ()
) -> tuple[Definitions, Progress]:
    """The definitions for a step, and the progress with those that came with it.

    What holds no more is forgotten, so that a long-running join knows few.
    """
    now = progress.clock >> 1
    fresh = [(now if at is None else max(at, now), text) for at, text in news]
    told = [*progress.definitions, *fresh]
    told.sort(key=lambda change: change[0])
    past = [change for change in told if change[0] <= now]
    kept = (*past[-1:], *(change for change in told if change[0] > now))
    redefined = [(at, MaxImportance.from_json(text)) for at, text in kept]
    at_once = sum(1 for at, _ in news if at is None or at <= now)
    definitions = replace(Definitions.of(goal, redefined), at_once=at_once)
    return definitions, progress._replace(definitions=kept)
