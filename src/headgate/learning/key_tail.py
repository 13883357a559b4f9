"""The tail of keys: what rows are worth whose key is too rare to be counted by itself.

A sketch puts each of these keys into a class, by in how many epochs it seems to have come, older
ones counting for less. Keys share its cells, so that alone says little of how often a key will
come. What rows of a class are worth is measured instead: by what watched rows of such keys met.

A cell has four bits: three for the epochs before, which stay as they are until the open one ends,
and the lowest for that one.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headgate.learning.array_text import as_text, from_nibbles, from_text, nibbles
from headgate.learning.key_tally import age_cells, find_levels, raise_cells

MOST = 7
"""A cell counts no further."""
CLASS_OF_CELL = np.array([0, 1, 2, 3, 4, 5, 6, 6], np.uint8)
"""By the lesser of its two cells, the class of a key."""
CLASSES = int(CLASS_OF_CELL[-1]) + 1
COUNTED = CLASSES
"""In place of a class: keys that are counted by themselves."""
NULL_LEVEL = COUNTED + 1
"""And null."""
PRIOR_MATCHES = 4.0
"""Matches that what the whole tail met counts for, where a single class is judged."""
LIKELY_NATS, LIKELY_TREND = 8.0, 2.5
"""Classes are looked at if they predict the tail's matches better by so many nats than if all its
keys were alike, as they would by chance once in twenty times or less; or if keys that came in more
epochs match more, by so many standard errors: few matches tell that."""
LEAST_GAIN = 0.02
"""And if they predict them better by so many nats for each match of any key."""
LEAST_WINDOWS, LEAST_MATCHES = 2.0, 200.0
"""After so many windows and matches of watched rows without that gain, their room is given back."""
TAIL_SEED = 0x7A11


@dataclass
class KeyTail:
    """What is known of keys that are not counted by themselves.

    Parameters
    ----------
    cells
        The sketch.
    sums
        By side and class: what watched rows met, for how many microseconds they waited for it, and
        the squares of what they met.
    matches
        What watched rows of any key met.
    windows
        How many windows have passed since it began.
    is_useless
        Whether its room was given back, because it did not tell keys apart.
    """

    cells: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint8))
    sums: np.ndarray = field(default_factory=lambda: np.zeros((3, 2, CLASSES)))
    matches: float = 0.0
    windows: float = 0.0
    is_useless: bool = False

    def levels(self, hashes: np.ndarray, places: np.ndarray, counted: int) -> np.ndarray:
        """The level of each key, by code: its place where that is below ``counted``; of others
        ``counted`` and their class; and one more for null.

        Examples
        --------
        >>> tail = KeyTail(np.array([3 << 1, 3 << 1], np.uint8))
        >>> hashes = np.array([0, 1, 3, 0], np.uint64) << np.uint64(20)
        >>> tail.levels(hashes, np.array([-1, 0, -1, -1], np.int32), 1).tolist()
        [4, 0, 4, 9]
        """
        found = np.full(len(hashes), counted + COUNTED, np.int32)
        find_levels(hashes, places, np.int64(counted), self.cells, CLASS_OF_CELL, found)
        found[-1] = counted + NULL_LEVEL
        return found

    @property
    def rates(self) -> np.ndarray:
        """By class, and side that comes: rows a microsecond with a key of the class.

        0 as long as classes do not tell keys apart, and for keys that are counted by themselves.

        Examples
        --------
        >>> met = np.eye(2, CLASSES) * 60
        >>> tail = KeyTail(sums=np.stack([met, np.full((2, CLASSES), 100), met]), matches=120)
        >>> tail.rates[[0, 1, 2, COUNTED]].round(3).tolist()
        [[0.027, 0.436], [0.436, 0.027], [0.027, 0.027], [0.0, 0.0]]
        """
        found = np.zeros((CLASSES + 1, 2))
        if self.tells:
            found[:CLASSES] = self._measured[::-1].T
        return found

    @property
    def tells(self) -> bool:
        """Whether classes predict matches better than if all keys of the tail were alike: by more
        than chance, and by enough a match of any key."""
        met, waited, _ = self.sums
        alike, rates = self._alike[:, None], self._measured
        apart = np.divide(rates, alike, out=np.ones_like(rates), where=rates > 0)
        gained = float((met * np.log(apart) - (rates - alike) * waited).sum())
        if gained < LEAST_GAIN * self.matches:
            return False
        return gained >= LIKELY_NATS * self._at_once or self._trend >= LIKELY_TREND

    @property
    def _trend(self) -> float:
        """By how many standard errors keys match more that came in more epochs."""
        met, waited, _ = self.sums
        expected, number = self._alike[:, None] * waited, np.arange(CLASSES)
        total = np.maximum(expected.sum(axis=1, keepdims=True), 1e-300)
        off = number - (expected * number).sum(axis=1, keepdims=True) / total
        chance = self._at_once * float((expected * off**2).sum())
        return float((met * off).sum()) / np.sqrt(chance) if chance > 0 else 0.0

    @property
    def _alike(self) -> np.ndarray:
        """Matches a microsecond of all keys of the tail, by side that waits."""
        met, waited, _ = self.sums.sum(axis=2)
        return np.asarray(met / np.maximum(waited, 1.0))

    @property
    def _at_once(self) -> float:
        """How many matches come together: those of a row of a frequent key say as little as one."""
        met, _, squares = self.sums.sum(axis=(1, 2))
        return max(float(squares / met), 1.0) if met > 0 else 1.0

    @property
    def _measured(self) -> np.ndarray:
        """Matches a microsecond, by side that waits and class."""
        (met, waited, _), alike = self.sums, self._alike[:, None]
        prior = PRIOR_MATCHES * self._at_once
        prior_us = np.divide(prior, alike, out=np.ones_like(alike), where=alike > 0)
        rates: np.ndarray = np.where(alike > 0, (met + prior) / (waited + prior_us), 0.0)
        return rates

    def fit(self, cells: int) -> None:
        """Have so many cells: empty ones if there were others."""
        if len(self.cells) != cells:
            self.cells = np.zeros(cells, np.uint8)

    def forget(self, windows: float, factor: float, seed: int, at: int) -> None:
        """At the end of an epoch: discount what is known by a factor, and take in what came.

        Cells are whole numbers: each is rounded up or down by a random number, which depends on
        the seed and on where the epoch ended (``at``).
        """
        self.sums, self.matches = self.sums * factor, self.matches * factor
        self.windows += windows
        stream = np.uint64((seed ^ TAIL_SEED) % (1 << 64))
        self.cells = self.cells.copy()
        age_cells(self.cells, factor, np.int64(MOST), stream, np.int64(at * len(self.cells)))

    def add_keys(self, marks: np.ndarray, counts: np.ndarray) -> None:
        """Take in keys that were counted by themselves until now."""
        if len(self.cells):
            whole = np.minimum(np.rint(counts), MOST).astype(np.uint8)
            raise_cells(marks, whole, self.cells)

    def add(self, sums: np.ndarray, matches: float) -> None:
        """Take in an epoch, in the precision in which it is kept.

        Once it has long told nothing, its room is given back.
        """
        self.sums = (self.sums + sums).astype(np.float32).astype(np.float64)
        self.matches += matches
        is_known = self.windows >= LEAST_WINDOWS and self.matches >= LEAST_MATCHES
        if is_known and not self.tells:
            self.is_useless, self.cells = True, np.zeros(0, np.uint8)

    def facts(self) -> dict[str, Any]:
        """As plain numbers and text."""
        return {
            "cells": as_text(nibbles(self.cells), np.uint8),
            "sums": as_text(self.sums, np.float32),
            "matches": self.matches,
            "windows": self.windows,
            "is_useless": self.is_useless,
        }

    @classmethod
    def of(cls, facts: dict[str, Any]) -> "KeyTail":
        """From what `facts` gave."""
        return cls(
            from_nibbles(from_text(facts["cells"], np.uint8, (-1,))),
            from_text(facts["sums"], np.float32, (3, 2, CLASSES)).astype(np.float64),
            float(facts["matches"]),
            float(facts["windows"]),
            bool(facts["is_useless"]),
        )
