"""Coding of rows in Arrow tables; keys get new codes in every step."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from headgate.columns.hashing import hash_keys
from headgate.columns.plain_form import no_rows
from headgate.columns.row_source import SMALL_BYTES
from headgate.engine.definitions import Definitions
from headgate.engine.key_columns import code_tables, matched
from headgate.engine.learned_step import LearnedState, LearnedStep
from headgate.engine.placed_rows import Screened
from headgate.engine.shape import Shape
from headgate.engine.table_learner import TableLearner
from headgate.engine.table_rows import TableRows
from headgate.engine.traits import traits_of
from headgate.kernel.rows import Rows
from headgate.kernel.step_input import StepInput
from headgate.kernel.terms import Terms
from headgate.learning.learner import Learner
from headgate.spec import How


class TableCoding:
    """Codes rows of Arrow tables, together with what was learned of rows and keys before.

    Parameters
    ----------
    shape
        Columns.
    definitions
        What is important; None where all rows count alike.
    state
        What was learned so far; None where nothing is to be learned.
    """

    def __init__(
        self,
        shape: Shape,
        definitions: Definitions | None = None,
        state: LearnedState | None = None,
    ) -> None:
        self._shape, self._definitions = shape, definitions
        self._learning = None if state is None else TableLearner(shape, state)
        self._is_learning = False

    @property
    def learner(self) -> Learner | None:
        """What learns from the steps; None where nothing does."""
        return None if self._learning is None else self._learning.learner

    def begin(
        self,
        terms: Terms,
        stored: tuple[TableRows, TableRows],
        arriving: tuple[Screened[TableRows], Screened[TableRows]],
    ) -> StepInput:
        """The rows of a step as input for the kernel."""
        groups = (*stored, arriving[0].rows, arriving[1].rows)
        tables = [
            rows.only(matched(self._shape, rows.table, place % 2))
            for place, rows in enumerate(groups)
        ]
        if self._learning is not None:
            tables += self._learning.tables((tables[2], tables[3]))
        coding = code_tables(self._shape, tables)
        batches = [
            rows.coded(code, value)
            for rows, code, value in zip(groups, coding.codes, coding.values, strict=False)
        ]
        if self._learning is not None:
            batches = with_traits(self._shape, batches, groups)
        left, right, new_left, new_right = judged(batches, groups, self._definitions)
        if self._learning is not None:
            self._learning.take_up(tables, coding)
        self._is_learning = terms.policy.learns
        if self._definitions is not None:
            terms = self._definitions.applied(terms)
        hashes = hashes_of(self._shape, groups, coding.codes, coding.distinct)
        return StepInput(
            terms, (left, right), (new_left, new_right), coding.distinct, hashes=hashes
        )

    def end(self) -> LearnedStep | None:
        """What the step learned; None where nothing is to be learned."""
        return None if self._learning is None else self._learning.keep(self._is_learning)


def hashes_of(
    shape: Shape, groups: Sequence[TableRows], codes: Sequence[np.ndarray], distinct: int
) -> np.ndarray | None:
    """A stable hash of each code's key; None where no key is looked up among those given up, and
    none is followed.

    Groups are of the left and the right side in turn; codes are those of their rows first.
    """
    if shape.how == How.INNER or not shape.keys.left:
        return None
    hashes = np.zeros(distinct + 1, np.uint64)  # the last stands for null
    for place, (rows, code) in enumerate(zip(groups, codes, strict=False)):
        keys = rows.only(matched(shape, rows.table, place % 2))
        hashes[code] = hash_keys(shape.key_columns(keys, place % 2))[0]
    return hashes[:-1]


def with_traits(shape: Shape, batches: Sequence[Rows], groups: Sequence[TableRows]) -> list[Rows]:
    """The rows with what their named columns tell, where columns are named."""
    if not any(shape.features):
        return list(batches)
    return [
        batch._replace(traits=traits_of(shape, _named(shape, rows, place % 2), place % 2))
        for place, (batch, rows) in enumerate(zip(batches, groups, strict=True))
    ]


def _named(shape: Shape, rows: TableRows, side: int) -> pa.Table:
    names = [feature.name for feature in shape.features[side]]
    # Without any column Arrow would forget how many rows there are.
    return rows.only(rows.table.select(names) if names else rows.table)


def coded(
    shape: Shape, groups: Sequence[TableRows], definitions: Definitions | None = None
) -> tuple[list[Rows], int]:
    """Rows as input for the kernel, and the number of codes.

    Groups are of the left and the right side in turn.
    """
    tables = [rows.only(matched(shape, rows.table, place % 2)) for place, rows in enumerate(groups)]
    codes, values, count = code_tables(shape, tables)
    batches = [
        rows.coded(code, value) for rows, code, value in zip(groups, codes, values, strict=True)
    ]
    return judged(batches, groups, definitions), count


def judged(
    batches: Sequence[Rows], groups: Sequence[TableRows], definitions: Definitions | None
) -> list[Rows]:
    """The rows with their importance; groups are of the left and the right side in turn."""
    if definitions is None:
        return list(batches)
    return [
        batch._replace(importance=_importance(definitions, rows, place % 2))
        for place, (batch, rows) in enumerate(zip(batches, groups, strict=True))
    ]


def _importance(definitions: Definitions, rows: TableRows, side: int) -> np.ndarray:
    none = definitions.of_rows(no_rows(rows.table.schema), side)
    parts = (definitions.of_rows(piece, side) for piece in rows.pieces(SMALL_BYTES))
    return np.concatenate([none, *parts], axis=1)
