"""Which model foresees the matches better: by age, or by key."""

from dataclasses import dataclass

import numpy as np

LEAST = 1e-6
"""An expected number of matches no model may go below, so that no surprise is infinite."""


@dataclass
class Fit:
    """Log-likelihood of what watched rows met under each model, foreseen before it happened.

    Examples
    --------
    >>> fit = Fit()
    >>> fit.judge(np.array([0, 2]), by_age=np.array([0.1, 1.9]), by_key=np.array([1.0, 1.0]))
    >>> fit.better
    'age'
    """

    age: float = 0.0
    key: float = 0.0
    matches: float = 0.0

    def forget(self, factor: float) -> None:
        """Let past judgements count for so much of themselves."""
        self.age, self.key, self.matches = (
            value * factor for value in (self.age, self.key, self.matches)
        )

    def judge(self, met: np.ndarray, by_age: np.ndarray, by_key: np.ndarray) -> None:
        """Compare what rows met with what each model expected of them."""
        self.age += _log_likelihood(met, by_age)
        self.key += _log_likelihood(met, by_key)
        self.matches += float(met.sum())

    @property
    def better(self) -> str:
        """The model that foresaw more: "age" or "key"."""
        return "age" if self.age >= self.key else "key"

    @property
    def lead(self) -> float:
        """By how much, in nats a match."""
        return abs(self.age - self.key) / max(self.matches, 1.0)


def _log_likelihood(met: np.ndarray, expected: np.ndarray) -> float:
    """Of Poisson counts, less what does not depend on the model."""
    expected = np.maximum(expected, LEAST)
    return float((met * np.log(expected) - expected).sum())
