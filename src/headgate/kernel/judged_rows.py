"""Weights, importance and scores of the rows of a step, computed before the first arrival."""

from typing import NamedTuple

import numpy as np

from headgate.kernel import setup, skipped_rows
from headgate.kernel.ordered_rows import OrderedRows
from headgate.kernel.terms import Terms
from headgate.kernel.worth import definition_at
from headgate.policies.policy import Arrivals


class JudgedRows(NamedTuple):
    """Weights, importance and scores of the rows, in the order given."""

    arrivals: Arrivals
    """The rows in the form that policies take."""
    importance: np.ndarray
    """Indexed by definition of importance, then row."""
    definition: int
    """The definition that holds when the step begins."""
    scores: setup.Scores
    skipped: np.ndarray
    """The work skipped for each row, as `Skip`; empty where none is."""

    @classmethod
    def of(cls, terms: Terms, given: OrderedRows, began_at: int) -> "JudgedRows":
        """Score the rows as of the event time at which the step begins."""
        importance = setup.importance_of(terms, given.groups)
        now = int(definition_at(terms.changes, np.array([began_at]))[0])
        arrivals = Arrivals(
            given.time,
            given.side,
            given.sequence,
            weight=setup.weights_of(terms.policy, given.groups),
            importance=importance[now],
        )
        worth = importance
        if terms.ranks_per_byte:
            size = np.concatenate([group.size for group in given.groups])
            worth = importance / np.maximum(size, 1)
        scores = setup.Scores.of(
            terms.policy,
            arrivals._replace(importance=worth[now]),
            worth,
            needed=setup.may_run_full(terms, given.groups),
        )
        skipped = skipped_rows.skipped_parts(terms, given.groups, arrivals, given.ends)
        return cls(arrivals, importance, now, scores, skipped)
