"""What is important, and from when on: definitions, evaluated on the rows of a step.

A join begins with the definition of its goal. Redefinitions come with the event time from which
they hold; the first arrival at or after it finds stored rows, and itself, judged anew. One whose
time has passed, or that has none, holds from the step it comes with.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from headgate.kernel.progress import NO_WATERMARK, Progress
from headgate.kernel.terms import Terms
from headgate.spec import Goal, MaxImportance, SpecError

MOST_AT_ONCE = 100
"""Redefinitions looked at that come with one step, the last ones."""
MOST_AHEAD = 32
"""Redefinitions that wait for their event time: every row is judged by each of them."""


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


class Known(NamedTuple):
    """What is important in a step."""

    definitions: Definitions
    progress: Progress
    """With the redefinitions that came with the step."""
    refused: int
    """How many redefinitions could not be taken up."""


def known_definitions(
    goal: MaxImportance,
    progress: Progress,
    schemas: tuple[pa.Schema, pa.Schema],
    news: Sequence[tuple[int | None, str]] = (),
) -> Known:
    """The definitions for a step, those that came with it included.

    What holds no more is forgotten, so that a long-running join knows few. Whoever wrote a
    redefinition must not bring the join down: what cannot be taken up is left out and counted,
    also one that was taken up before, by another version of Headgate or its libraries.
    """
    now = progress.clock >> 1
    kept = [(at, text) for at, text in progress.definitions if _fits(goal, text, schemas)]
    looked_at = news[-MOST_AT_ONCE:]
    fresh = [(at, text) for at, text in looked_at if _fits(goal, text, schemas)]
    told = kept + [(now if at is None else max(at, now), text) for at, text in fresh]
    told.sort(key=lambda change: change[0])
    past = [change for change in told if change[0] <= now]
    ahead = [change for change in told if change[0] > now]
    holding = (*past[-1:], *ahead[:MOST_AHEAD])
    redefined = [(at, MaxImportance.from_json(text)) for at, text in holding]
    at_once = sum(1 for at, _ in fresh if at is None or at <= now)
    definitions = replace(Definitions.of(goal, redefined), at_once=at_once)
    refused = (len(progress.definitions) - len(kept)) + (len(news) - len(fresh))
    refused += max(len(ahead) - MOST_AHEAD, 0)
    return Known(definitions, progress._replace(definitions=holding), refused)


def _fits(goal: MaxImportance, text: str, schemas: tuple[pa.Schema, pa.Schema]) -> bool:
    try:
        return _checked(goal, text, schemas)
    except SpecError:
        return False


@lru_cache(maxsize=256)
def _checked(goal: MaxImportance, text: str, schemas: tuple[pa.Schema, pa.Schema]) -> bool:
    """True, or a `SpecError` where the text is no definition that the goal may become."""
    goal.redefined(MaxImportance.from_json(text)).check(schemas)
    return True
