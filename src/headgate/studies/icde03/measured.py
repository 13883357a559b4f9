"""What pairs of structures cost on this machine: measured, and estimated by weights measured here.

Costs are in microseconds of processor time for a second of stream. Pairs are timed in turns and
compared within each turn, since other work on the machine comes and goes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from headgate.calibration import Effort, Workload, in_turns, measure_weights
from headgate.calibration.measure import KEYS_A_ROW, measure_work
from headgate.models.cost import (
    BUCKET_ROWS,
    NODE_ROWS,
    Structure,
    Weights,
    join_cost,
    parse_pair,
)

MICRO = 1e6
PAIRS = ("HH", "TT", "HT", "TH", "HN", "NH", "TN", "NT")
"""Those of the paper's figures: the first letter stands over window A, which B probes."""
FOUR = tuple(one + other for one in "NHBT" for other in "NHBT")
"""All pairs of the paper's four structures."""
FIVE = tuple(one + other for one in "NHBTM" for other in "NHBTM")
"""Of these and the bitmap."""
BITMAP = Structure.BITMAP.letter
FINALISTS = 3
"""Pairs of a field besides the model's pick that are measured longer, to say which is best."""


@dataclass(frozen=True)
class Machine:
    """The machine at hand, as calibrated for the paper's buckets and nodes."""

    weights: Weights
    arrive: float

    @classmethod
    def measured(cls, effort: Effort) -> "Machine":
        """Measure it."""
        weights = measure_weights(effort, tuple(Structure), NODE_ROWS, BUCKET_ROWS)
        return cls(weights, measure_work(effort)[0].arrive)

    def estimate(
        self, pair: str, rates: tuple[float, float], windows: tuple[float, float]
    ) -> float:
        """Microseconds for a second of stream: both directions, and what any arrival costs."""
        cost = join_cost(pair, rates, windows, self.weights, NODE_ROWS, BUCKET_ROWS)
        return MICRO * (cost + self.arrive * sum(rates))

    def best(
        self,
        rates: tuple[float, float],
        windows: tuple[float, float],
        among: Sequence[str],
    ) -> str:
        """The pair that should cost least."""
        return min(among, key=lambda pair: self.estimate(pair, rates, windows))


@dataclass(frozen=True)
class Setting:
    """Rates, rows in windows, and how many arrivals to time."""

    rates: tuple[float, float]
    windows: tuple[int, int]
    arrivals: int

    @cached_property
    def streams(self) -> Workload:
        """The rows, over any structures."""
        share = self.rates[0] / sum(self.rates)
        of_a = round(share * self.arrivals)
        return Workload(
            parse_pair("HH"),
            self.windows,
            (of_a, self.arrivals - of_a),
            KEYS_A_ROW * max(self.windows),
            NODE_ROWS,
            BUCKET_ROWS,
        )

    def over(self, pair: str) -> Workload:
        """The same rows over a pair of structures."""
        return self.streams.with_pair(parse_pair(pair))

    def costs(self, pairs: Sequence[str], rounds: int) -> list[float]:
        """Measured microseconds for a second of stream, of each pair."""
        return costs_of([(self, pair) for pair in pairs], rounds)


def costs_of(joins: Sequence[tuple[Setting, str]], rounds: int) -> list[float]:
    """Measured microseconds for a second of stream, of pairs in settings, all timed in turns."""
    timed = in_turns([setting.over(pair) for setting, pair in joins], rounds)
    by_round = np.array([each.rounds for each in timed])
    level = np.exp(np.log(by_round).mean(axis=0))
    joining = np.median(by_round / level, axis=1) * np.quantile(level, 0.25)
    arrivals = np.array([setting.arrivals for setting, _ in joins])
    # Rows are laid out in one of two ways, so that many runs say what each takes.
    ordered = np.array([BITMAP in pair for _, pair in joins])
    laying_out = np.array([each.laying_out for each in timed]) / arrivals
    for way in (ordered, ~ordered):
        laying_out[way] = np.median(laying_out[way]) if way.any() else 0.0
    rates = np.array([sum(setting.rates) for setting, _ in joins])
    costs: list[float] = (MICRO * rates * (joining / arrivals + laying_out)).tolist()
    return costs


class Contest(NamedTuple):
    """What the model picks for a setting, against the pair measured to be best."""

    pick: str
    best: str
    regret: float
    """What the pick costs more than the best, as a share."""


def contests(
    machine: Machine, setting: Setting, fields: Sequence[Sequence[str]], rounds: int
) -> list[Contest]:
    """A contest a field of pairs: all are measured, then the first few and the picks for longer.

    Parameters
    ----------
    machine
        What the model goes by.
    setting
        Rates and windows.
    fields
        The pairs that each contest is among.
    rounds
        Of the first measurement; the last has five times as many.
    """
    everybody = sorted({pair for field in fields for pair in field})
    first = dict(zip(everybody, setting.costs(everybody, rounds), strict=True))
    picks = [machine.best(setting.rates, setting.windows, field) for field in fields]
    finalists = set(picks)
    for field in fields:
        finalists.update(sorted(field, key=first.__getitem__)[:FINALISTS])
    listed = sorted(finalists)
    final = dict(zip(listed, setting.costs(listed, 5 * rounds), strict=True))
    held = []
    for pick, field in zip(picks, fields, strict=True):
        best = min((pair for pair in listed if pair in field), key=final.__getitem__)
        held.append(Contest(pick, best, final[pick] / final[best] - 1))
    return held
