"""Cost of structure pairs on this machine: measured, and estimated from calibrated weights.

Costs are in microseconds of CPU time per second of stream. Pairs are timed in interleaved rounds
and compared within each round, since the machine's load varies.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from headgate.calibration import MeasuringTime, TimedWorkload, in_turns, measure_weights
from headgate.calibration.timed_weights import KEYS_A_ROW, measure_work
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
    def measured(cls, effort: MeasuringTime) -> "Machine":
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
    def streams(self) -> TimedWorkload:
        """The rows, over any structures."""
        share = self.rates[0] / sum(self.rates)
        of_a = round(share * self.arrivals)
        return TimedWorkload(
            parse_pair("HH"),
            self.windows,
            (of_a, self.arrivals - of_a),
            KEYS_A_ROW * max(self.windows),
            NODE_ROWS,
            BUCKET_ROWS,
        )

    def over(self, pair: str) -> TimedWorkload:
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
    # Other load only adds time: the lower quartiles are closest to the join's own cost.
    joining = np.quantile(by_round / level, 0.25, axis=1) * np.quantile(level, 0.25)
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
    """The model's pick for a setting and the pair measured to be best."""

    pick: str
    best: str
    regret: float
    """Extra cost of the pick over the best, as a share."""


def contests(
    machine: Machine, settings: Sequence[Setting], fields: Sequence[Sequence[str]], rounds: int
) -> list[list[Contest]]:
    """Contests in each setting, one a field of pairs.

    All pairs are measured briefly, then the fastest of each field and the picks for longer.
    Settings are interleaved too, so that a load spike does not hit a single setting.

    Parameters
    ----------
    machine
        The calibrated machine.
    settings
        Rates and windows.
    fields
        The pairs that each contest is among.
    rounds
        Of the first measurement; the last has five times as many.
    """
    everybody = sorted({pair for field in fields for pair in field})
    first = _measured([(each, pair) for each in settings for pair in everybody], rounds)
    picks = {
        (each, at): machine.best(each.rates, each.windows, field)
        for each in settings
        for at, field in enumerate(fields)
    }
    finalists = []
    for each in settings:
        chosen = {picks[each, at] for at in range(len(fields))}
        for field in fields:
            chosen.update(sorted(field, key=lambda pair: first[each, pair])[:FINALISTS])
        finalists += [(each, pair) for pair in sorted(chosen)]
    final = _measured(finalists, 5 * rounds)
    held = []
    for each in settings:
        costs = {pair: cost for (setting, pair), cost in final.items() if setting == each}
        own = []
        for at, field in enumerate(fields):
            pick = picks[each, at]
            best = min((pair for pair in costs if pair in field), key=costs.__getitem__)
            own.append(Contest(pick, best, costs[pick] / costs[best] - 1))
        held.append(own)
    return held


def _measured(
    joins: Sequence[tuple[Setting, str]], rounds: int
) -> dict[tuple[Setting, str], float]:
    return dict(zip(joins, costs_of(joins, rounds), strict=True))
