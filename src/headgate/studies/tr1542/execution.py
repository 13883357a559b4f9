"""Streams that follow the frequency model, and plans executed on them by the engine."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from headgate.kernel.layout import Count
from headgate.kernel.rows import Rows
from headgate.kernel.step import Step
from headgate.kernel.step_input import StepInput
from headgate.kernel.terms import Terms
from headgate.models.skipping import SkippingPlan, Workload
from headgate.policies import Fifo
from headgate.spec import TimeWindow
from headgate.spec.quantity import SECOND_US
from headgate.studies.trial import START_US

EVEN, ALIKE, UNRELATED, INVERSE = "even", "Zipf, alike", "Zipf, unrelated", "Zipf, inverse"
KEYS = 50
BLOCK_S = 2500.0
"""A block has exactly the frequencies of the model, in random order; the first is not counted."""
LEAST_BLOCKS, MOST_BLOCKS = 4, 240


def frequencies(keys: str, exponent: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """How often each key comes on the left and on the right."""
    even, zipf = np.full(KEYS, 1 / KEYS), np.arange(1, KEYS + 1) ** -exponent
    zipf /= zipf.sum()
    other = np.random.default_rng(7).permutation(KEYS)
    return {
        EVEN: (even, even),
        ALIKE: (zipf, zipf),
        UNRELATED: (zipf, zipf[other]),
        INVERSE: (zipf, zipf[::-1]),
    }[keys]


def counts(
    keys: str, rates: tuple[float, float], exponent: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of each key in a block: whole numbers, so the frequencies are as good as these."""
    left, right = (
        np.rint(share * rate * BLOCK_S).astype(np.int64)
        for share, rate in zip(frequencies(keys, exponent), rates, strict=True)
    )
    return left, right


def workload(
    keys: str,
    rates: tuple[float, float],
    windows: tuple[float, float],
    update: float,
    budget: float,
    exponent: float = 1.0,
) -> Workload:
    """The join of two such streams where a pair costs 1; the budget is a share of what all of it
    costs."""
    left, right = counts(keys, rates, exponent)
    join = Workload(left / BLOCK_S, right / BLOCK_S, windows, update, produce=1.0, budget=0.0)
    return join.within(budget * join.exact_cost)


@lru_cache(maxsize=2)
def streams(
    keys: str, rates: tuple[float, float], seed: int, exponent: float = 1.0
) -> tuple[Rows, Rows]:
    """As many blocks as are ever needed, rows at random times within their block."""
    random = np.random.default_rng(seed)
    sides = []
    for count in counts(keys, rates, exponent):
        deck = np.repeat(np.arange(KEYS, dtype=np.int32), count)
        code = random.permuted(np.tile(deck, (MOST_BLOCKS, 1)), axis=1)
        within = np.sort(random.random(code.shape), axis=1)
        seconds = (np.arange(MOST_BLOCKS)[:, np.newaxis] + within) * BLOCK_S
        time = START_US + (seconds.ravel() * SECOND_US).astype(np.int64)
        ones = np.ones(code.size)
        sides.append(Rows.of_arrivals(time, code.ravel(), ones.astype(np.int64), ones))
    return sides[0], sides[1]


def blocks_for(join: Workload, plan: SkippingPlan, error: float) -> int:
    """How many blocks bring the relative standard error of the output down to so much.

    A row's coin decides on the pairs it makes when it comes and on those it makes once stored;
    beside the coins, pairs come by chance.
    """
    mean = plan.output * BLOCK_S
    if not mean:
        return LEAST_BLOCKS
    variance = mean
    for side, other in ((0, 1), (1, 0)):
        found = join.matches[other] * join.rates[other] / np.maximum(join.rates[side], 1e-300)
        early, late = found * plan.insert[other], join.matches[side] * plan.probe[other]
        probe, insert = plan.probe[side], plan.insert[side]
        both = 2 * early * late * np.minimum(probe, insert)
        squares = early**2 * probe + late**2 * insert + both
        spread = squares - (early * probe + late * insert) ** 2
        variance += float((join.rates[side] * BLOCK_S * spread).sum())
    return int(np.clip(np.ceil(variance / (mean * error) ** 2), LEAST_BLOCKS, MOST_BLOCKS - 1))


@dataclass(frozen=True)
class Measured:
    """Measured results of a plan, per second."""

    output: float
    cost: float
    pairs: int
    """Counted in all."""


def execute(
    join: Workload, plan: SkippingPlan, sides: tuple[Rows, Rows], blocks: int, seed: int
) -> Measured:
    """Execute a plan on so many blocks of the streams, after one that fills the windows."""
    left_window, right_window = (TimeWindow(round(each * SECOND_US)) for each in join.windows)
    terms = Terms((left_window, right_window), Fifo(), seed=seed)
    left_start, right_start = (_told(sides[side], side, plan, 0, 1) for side in (0, 1))
    left, right = (_told(sides[side], side, plan, 1, 1 + blocks) for side in (0, 1))
    nothing = (Rows.empty(), Rows.empty())
    start = Step(StepInput(terms, nothing, (left_start, right_start), KEYS))
    for _ in start.pairs():
        pass
    kept = (
        start.survivors(0, nothing[0], left_start),
        start.survivors(1, nothing[1], right_start),
    )
    step = Step(StepInput(terms, kept, (left, right), KEYS, start.after))
    pairs = step.count_pairs()
    admitted = int(step.counts[Count.ADMITTED].sum())
    lasts = blocks * BLOCK_S
    cost = admitted * join.update + pairs * join.produce
    return Measured(pairs / lasts, cost / lasts, pairs)


def _told(rows: Rows, side: int, plan: SkippingPlan, first: int, last: int) -> Rows:
    """Some blocks of a side, each row with its shares."""
    block = len(rows.time) // MOST_BLOCKS
    own = rows.take(np.arange(first * block, last * block))
    return own._replace(effort=np.array([plan.probe[side][own.code], plan.insert[side][own.code]]))
