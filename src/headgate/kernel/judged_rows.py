"""What a policy makes of the rows of a step, before the first of them comes."""

from typing import NamedTuple

import numpy as np

from headgate.kernel import setup, skipped_rows
from headgate.kernel.ordered_rows import OrderedRows
from headgate.kernel.terms import Terms
from headgate.kernel.worth import definition_at
from headgate.policies.policy import Arrivals


class JudgedRows(NamedTuple):
    """Weights, importance and scores of rows as given."""

    arrivals: Arrivals
    """The rows as the policy is told of them."""
    importance: np.ndarray
    """By definition of importance and row."""
    definition: int
    """Which of them holds when the step begins."""
    scores: setup.Scores
    skipped: np.ndarray
    """What is not done with each row, as `Skip`; no rows where all is done."""

    @classmethod
    def of(cls, terms: Terms, given: OrderedRows, began_at: int) -> "JudgedRows":
        """The rows judged at the event time at which the step begins."""
        importance = setup.importance_of(terms, given.groups)
        now = int(definition_at(terms.changes, np.array([began_at]))[0])
        arrivals = Arrivals(
            given.time,
            given.side,
            given.sequence,
            weight=setup.weights_of(terms.policy, given.groups),
            importance=importance[now],
        )
        scores = setup.Scores.of(
            terms.policy,
            arrivals,
            importance,
            needed=setup.may_run_full(terms, given.groups),
        )
        skipped = skipped_rows.skipped_parts(terms, given.groups, arrivals, given.ends)
        return cls(arrivals, importance, now, scores, skipped)
