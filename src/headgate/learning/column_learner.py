"""Learns what the columns of rows tell: examples, the model, and whether it is used.

Examples are watched rows, of which all is known that they would have met, stored or not: those
whose window is open, and some of those whose window has passed. At the end of an epoch trees are
grown on them (`class_learning.py`). They are used only while they do better than what there is on
rows that they were not grown on: see `Judgement`.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from headgate.learning.array_text import as_text, from_text
from headgate.learning.class_learning import UNITS, WIDTHS, Grown, Lives, grow, root_rates
from headgate.models.class_ages import AGES, MOST_CLASSES, PARTS, ClassAges
from headgate.models.column_tree import ColumnTree
from headgate.policies.chance import uniform

VERSION = 1
"""Of what is written."""
BESIDE = 2
"""Traits beside the columns: matches that a row's key lets expect, and its group; groups are by the
hash of the key."""
GROUPS, FOLDS = 16, 4
LEAST_MATCHES = 20.0
"""Of the examples, before anything can be told."""
ERRORS, LEAST_LEAD = 2.0, 0.02
LASTS_WINDOWS = 4.0
"""After so many windows an example is forgotten."""
EXAMPLES_A_CLASS = 16
EXAMPLE_BYTES = 60
"""What an example takes beside its traits, its part of the model included; a watched row takes less
for them."""
TRAIT_BYTES = 4
LOT = 0xFEA7


class Examples(NamedTuple):
    """Watched rows whose window has passed; an entry for each."""

    side: np.ndarray  # uint8
    time: np.ndarray  # int64
    sequence: np.ndarray  # int64
    traits: np.ndarray  # float32 (row, trait)
    met: np.ndarray  # uint16 (row, age)

    @classmethod
    def none(cls, traits: int) -> "Examples":
        """No rows."""
        times = np.zeros(0, np.int64)
        return cls(
            times.astype(np.uint8),
            times,
            times,
            np.zeros((0, traits), np.float32),
            np.zeros((0, AGES), np.uint16),
        )

    def where(self, which: np.ndarray) -> "Examples":
        """Some of them."""
        return Examples(*(column[which] for column in self))

    def followed_by(self, others: "Examples") -> "Examples":
        """These, then those."""
        return Examples(*(np.concatenate(both) for both in zip(self, others, strict=True)))

    def drawn(self, most: int, seed: int) -> "Examples":
        """So many of them at most, by lot, in event order: the same however they came together."""
        lots = uniform(seed ^ LOT, self.side, self.sequence)
        kept = np.argsort(lots, kind="stable")[:most]
        rows = self.where(kept)
        return rows.where(np.lexsort((rows.sequence, rows.time, rows.side)))


class Judgement(NamedTuple):
    """What the model would keep of the matches of rows that it was not grown on, beside others.

    The rows are parted by their key into four; for each part trees are grown on the other three.
    Every row at every age is ranked, and as much of their time is kept as memory holds: by the
    model, by age alone, and by how often keys come.
    """

    kept: np.ndarray
    """By group of keys, the matches kept by the model."""
    others: np.ndarray
    """And by the best of the others."""

    @property
    def lead(self) -> float:
        """What the model keeps, of what the others do."""
        return float(self.kept.sum()) / max(float(self.others.sum()), 1e-12)

    def prefers(self, is_used: bool) -> bool:
        """Whether to use the model: it must lead by two standard errors and 2 %; once it is used,
        it must not fall behind."""
        ahead = self.kept - self.others
        lead = float(ahead.sum())
        if is_used:
            return lead > 0
        error = float(np.sqrt(len(ahead)) * ahead.std(ddof=1))
        return lead > ERRORS * error and lead > LEAST_LEAD * float(self.others.sum())


@dataclass
class ColumnLearner:
    """Examples and the model learned from them.

    Parameters
    ----------
    windows_us
        The sides' windows.
    are_numbers
        Of each side, which traits are numbers; none where no column is to tell anything.
    """

    windows_us: tuple[int, int]
    are_numbers: tuple[tuple[bool, ...], tuple[bool, ...]] = ((), ())
    seed: int = 0
    examples: Examples = field(init=False)
    trees: tuple[ColumnTree, ColumnTree] = (ColumnTree(), ColumnTree())
    lead: float = 1.0
    """What the model keeps on rows that it was not grown on, for each match the others keep."""
    rates: tuple[np.ndarray, np.ndarray] | None = None
    """Of the trees' classes, in matches a window, by class and age; None before any are used."""

    def __post_init__(self) -> None:
        self.examples = Examples.none(self.traits)

    @property
    def learns(self) -> bool:
        """Whether columns were named."""
        return any(self.are_numbers)

    @property
    def traits(self) -> int:
        """Numbers that are kept of each row."""
        return max(map(len, self.are_numbers)) + BESIDE if self.learns else 0

    @property
    def row_bytes(self) -> int:
        """What a watched row takes for this."""
        return TRAIT_BYTES * self.traits + EXAMPLE_BYTES if self.learns else 0

    @property
    def is_used(self) -> bool:
        """Whether the model is better than what there is."""
        return self.rates is not None

    def ages(self) -> ClassAges | None:
        """The match rates of classes, while they are used."""
        if self.rates is None:
            return None
        left, right = (
            rates / max(window, 1)
            for rates, window in zip(self.rates, self.windows_us, strict=True)
        )
        return ClassAges(self.windows_us, (left, right))

    def take_in(self, passed: Examples, most: int) -> None:
        """Add rows whose window has passed; keep so many at most, by lot."""
        known = ~np.isnan(passed.traits[:, -1])
        if known.any():
            both = self.examples.followed_by(passed.where(known))
            self.examples = both.drawn(most, self.seed)

    def learn(self, opened: Examples, now_us: int, share: float, most: int) -> None:
        """At the end of an epoch: grow trees, and judge them where memory holds such a share of the
        windows; ``opened`` are the rows whose window is open."""
        oldest = now_us - int(LASTS_WINDOWS * max(self.windows_us))
        self.examples = self.examples.where(self.examples.time >= oldest).drawn(most, self.seed)
        known = opened.where(~np.isnan(opened.traits[:, -1]))
        rows = self.examples.followed_by(known)
        sides = tuple(self._lives(rows.where(rows.side == side), side, now_us) for side in (0, 1))
        if sum(side.met.sum() for side in sides) < LEAST_MATCHES:
            self.rates = None
            return
        classes = min(max(most // EXAMPLES_A_CLASS, 2), MOST_CLASSES)
        judgement = judge(sides, self, share, classes)
        if not judgement.prefers(self.is_used):
            self.rates = None
            return
        self.lead = judgement.lead
        left, right = (self.grown(lives, side, classes) for side, lives in enumerate(sides))
        self.trees, self.rates = (left.tree, right.tree), (left.rates, right.rates)

    def grown(self, rows: Lives, side: int, most: int) -> Grown:
        """A tree on some rows of a side."""
        width = self.traits - BESIDE - len(self.are_numbers[side])
        # A side with fewer columns has nulls in their place; the key's matches are a number.
        numbers = (*self.are_numbers[side], *[True] * (width + 1))
        return grow(rows, numbers, most)

    def _lives(self, rows: Examples, side: int, now_us: int) -> Lives:
        window = max(self.windows_us[side], 1)
        part = np.clip((now_us - rows.time) / window, 0.0, 1.0)[:, None]
        waited = np.clip(np.floor((part - PARTS) / WIDTHS * UNITS), 0.0, UNITS)
        if not self.windows_us[side]:
            waited[:] = 0.0
        return Lives(rows.traits, rows.met.astype(np.float64), waited)

    def facts(self) -> dict[str, Any]:
        """As plain numbers and text."""
        rates = None if self.rates is None else [side.tolist() for side in self.rates]
        kinds = ("u1", "i8", "i8", "f4", "u2")
        return {
            "version": VERSION,
            "numbers": [list(side) for side in self.are_numbers],
            "rows": len(self.examples.time),
            "examples": [
                as_text(column, kind) for column, kind in zip(self.examples, kinds, strict=True)
            ],
            "trees": [tree.facts() for tree in self.trees],
            "rates": rates,
            "lead": self.lead,
        }

    def recall_facts(self, facts: dict[str, Any]) -> None:
        """Restore what `facts` wrote; of other columns, or another version, nothing is taken up."""
        numbers = [list(side) for side in self.are_numbers]
        if facts["version"] != VERSION or facts["numbers"] != numbers:
            return
        side, time, sequence, traits, met = facts["examples"]
        rows = facts["rows"]
        self.examples = Examples(
            from_text(side, np.uint8, (rows,)),
            from_text(time, np.int64, (rows,)),
            from_text(sequence, np.int64, (rows,)),
            from_text(traits, np.float32, (rows, self.traits)),
            from_text(met, np.uint16, (rows, AGES)),
        )
        left, right = (ColumnTree.of(tree) for tree in facts["trees"])
        self.trees, self.lead = (left, right), facts.get("lead", 1.0)
        if facts["rates"] is not None:
            first, second = (np.array(rates, np.float64) for rates in facts["rates"])
            self.rates = (first, second)


def judge(
    sides: tuple[Lives, ...], learner: ColumnLearner, share: float, classes: int
) -> Judgement:
    """How the model does on rows that it was not grown on, where so much time can be kept."""
    kept = [np.zeros(GROUPS) for _ in range(3)]
    for fold in range(FOLDS):
        cells = [_held_out(lives, side, learner, fold, classes) for side, lives in enumerate(sides)]
        group, met, waited = (
            np.concatenate([cell[at] for cell in cells]) for at in ("group", "met", "waited")
        )
        for which, name in enumerate(("model", "age", "key")):
            scores = np.concatenate([cell[name] for cell in cells])
            part = kept_parts(scores, waited, share)
            kept[which] += np.bincount(group, met * part, minlength=GROUPS)
    model, *others = kept
    return Judgement(model, max(others, key=lambda each: float(each.sum())))


def _held_out(
    lives: Lives, side: int, learner: ColumnLearner, fold: int, classes: int
) -> dict[str, np.ndarray]:
    """Rows of a part at each age: group, what they met, how long they waited, and their ranks by
    the model, by age and by key."""
    group = lives.traits[:, -1].astype(np.int64)
    held = group % FOLDS == fold
    window = max(learner.windows_us[side], 1)
    windows = (window, window)
    rows = lives.where(held)
    if learner.windows_us[side] and held.any() and not held.all():
        others = lives.where(~held)
        grown = learner.grown(others, side, classes)
        usual = root_rates(others)[None]
    else:
        grown, usual = Grown(ColumnTree(), np.zeros((1, AGES))), np.zeros((1, AGES))
    by_class = ClassAges(windows, (grown.rates / window, usual / window))
    model = by_class.scores(0)[grown.tree.classes(rows.traits)]
    key = np.repeat(rows.traits[:, -BESIDE, None].astype(np.float64) / window, AGES, axis=1)
    age = np.repeat(by_class.scores(1), len(rows.met), axis=0)
    waited = rows.waited * (WIDTHS / UNITS * window)
    some = waited.ravel() > 0
    found = {"met": rows.met, "waited": waited, "model": model, "age": age, "key": key}
    cells = {name: values.ravel()[some] for name, values in found.items()}
    return {"group": np.repeat(group[held], AGES)[some], **cells}


def kept_parts(scores: np.ndarray, waited: np.ndarray, share: float) -> np.ndarray:
    """The part of each cell that is kept, those of highest score first; equal scores share alike.

    Examples
    --------
    >>> kept_parts(np.array([1.0, 3.0, 1.0]), np.array([10.0, 10.0, 10.0]), 0.5).tolist()
    [0.25, 1.0, 0.25]
    """
    levels, level = np.unique(-scores, return_inverse=True)
    time = np.bincount(level, waited, minlength=len(levels))
    before = np.cumsum(time) - time
    part = np.clip((share * time.sum() - before) / np.maximum(time, 1e-9), 0.0, 1.0)
    found: np.ndarray = part[level]
    return found
