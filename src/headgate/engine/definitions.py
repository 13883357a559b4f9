"""Definitions of importance and the event times from which they hold.

A join starts with the definition in its goal. A redefinition has the event time from which it
holds; all rows are rescored before the first arrival at or after that time. A redefinition whose
time has passed, or that has none, holds from the start of its step.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from headgate.kernel.step_progress import NO_WATERMARK, StepProgress
from headgate.kernel.terms import Terms
from headgate.spec import Goal, MaxImportance, SpecError

MOST_AT_ONCE = 100
"""Most redefinitions taken from one step; earlier ones are dropped."""
MOST_AHEAD = 32
"""Most redefinitions that may wait for their event time: every row is scored by each."""


@dataclass(frozen=True)
class Definitions:
    """The initial definition of importance, and later ones by event time.

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
        """Raise where rows of these schemas lack the columns needed."""
        for goal in self.goals:
            goal.check(schemas)

    def applied(self, terms: Terms) -> Terms:
        """The terms of a join with these definitions."""
        return replace(terms, changes=self.changes)

    def of_rows(self, table: pa.Table, side: int) -> np.ndarray:
        """The importance of a side's rows, by definition and row."""
        return np.stack([goal.evaluate(table, side) for goal in self.goals])


def nothing_to_redefine(goal: Goal) -> SpecError:
    """The error for redefining the importance of a join that has none."""
    return SpecError(
        f"redefined= has nothing to redefine: the goal is {goal!r}, give goal=hg.MaxImportance(...)"
    )


class KnownDefinitions(NamedTuple):
    """The definitions of importance in a step."""

    definitions: Definitions
    progress: StepProgress
    """With the redefinitions that came with the step."""
    refused: int
    """How many redefinitions were rejected."""


def known_definitions(
    goal: MaxImportance,
    progress: StepProgress,
    schemas: tuple[pa.Schema, pa.Schema],
    news: Sequence[tuple[int | None, str]] = (),
) -> KnownDefinitions:
    """The definitions for a step, those that came with it included.

    Definitions that no longer hold are dropped, so that a long-running join keeps few. A faulty
    redefinition must not stop the join: it is skipped and counted, even if another version of
    Headgate or its libraries accepted it before.
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
    return KnownDefinitions(definitions, progress._replace(definitions=holding), refused)


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
