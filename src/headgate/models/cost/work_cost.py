"""The cost of a join by the rows it stores and the pairs it makes: C_u and C_p.

Unlike the cost of structures (`unit_time.py`), this includes output, so it gives the savings of
storing fewer rows or making fewer pairs.
"""

import math
from dataclasses import dataclass, fields

import numpy as np
import pyarrow as pa

from headgate.columns.key_codes import NULL, encode_together
from headgate.models.frequencies import Frequencies
from headgate.spec import SpecError


@dataclass(frozen=True, kw_only=True)
class WorkCost:
    """The cost of rows and pairs, in CPU time.

    Parameters
    ----------
    update
        C_u: a row kept in a window, from insertion to expiry.
    produce
        C_p: a pair, probed for and made.
    arrive
        C_a: an arriving row, whether kept or not (decoding, and a probe that finds nothing). 0 in
        the paper; on a real machine this cost cannot be shed.

    Examples
    --------
    >>> work = WorkCost(update=2.0, produce=0.5)
    >>> work.of((10.0, 20.0), (1.0, 1.0), 0.01)
    62.0

    References
    ----------
    Ayad, Naughton, Wright, Srivastava, Approximating Streaming Window Joins Under CPU Limitations,
    2005, section 2.2. The cost of arriving is an addition.
    """

    update: float
    produce: float
    arrive: float = 0.0

    def __post_init__(self) -> None:
        for part in fields(self):
            value = getattr(self, part.name)
            if not 0 <= value < math.inf:
                raise SpecError(f"{part.name}={value!r} is not a cost: give a number, 0 or more")

    def of(
        self, rates: tuple[float, float], windows: tuple[float, float], match: float | Frequencies
    ) -> float:
        """The whole join's cost in a unit of time (Equation 2).

        Parameters
        ----------
        rates, windows, match
            As in `output_rate`.
        """
        return self.of_work(sum(rates), sum(rates), output_rate(rates, windows, match))

    def of_work(self, arriving: float, kept: float, pairs: float) -> float:
        """The cost of so many rows coming, so many kept, and so many pairs made."""
        return self.arrive * arriving + self.update * kept + self.produce * pairs


def output_rate(
    rates: tuple[float, float], windows: tuple[float, float], match: float | Frequencies
) -> float:
    """Pairs that the whole join makes in a unit of time.

    Parameters
    ----------
    rates
        Rows of each side a unit of time.
    windows
        How long rows of each side wait, in that unit.
    match
        The chance that two rows match, or the frequencies of keys on both sides.

    Examples
    --------
    >>> output_rate((10.0, 20.0), (1.0, 2.0), 0.01)
    6.0

    References
    ----------
    Ayad, Naughton, Wright, Srivastava, 2005, Equation 9; with frequencies, Equations 5 and 6.
    """
    if isinstance(match, Frequencies):
        return float(by_value(rates, windows, match).output.sum())
    _check(rates, windows)
    if not 0 <= match <= 1:
        raise SpecError(f"match={match!r} is not a chance: give a number from 0 to 1")
    return match * rates[0] * rates[1] * sum(windows)


@dataclass(frozen=True, eq=False)
class ByValue:
    """The output and cost of each join key value per unit of time.

    Attributes
    ----------
    keys
        The values of either side, one array a key column.
    arriving
        Rows of each side, of shape (2, values).
    met
        Pairs whose stored row is of each side, of shape (2, values).

    Examples
    --------
    >>> model = Frequencies.of_mappings({"a": 0.9, "b": 0.1}, {"a": 0.5, "c": 0.5})
    >>> values = by_value((10.0, 10.0), (1.0, 3.0), model)
    >>> values.keys[0].to_pylist(), values.output.tolist()
    (['a', 'b', 'c'], [180.0, 0.0, 0.0])
    >>> values.benefit(WorkCost(update=1.0, produce=0.1)).round(3).tolist()
    [5.625, 0.0, 0.0]
    """

    keys: tuple[pa.ChunkedArray, ...]
    arriving: np.ndarray
    met: np.ndarray

    @property
    def output(self) -> np.ndarray:
        """Pairs of each value (Equation 5)."""
        total: np.ndarray = self.met.sum(axis=0)
        return total

    def cost(self, work: WorkCost) -> np.ndarray:
        """The cost of each value (Equation 7), without what its rows cost by arriving."""
        total: np.ndarray = self.arriving.sum(axis=0) * work.update + self.output * work.produce
        return total

    def benefit(self, work: WorkCost) -> np.ndarray:
        """P(v): pairs per cost (Equation 8); 0 where a value makes none."""
        output, cost = self.output, self.cost(work)
        gained: np.ndarray = np.where(output > 0, math.inf, 0.0)
        np.divide(output, cost, out=gained, where=cost > 0)
        return gained


def by_value(
    rates: tuple[float, float], windows: tuple[float, float], frequencies: Frequencies
) -> ByValue:
    """Output and cost by join key value; values on only one side make no pairs.

    Parameters
    ----------
    rates, windows
        As in `output_rate`.
    frequencies
        Of keys on both sides.

    References
    ----------
    Ayad, Naughton, Wright, Srivastava, 2005, section 3.2.2.
    """
    _check(rates, windows)
    stacked = [
        pa.chunked_array([*left.chunks, *right.cast(left.type).chunks], type=left.type)
        for left, right in zip(frequencies.left.columns, frequencies.right.columns, strict=True)
    ]
    (codes,), count = encode_together([stacked])
    of_left = len(frequencies.left.share)
    shares = np.stack(
        [
            _summed(codes[:of_left], frequencies.left.share, count),
            _summed(codes[of_left:], frequencies.right.share, count),
        ]
    )
    known, first = np.unique(codes, return_index=True)
    first = first[known != NULL]
    arriving = shares[:, codes[first]] * np.array(rates)[:, None]
    met = arriving[0] * arriving[1] * np.array(windows)[:, None]
    return ByValue(tuple(column.take(pa.array(first)) for column in stacked), arriving, met)


def _summed(codes: np.ndarray, share: np.ndarray, count: int) -> np.ndarray:
    """Shares by code; a null key matches nothing and has none."""
    valid = codes != NULL
    return np.bincount(codes[valid], share[valid], minlength=count)


def _check(rates: tuple[float, float], windows: tuple[float, float]) -> None:
    if not all(0 <= given < math.inf for given in (*rates, *windows)):
        raise SpecError(f"rates={rates} and windows={windows}: give numbers, 0 or more")
