"""Compares how well the age model and the key model predict matches."""

from dataclasses import dataclass

import numpy as np

ENOUGH, SURE_NATS = 50.0, 10.0
LEAST = 1e-6
"""An expected number of matches no model may go below, so that no surprise is infinite."""


@dataclass
class Fit:
    """Log-likelihood of watched rows' matches under each model, predicted in advance.

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
    rest_matches: float = 0.0
    rest_us: float = 0.0
    """Of rows whose key is not counted: what they met, and for how long they were watched."""

    def forget(self, factor: float) -> None:
        """Discount past likelihoods by ``factor``."""
        for name in ("age", "key", "matches", "rest_matches", "rest_us"):
            setattr(self, name, getattr(self, name) * factor)

    def by_key(self, weight: np.ndarray, watched_us: np.ndarray, met: np.ndarray) -> np.ndarray:
        """What rows were expected to meet by their key; where that is not counted (weight 0), as
        many as such rows did before."""
        uncounted = weight <= 0
        rest = self.rest_matches / self.rest_us if self.rest_us > 0 else 0.0
        expected: np.ndarray = np.where(uncounted, rest, weight) * watched_us
        self.rest_matches += float(met[uncounted].sum())
        self.rest_us += float(watched_us[uncounted].sum())
        return expected

    def judge(self, met: np.ndarray, by_age: np.ndarray, by_key: np.ndarray) -> None:
        """Compare what rows met with what each model expected of them."""
        self.age += _log_likelihood(met, by_age)
        self.key += _log_likelihood(met, by_key)
        self.matches += float(met.sum())

    @property
    def is_sure(self) -> bool:
        """Whether one model is significantly better."""
        return self.matches >= ENOUGH and abs(self.age - self.key) > SURE_NATS

    @property
    def better(self) -> str:
        """The better model: "age" or "key"."""
        return "age" if self.age >= self.key else "key"

    @property
    def lead(self) -> float:
        """By how much, in nats a match."""
        return abs(self.age - self.key) / max(self.matches, 1.0)


def _log_likelihood(met: np.ndarray, expected: np.ndarray) -> float:
    """Of Poisson counts, less what does not depend on the model."""
    expected = np.maximum(expected, LEAST)
    return float((met * np.log(expected) - expected).sum())
