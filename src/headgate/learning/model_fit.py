"""Compares how well the age model and the key model predict matches."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

ENOUGH, SURE_NATS = 50.0, 10.0
SOME, LIKELY_NATS = 20.0, 4.0
"""Matches, and a likelihood fifty times as great, after which one model is followed at first."""
CLEAR_NATS = 0.2
"""A lead a match for which another policy is followed: less may come from a few frequent keys."""
LEAST = 1e-6
"""An expected number of matches no model may go below, so that no surprise is infinite."""


NAMES = ("age", "key", "matches", "rest_matches", "rest_us")


class Judged(NamedTuple):
    """What watched rows met between two ages, and what they were expected to."""

    met: np.ndarray
    by_age: np.ndarray
    """Matches expected by age."""
    weight: np.ndarray
    """Matches expected a microsecond by key; 0 where the key is not counted."""
    watched_us: np.ndarray
    importance: np.ndarray | float = 1.0
    """What a match of the row is worth, in which both are measured."""


@dataclass
class ModelFit:
    """Log-likelihood of watched rows' matches under each model, predicted in advance.

    Examples
    --------
    >>> fit = ModelFit()
    >>> one = np.ones(2)
    >>> rows = Judged(np.array([0, 2]), np.array([0.1, 1.9]), weight=one, watched_us=one)
    >>> fit.add(fit.judged(rows).sum(axis=1)[None])
    >>> fit.better
    'age'
    """

    age: float = 0.0
    key: float = 0.0
    matches: float = 0.0
    rest_matches: float = 0.0
    rest_us: float = 0.0
    """Of rows whose key is not counted: what they met, and for how long they were watched."""

    def forget(self, factor: float) -> None:
        """Discount past likelihoods by ``factor``."""
        for name in NAMES:
            setattr(self, name, getattr(self, name) * factor)

    def judged(self, rows: "Judged") -> np.ndarray:
        """For each row, what it adds: by age, by key, matches; and, where its key is not counted,
        matches and how long it was watched.

        Rows whose key is not counted (weight 0) are expected to meet as many as such rows did
        before. As long as there were none, they say nothing of the model by key, and count for
        either alike.
        """
        uncounted = rows.weight <= 0
        rest = self.rest_matches / self.rest_us if self.rest_us > 0 else 0.0
        by_key = np.where(uncounted, rest, rows.weight) * rows.watched_us * rows.importance
        by_age = rows.by_age * rows.importance
        if not self.rest_us > 0:
            by_key = np.where(uncounted, by_age, by_key)
        return np.stack(
            [
                _log_likelihood(rows.met, by_age),
                _log_likelihood(rows.met, by_key),
                rows.met,
                np.where(uncounted, rows.met, 0.0),
                np.where(uncounted, rows.watched_us, 0.0),
            ]
        )

    def add(self, judged: np.ndarray) -> None:
        """Take in sums of what `judged` gives, by side."""
        for name, more in zip(NAMES, judged.sum(axis=0).tolist(), strict=True):
            setattr(self, name, getattr(self, name) + more)

    @property
    def is_sure(self) -> bool:
        """Whether one model is significantly better."""
        return self.matches >= ENOUGH and abs(self.age - self.key) > SURE_NATS

    @property
    def tells(self) -> bool:
        """Whether one model is likely to be better: a handful of matches does not say so."""
        return self.matches >= SOME and abs(self.age - self.key) > LIKELY_NATS

    @property
    def tells_clearly(self) -> bool:
        """Whether one model is likely to be better, and by enough a match to follow another."""
        return self.tells and self.lead > CLEAR_NATS

    @property
    def better(self) -> str:
        """The better model: "age" or "key"."""
        return "age" if self.age >= self.key else "key"

    @property
    def lead(self) -> float:
        """By how much, in nats a match."""
        return abs(self.age - self.key) / max(self.matches, 1.0)


def _log_likelihood(met: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Of Poisson counts, less what does not depend on the model."""
    expected = np.maximum(expected, LEAST)
    likelihood: np.ndarray = met * np.log(expected) - expected
    return likelihood
