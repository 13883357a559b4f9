"""Study: a grid of cells to measure, with a paper's claims and figures over the results.

A study is data. `run.py` and `study_report.py` run it, save its results and judge its claims, the
same way for every paper.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import product
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

Row = Mapping[str, Any]


@dataclass(frozen=True)
class StudyCell:
    """One point of a study's grid, measured independently.

    Examples
    --------
    >>> cell = StudyCell("fig7", (("policy", "AGE"), ("memory", 10)), seed=1, quick=True)
    >>> cell["policy"]
    'AGE'
    """

    study: str
    at: tuple[tuple[str, Any], ...]
    seed: int
    quick: bool
    """Whether a shorter run will do."""

    def __getitem__(self, axis: str) -> Any:
        return dict(self.at)[axis]

    def rows(self, measured: Sequence[Row]) -> list[dict[str, Any]]:
        """What was measured, each row with its place in the grid in front."""
        return [{**dict(self.at), "seed": self.seed, **row} for row in measured]


@dataclass(frozen=True)
class ClaimFinding:
    """Whether a claim held on the results, and the figures that show it."""

    holds: bool
    measured: str


@dataclass(frozen=True)
class Claim:
    """Something the paper says, as a check on the results.

    Parameters
    ----------
    name
        A few words, hyphenated; unique within the study.
    says
        The claim in a sentence, with the tolerance it is held to.
    check
        Judges the results of the whole study.
    departs
        Where the claim is known not to reproduce: the evidence and the likely cause. A declared
        departure is a result; an undeclared one is a failure.
    """

    name: str
    says: str
    check: Callable[[pd.DataFrame], ClaimFinding]
    departs: str = ""


@dataclass(frozen=True)
class Figure:
    """A figure of the paper, drawn from the results; ``name`` is added to the study's."""

    draw: "Callable[[pd.DataFrame], Drawing]"
    name: str = ""


@dataclass(frozen=True)
class Study:
    """An experiment of a paper: streams × policies × budgets × seeds, claims and figures.

    Parameters
    ----------
    name
        The paper and the figure or example, as the command line takes it: "vldb04-fig7".
    title
        What is measured, in a line.
    paper, place
        Authors, title and venue; the section, and the figure or example.
    grid
        The values of each axis; every combination is a cell. Axes become columns of the results.
    measure
        Measures a cell: one row of figures or several. A function of a module, since cells are
        measured in other processes.
    claims, figures
        What the paper says and draws.
    seeds
        A run of the grid each; none where nothing is left to chance.
    quick_grid
        Axes that have fewer values in a quick run.

    Examples
    --------
    >>> study = Study(
    ...     name="squares", title="Squares", paper="", place="",
    ...     grid={"x": (1, 2, 3)}, quick_grid={"x": (2,)},
    ...     measure=lambda cell: [{"y": cell["x"] ** 2}],
    ... )
    >>> [cell["x"] for cell in study.cells(seeds=None, quick=False)]
    [1, 2, 3]
    >>> study.cells(seeds=None, quick=True)[0].rows([{"y": 4}])
    [{'x': 2, 'seed': 0, 'y': 4}]
    """

    name: str
    title: str
    paper: str
    place: str
    grid: Mapping[str, Sequence[Any]]
    measure: Callable[[StudyCell], Sequence[Row]]
    claims: tuple[Claim, ...] = ()
    figures: tuple[Figure, ...] = ()
    seeds: tuple[int, ...] = ()
    quick_grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def cells(self, seeds: Sequence[int] | None, quick: bool) -> list[StudyCell]:
        """Every cell to measure; a quick run uses only the first seed unless seeds are given."""
        return list(self._cells(seeds, quick))

    def _cells(self, seeds: Sequence[int] | None, quick: bool) -> Iterator[StudyCell]:
        own = self.seeds[:1] if quick else self.seeds
        chosen = tuple(seeds or own) if self.seeds else (0,)
        grid = {**self.grid, **(self.quick_grid if quick else {})}
        for seed in chosen:
            for values in product(*grid.values()):
                yield StudyCell(self.name, tuple(zip(grid, values, strict=True)), seed, quick)


class Status(Enum):
    """The outcome of a claim."""

    HOLDS = "holds"
    DEPARTS = "departs"
    """Did not reproduce, as declared with evidence and cause."""
    STALE = "holds after all"
    """Declared as departing, but reproduced: the declaration needs review."""
    FAILS = "FAILS"
    """Did not reproduce, and no departure was declared."""


@dataclass(frozen=True)
class ClaimVerdict:
    """A claim, and what was found.

    Examples
    --------
    >>> ClaimVerdict("fig7", Claim("a", "A", len), ClaimFinding(False, "0.3")).status
    <Status.FAILS: 'FAILS'>
    """

    study: str
    claim: Claim
    finding: ClaimFinding

    @property
    def status(self) -> Status:
        """Holds, departs as declared, or fails."""
        if self.claim.departs:
            return Status.STALE if self.finding.holds else Status.DEPARTS
        return Status.HOLDS if self.finding.holds else Status.FAILS


def judge(study: Study, results: pd.DataFrame) -> list[ClaimVerdict]:
    """One verdict per claim."""
    return [ClaimVerdict(study.name, claim, claim.check(results)) for claim in study.claims]
