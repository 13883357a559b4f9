"""The price at which it just pays to keep a row, for each class of rows: its Gittins index.

For each of several prices of a microsecond, going back from the end of the window: what a row is
worth if it is kept as long as its matches pay for it. The index is the price at which keeping it
pays nothing.
"""

from typing import Any, NamedTuple

import numpy as np

from headgate.compiling import compiled
from headgate.models.density_classes import GAPS, MATCHES, DensityClasses

STEPS_A_CLASS = 2
PRICES, PRICES_AN_OCTAVE = 24, 2.0
MOVES_UP = (1.0, 1.0, 0.5, 0.0)
"""The chance that one match more brings a row into the next class of matches."""


def indices(rates: np.ndarray, classes: DensityClasses, side: int) -> np.ndarray:
    """The index of each class of rows, from their rates by key rate, matches, gap and age."""
    window = classes.windows_us[side]
    edges = np.minimum(classes.age_edges(side), window)
    gaps = np.minimum(classes.gap_edges(side), window)
    steps = np.diff(edges) / STEPS_A_CLASS
    # A row that has met nobody has been waiting as long as it is old.
    after = np.searchsorted(gaps, edges[:-1] + steps, side="right") - 1
    later = np.minimum(steps[:, None] / np.maximum(np.diff(gaps), 1), 1.0)
    rates = np.ascontiguousarray(np.moveaxis(rates, -1, 1), np.float64)
    prices = rates.max(axis=(1, 2, 3))[:, None] * 2.0 ** (-np.arange(PRICES) / PRICES_AN_OCTAVE)
    chance = -np.expm1(-rates * steps[:, None, None])
    found = np.zeros_like(rates)
    aging = Aging(steps, later, np.minimum(after, GAPS - 1))
    fill_indices(
        Matching(rates, chance), prices, aging, np.zeros((2, PRICES, MATCHES, GAPS)), found
    )
    found = np.where((steps > 0)[:, None, None], np.maximum(found, rates), rates)
    by_age: np.ndarray = np.moveaxis(found, 1, -1)
    return by_age


class Matching(NamedTuple):
    """What rows meet, by class of key rate, age, matches and gap."""

    rates: np.ndarray
    """Matches a microsecond."""
    chance: np.ndarray
    """Of any in a step."""


class Aging(NamedTuple):
    """How rows get older, by class of age."""

    steps: np.ndarray
    """How long a step takes."""
    later: np.ndarray
    """The part of each class of gaps that passes in it."""
    after: np.ndarray
    """The gap that a row has after it that has met nobody."""


@compiled
def fill_indices(
    matching: Matching, prices: np.ndarray, aging: Aging, room: np.ndarray, found: np.ndarray
) -> None:
    """Add up the indices of all classes.

    Parameters
    ----------
    prices
        By class of key rate, falling.
    room
        For what rows are worth, and what it is worth to keep them, by price, matches and gap.
    """
    worth, kept = room[0], room[1]
    for rate in range(found.shape[0]):
        worth[:] = 0.0
        for age in range(found.shape[1] - 1, -1, -1):
            if aging.steps[age] <= 0:
                continue
            for _ in range(STEPS_A_CLASS):
                for price in range(PRICES):
                    keep(
                        matching,
                        aging,
                        (rate, age),
                        prices[rate, price],
                        (worth[price], kept[price]),
                    )
                for met in range(MATCHES):
                    for gap in range(GAPS):
                        zero = pays_nothing(kept, prices[rate], met, gap)
                        found[rate, age, met, gap] += zero / STEPS_A_CLASS
                for price in range(PRICES):
                    for met in range(MATCHES):
                        for gap in range(GAPS):
                            worth[price, met, gap] = max(kept[price, met, gap], 0.0)


@compiled
def keep(
    matching: Matching,
    aging: Aging,
    where: tuple[int, int],
    price: float,
    worths: tuple[np.ndarray, np.ndarray],
) -> None:
    """What it is worth to keep rows for a step at a price, given what they are worth after it."""
    rate, age = where
    worth, kept = worths
    for met in range(MATCHES):
        matched = worth[met, 0]
        if met + 1 < MATCHES:
            matched += MOVES_UP[met] * (worth[met + 1, 0] - matched)
        for gap in range(GAPS):
            if met == 0:
                moved = worth[0, aging.after[age]]
            else:
                moved = worth[met, gap]
                if gap + 1 < GAPS:
                    moved += aging.later[age, gap] * (worth[met, gap + 1] - moved)
            chance = matching.chance[rate, age, met, gap]
            gain = (matching.rates[rate, age, met, gap] - price) * aging.steps[age]
            kept[met, gap] = gain + chance * matched + (1 - chance) * moved


@compiled
def pays_nothing(kept: np.ndarray, prices: np.ndarray, met: int, gap: int) -> Any:
    """The price at which keeping a row pays nothing, between the two prices around it."""
    first = 0
    while first < PRICES - 1 and kept[first, met, gap] <= 0:
        first += 1
    low, gain = prices[first], kept[first, met, gap]
    if first == 0 or gain <= 0:
        return low
    loss = kept[first - 1, met, gap]
    span = gain - loss if gain > loss else 1.0
    share = min(gain / span, 1.0)
    return low + (prices[first - 1] - low) * share
