"""Match density: the expected further matches of a row for the time that it is kept.

Rows in the same class (`density_classes.py`) match at the same rate, which is learned from rows
that are followed whether or not they are stored. The density of a class is the greatest ratio of
expected matches to expected time, over all rules of when to stop keeping the row: the Gittins
index of a row that is kept as long as that pays.
"""

from dataclasses import dataclass

import numpy as np

from headgate.models.density_classes import AGES, RATE_STEP, RATES, SHAPE, DensityClasses
from headgate.models.keeping_index import indices

FACTOR_MATCHES = 2.0
"""Matches that what is expected counts for, where a single trait of rows is judged."""
REST_MATCHES = 0.25
"""And for keys that are not counted, of which nothing is expected."""
CELL_MATCHES = 6.0
"""And where a class of rows is, which few rows tell of."""
ROUNDS = 6


@dataclass(frozen=True, eq=False)
class MatchDensity:
    """The density of each class of rows, in matches a microsecond.

    Parameters
    ----------
    windows_us
        How long rows of each side wait.
    table
        By side, rate, matches, gap and age.

    Examples
    --------
    >>> known = MatchDensity.of_rates((1000, 1000))
    >>> bool((np.diff(known.table[0, 1:, 0, 0, 0]) > 0).all())
    True
    """

    windows_us: tuple[int, int]
    table: np.ndarray

    @classmethod
    def empty(cls) -> "MatchDensity":
        """Of rows that nobody waits for."""
        return cls((0, 0), np.zeros(SHAPE))

    @classmethod
    def of_rates(cls, windows_us: tuple[int, int]) -> "MatchDensity":
        """By key rate alone, where nothing else is known."""
        nothing = np.zeros(SHAPE)
        return cls.learned(windows_us, nothing, nothing)

    @classmethod
    def learned(
        cls, windows_us: tuple[int, int], met: np.ndarray, spent_us: np.ndarray
    ) -> "MatchDensity":
        """From what followed rows met in each class, and how long they were in it."""
        classes = DensityClasses(windows_us)
        table = np.zeros(SHAPE)
        waiting = [side for side in (0, 1) if windows_us[side] > 0]
        known = {side: known_classes(spent_us[side]) for side in waiting}
        rates = {
            side: _rates_of_side(classes, side, met[side], spent_us[side])[known[side]]
            for side in waiting
        }
        if len(waiting) == 2 and windows_us[0] == windows_us[1]:
            # Both at once take little longer than one.
            both = indices(np.concatenate([rates[0], rates[1]]), classes, 0)
            found = dict(enumerate(np.split(both, [len(known[0])])))
        else:
            found = {side: indices(rates[side], classes, side) for side in waiting}
        for side in waiting:
            table[side, known[side]] = found[side]
            fill_in(table[side], known[side])
        return cls(windows_us, table)

    @property
    def classes(self) -> DensityClasses:
        """The classes of rows."""
        return DensityClasses(self.windows_us)


def _rates_of_side(
    classes: DensityClasses, side: int, met: np.ndarray, spent_us: np.ndarray
) -> np.ndarray:
    """Matches a microsecond in each class of a side's rows, beside what its keys let expect."""
    prior = classes.class_rates(side)
    prior[0] = prior[1] / 2
    return match_rates(met, spent_us, prior)


def match_rates(met: np.ndarray, spent_us: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Matches a microsecond in each class of a side's rows.

    A product of three factors (key rate, history, age) is fitted to all classes; each class then
    departs from it as far as its own matches say so.

    Parameters
    ----------
    prior
        What is expected of each class of key rate.
    """
    shape = met.shape
    met, spent = met.reshape(RATES, -1, AGES), spent_us.reshape(RATES, -1, AGES)
    totals = [met.sum(axis=(1, 2)), met.sum(axis=(0, 2)), met.sum(axis=(0, 1))]
    rate, history, age = prior.copy(), np.ones(met.shape[1]), np.ones(AGES)
    sure = FACTOR_MATCHES
    by_rate = np.array([REST_MATCHES, *[sure] * (RATES - 1)])
    for _ in range(ROUNDS):
        waited = np.einsum("rha,h,a->r", spent, history, age)
        rate = (totals[0] + by_rate) / (waited + by_rate / prior)
        history = (totals[1] + sure) / (np.einsum("rha,r,a->h", spent, rate, age) + sure)
        age = (totals[2] + sure) / (np.einsum("rha,r,h->a", spent, rate, history) + sure)
    expected = rate[:, None, None] * history[None, :, None] * age[None, None, :]
    rates: np.ndarray = (met + CELL_MATCHES) / (spent + CELL_MATCHES / expected)
    return rates.reshape(shape)


def known_classes(spent_us: np.ndarray) -> np.ndarray:
    """The classes of key rate that rows were followed in, and the first two."""
    spent = spent_us.sum(axis=(1, 2, 3)) > 0
    spent[:2] = True
    return np.flatnonzero(spent)


def fill_in(table: np.ndarray, known: np.ndarray) -> None:
    """Give other classes of key rate what the nearest has, as much more as their rate is more."""
    for rate in sorted(set(range(1, RATES)) - set(known.tolist())):
        nearest = int(known[1:][np.argmin(np.abs(known[1:] - rate))])
        table[rate] = table[nearest] * 2.0 ** (RATE_STEP * (rate - nearest))
