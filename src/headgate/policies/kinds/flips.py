"""Sampling of single pairs: coins flipped in advance choose which of a row's matches to keep."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from headgate.compiling import compiled
from headgate.policies.kinds.kind import Block, Given, Kind
from headgate.policies.kinds.plain_chance import coin, tails_before
from headgate.policies.kinds.plain_score import PlainRow, PlainScore, ScoreMoment
from headgate.policies.policy import Sampler
from headgate.policies.structures import coins
from headgate.policies.structures.coins import FLIP, Coins


@compiled
def keep_chosen(
    arrays: Any, own: Coins, row: int, block: Block, first: int, end: int
) -> tuple[int, Any]:
    """Keep the sampled pairs; partners without further sampled matches are to be removed."""
    if arrays.terms[0].count_only:
        return end, np.int64(0)
    return coins.keep_chosen(arrays, own, block, first, end)


class PlainFlips(PlainScore):
    """Coin flips in plain Python."""

    def redefine(self, definition: int) -> None:
        """Do nothing: coins do not depend on importance."""
        self._flipped: dict[tuple[int, int], list[tuple[int, float]]] = {}

    def chooses(self, stored: PlainRow, threshold: float) -> bool:
        """Whether the coin of this match shows heads, at a level that memory still allows."""
        stored.matches += 1
        levels = [level for place, level in self._heads(stored) if place == stored.matches]
        return any(self.policy.share * level * threshold < 1.0 for level in levels)

    def is_spent(self, stored: PlainRow) -> bool:
        """Whether the row has no heads left."""
        return not any(place > stored.matches for place, _ in self._heads(stored))

    def worth(self, row: PlainRow, now: ScoreMoment) -> tuple[float, int]:
        """The inverse of the lowest level among the row's remaining heads."""
        levels = [level for place, level in self._heads(row) if place > row.matches]
        return (1.0 / (self.policy.share * min(levels)) if levels else 0.0), row.position

    def _heads(self, row: PlainRow) -> list[tuple[int, float]]:
        """The sampled matches of a row and their levels, in order."""
        key = row.side, row.sequence
        if key not in self._flipped:
            heads: list[tuple[int, float]] = []
            most = int(self.policy.most_matches(np.array([row.weight]))[0])
            place, draw = 0, 0
            while True:
                number, level = coin(self.policy.seed, row.side, row.sequence, draw)
                place += 1 + tails_before(number, self.policy.share)
                draw += 1
                if place > most:
                    break
                heads.append((place, level))
            self._flipped[key] = heads
        return self._flipped[key]


class FlipsKind(Kind):
    """A heap of rows by the score of their best remaining head."""

    name = "flips"
    keeps_history = True
    chooses_pairs = True
    plain = PlainFlips
    on_pairs = keep_chosen

    @staticmethod
    def arrays(given: Given) -> Coins:
        """The coins of each row, in event order."""
        flips = np.zeros(len(given.order), FLIP)
        flips["most"] = given.policy.most_matches(given.arrivals.weight)[given.order]
        return Coins(flips, np.array([given.policy.share], np.float64))

    @staticmethod
    @cache
    def no_arrays() -> Coins:
        """No coins."""
        return Coins(np.empty(0, FLIP), np.ones(1))

    @staticmethod
    def take_up(policy: Any, arrays: Any, own: Coins) -> None:
        """Replay the coins of stored rows, since only their match counts are stored."""
        coins.take_up(arrays, own)


@dataclass(frozen=True)
class Flips(Sampler):
    """Base of samplers of single pairs: a coin per expected match, flipped on arrival.

    A row's score is the inverse of the lowest level among its remaining sampled matches.
    """

    kind: ClassVar[type[Kind]] = FlipsKind
    by_cluster: ClassVar[bool] = False

    @property
    @abstractmethod
    def share(self) -> float:
        """The probability that a match is sampled, while memory suffices."""

    @property
    @abstractmethod
    def seed(self) -> int:
        """Seed of the coins."""

    @abstractmethod
    def most_matches(self, weight: np.ndarray) -> np.ndarray:
        """How many matches to flip coins for, from the key's weight; int32."""

    def coin_seed(self, seed: int) -> int:
        """The sampler's own seed."""
        return self.seed
