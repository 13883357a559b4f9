"""Sums over the future: weight times probability of each step ahead, for many values at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headgate.models.process import Now, Process
from headgate.models.survival import ExponentialLife, Survival
from headgate.models.visits import Visits
from headgate.spec import SpecError

TOLERANCE = 1e-12
"""The value of L at which a sum may end."""
MOST_STEPS = 4096
"""Where a sum ends if L never falls: long enough for caching and for recurring values."""
BLOCK = 1_000_000
"""Probabilities held in memory at a time."""


@dataclass(frozen=True)
class VisitWeights:
    """The weight of a visit at each step ahead, for each window.

    ``near`` has the steps up to those from which chances repeat, ``far`` the rest, added up by
    step of the period. Both are of shape (windows, steps, values), or one column for all values.
    """

    near: np.ndarray
    far: np.ndarray
    far_from: int


def check_sum(survival: Survival, caching: bool, rate: float) -> None:
    """Refuse sums that do not converge or do not mean anything."""
    if survival.caching_only and not caching:
        raise SpecError(
            f"{survival!r} is for caching alone: sums over a whole future do not converge; "
            "for a join use ExponentialLife or FixedLife"
        )
    if not (np.isfinite(rate) and rate > 0):
        raise SpecError(f"rate={rate!r} is not a positive number of rows a step")
    if caching and rate != 1:
        raise SpecError(
            f"rate={rate!r}: for caching a step is a row of the reference stream, so the rate is 1"
        )


def horizon_of(process: Process, survival: Survival, window: int | None, now: Now | None) -> int:
    """How many steps ahead a sum goes."""
    if window is not None and (window != int(window) or window < 0):
        raise SpecError(f"window={window!r} is not a number of steps, 0 or more, or None")
    lasts = survival.horizon(TOLERANCE)
    steps = MOST_STEPS if lasts is None else lasts
    ends = None if now is None else process.ends(now)
    return min(each for each in (steps, window, ends) if each is not None)


def total_benefit(
    process: Process,
    nows: Sequence[Now],
    values: np.ndarray,
    survival: Survival,
    caching: bool,
    windows: Sequence[int | None],
    visits: Visits | None = None,
) -> np.ndarray:
    """H of each value, for each state of the stream and each window left; values ascending.

    The states must be of one step. Of shape (states, windows, values).
    """
    horizons = [horizon_of(process, survival, window, nows[0]) for window in windows]
    lives = survival.at(np.arange(1, max(horizons, default=0) + 1))
    if caching and not process.markov and not _closed(process, survival, windows):
        return _first_visits(process, nows, values, lives, horizons)
    visits = (visits or Visits(process)) if caching else None
    weights = _weights(
        process, nows, values, survival=survival, visits=visits, windows=windows, horizons=horizons
    )
    everything = np.zeros((len(nows), len(windows), len(values)))
    near = weights.near.shape[1]
    for place, now in enumerate(nows):
        _add(process, now, values, weights.near, np.arange(1, near + 1), everything[place])
    if weights.far.shape[1]:
        ahead = weights.far_from + np.arange(weights.far.shape[1])
        shared = np.zeros(everything.shape[1:])
        _add(process, nows[0], values, weights.far, ahead, shared)
        everything += shared
    return everything


def _closed(process: Process, survival: Survival, windows: Sequence[int | None]) -> bool:
    """Whether the closed form of the weights applies to every window."""
    endless = all(window is None for window in windows)
    settled = process.markov or process.settles(np.zeros(0, np.int64)) is not None
    return endless and settled and isinstance(survival, ExponentialLife)


def _weights(
    process: Process,
    nows: Sequence[Now],
    values: np.ndarray,
    survival: Survival,
    visits: Visits | None,
    windows: Sequence[int | None],
    horizons: Sequence[int],
) -> VisitWeights:
    """The weights of visits: L itself for a join, first-visit weights for caching."""
    longest = max(horizons, default=0)
    presents = np.array([now.value for now in nows], np.int64)
    settles = process.settles(presents)
    near = longest if settles is None else min(settles[0] - 1, longest)
    period = 0 if settles is None or near >= longest else settles[1]
    nears, fars = [], []
    for window, horizon in zip(windows, horizons, strict=True):
        ahead = np.arange(1, horizon + 1)
        if visits is None:
            each = survival.at(ahead)[:, None]
        elif window is None and isinstance(survival, ExponentialLife):
            base = visits.endless(values, survival.alpha, horizon)
            # Rounds of the period after the first are worth the same, less what decays.
            rounds = -np.expm1(-period / survival.alpha) if period else 1.0
            once = ahead[: near + period]
            each = survival.at(once)[:, None] * base[(nows[0].step + once) % len(base)]
            each[near:] /= rounds
        else:
            each = visits.until(nows[0].step, values, survival.at(ahead))
        first = np.zeros((near, each.shape[1]))
        first[: min(near, horizon)] = each[:near]
        nears.append(first)
        fars.append(_folded(each[near:], period))
    return VisitWeights(np.stack(nears), np.stack(fars), near + 1)


def _folded(weights: np.ndarray, period: int) -> np.ndarray:
    """Weights of steps a whole number of periods apart, added up."""
    if period == 0:
        return weights[:0]
    rounds = -(-len(weights) // period)
    padded = np.zeros((rounds * period, weights.shape[1]))
    padded[: len(weights)] = weights
    folded: np.ndarray = padded.reshape(rounds, period, weights.shape[1]).sum(axis=0)
    return folded


def _add(
    process: Process,
    now: Now,
    values: np.ndarray,
    weights: np.ndarray,
    ahead: np.ndarray,
    totals: np.ndarray,
) -> None:
    """Add weights times chances to the totals, block by block, where there is any chance."""
    size = _rows(values)
    for first in range(0, len(ahead), size):
        block = ahead[first : first + size]
        some = _some(process, now, values, block)
        if some.stop <= some.start:
            continue
        chances = process.chance(values[some], now, block)
        share = weights[:, first : first + size]
        if share.shape[2] == 1:
            totals[:, some] += share[:, :, 0] @ chances
        else:
            totals[:, some] += np.einsum("nav,av->nv", share[:, :, some], chances)


def _first_visits(
    process: Process,
    nows: Sequence[Now],
    values: np.ndarray,
    lives: np.ndarray,
    horizons: Sequence[int],
) -> np.ndarray:
    """H of independent values, by the chance that none has come yet; the same for all states."""
    ahead = np.arange(1, len(lives) + 1)
    counts = lives * (ahead <= np.array(horizons)[:, None])
    totals = np.zeros((len(horizons), len(values)))
    unseen = np.ones(len(values))
    size = _rows(values)
    for first in range(0, len(ahead), size):
        block = ahead[first : first + size]
        some = _some(process, nows[0], values, block)
        if some.stop <= some.start:
            continue
        chances = process.chance(values[some], nows[0], block)
        still = np.cumprod(1 - chances, axis=0)
        before = np.vstack([np.ones_like(still[:1]), still[:-1]]) * unseen[some]
        totals[:, some] += counts[:, first : first + size] @ (chances * before)
        unseen[some] *= still[-1]
    return np.broadcast_to(totals, (len(nows), *totals.shape))


def _rows(values: np.ndarray) -> int:
    """Steps ahead that are summed at a time; few enough that most values have no chance in them."""
    return int(np.clip(BLOCK // max(len(values), 1), 16, 256))


def _some(process: Process, now: Now, values: np.ndarray, ahead: np.ndarray) -> slice:
    """The stretch of ascending values that have a chance within these steps."""
    low, high = process.spread(now, ahead, TOLERANCE**2)
    return slice(
        int(np.searchsorted(values, low.min(), "left")),
        int(np.searchsorted(values, high.max(), "right")),
    )
