"""The columns of a join: which are keys and times, and what the result is made of."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from headgate.columns.casting import cast_to
from headgate.columns.plain_form import no_rows
from headgate.columns.row_source import RowSource, cuts
from headgate.engine.condition import Condition
from headgate.kernel.pair_block import NOBODY, PairBlock
from headgate.kernel.relation import Relation
from headgate.spec import How, Keys, Predicate, Side, SpecError
from headgate.spec.compared_types import Named, compared_as

Types = Mapping[str, pa.DataType]

NO_RESULT = " of the right side"
"""Suffix where no result is built, so that names common to both sides do not clash."""
CERTAIN = "certain"
"""The column that tells undecided rows from others, where both are asked for."""


class Feature(NamedTuple):
    """A column that tells what a row is worth."""

    name: str
    is_number: bool
    """Whether its values are taken as numbers; as categories otherwise."""


@dataclass(frozen=True)
class Shape:
    """Where keys and times stand in each side's columns, and the result's columns.

    The result has the left columns under their names, then the right ones; key columns of the same
    name on both sides come once; any other right column whose name is taken, upper and lower case
    aside, gets ``suffix``.

    Parameters
    ----------
    keys
        The key columns.
    times
        The time column of each side; empty where ``counted``.
    output
        (name in the result, side, name in the side's columns).
    condition
        The band or comparison, if there is one.
    drawn
        Of a sample: the names of the columns with each row's weight and its cluster; the latter
        only where rows are sampled by cluster.
    importance
        The name of the column with what each row is worth, where the goal says so.
    key_types
        For each key the type in which both sides' values are compared; empty where they are
        compared as they are.
    counted
        Whether times are counted by the operator, not read from a column.
    how
        The kind of join.
    shows_undecided
        Whether a last column tells certain rows from undecided ones.
    features
        Of each side, the columns that tell what a row is worth.
    """

    keys: Keys
    times: tuple[str, str]
    output: tuple[tuple[str, int, str], ...]
    condition: Condition | None = None
    drawn: tuple[str, ...] = ()
    importance: str | None = None
    key_types: tuple[pa.DataType, ...] = ()
    counted: bool = False
    how: How = How.INNER
    shows_undecided: bool = False
    features: tuple[tuple[Feature, ...], tuple[Feature, ...]] = ((), ())

    @classmethod
    def of(
        cls,
        keys: Keys,
        sides: tuple[Side, Side],
        columns: tuple[Sequence[str], Sequence[str]],
        suffix: str,
        where: Predicate | None = None,
        how: How = How.INNER,
    ) -> "Shape":
        """Check that all named columns exist, and name the result's columns."""
        asked = ((), ()) if where is None else ((where.left,), (where.right,))
        for which, wanted, present in (
            ("left", (*keys.left, *asked[0], sides[0].time), columns[0]),
            ("right", (*keys.right, *asked[1], sides[1].time), columns[1]),
        ):
            for name in wanted:
                check_column(f"the {which} side", name, present)
        output = [(name, 0, name) for name in columns[0]]
        if how == How.RIGHT:  # every result row has a right row, and with it the key
            output = [(name, int(name in keys.shared), name) for name in columns[0]]
        elif how.frees_left:
            return cls(keys, (sides[0].time, sides[1].time), tuple(output), how=how)
        others = [name for name in columns[1] if name not in keys.shared]
        shown = apart(columns[0], others, suffix, "rename a column of one side, or")
        output += [(new, 1, name) for new, name in zip(shown, others, strict=True)]
        return cls(keys, (sides[0].time, sides[1].time), tuple(output), how=how)

    def compared(
        self,
        where: Predicate | None,
        types: tuple[Types, Types],
        shown: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {}),
        ansi: bool = True,
    ) -> "Shape":
        """With the types in which columns are compared; raises where they cannot be.

        Parameters
        ----------
        where
            The band or comparison, if there is one.
        types
            Of each side, the types of its columns by name: at least of those that are compared.
        shown
            What the user calls them, where that is not Arrow's name.
        ansi
            Whether Spark's ANSI mode is on.
        """

        def named(side: int, name: str) -> Named:
            label = ("left", "right")[side]
            return Named(label, name, types[side][name], shown[side].get(name, ""))

        compared_as("time", named(0, self.times[0]), named(1, self.times[1]), ansi)
        key_types = tuple(
            compared_as("key", named(0, left), named(1, right), ansi)
            for left, right in zip(self.keys.left, self.keys.right, strict=True)
        )
        self._check_shared(types)
        condition = None
        if where is not None:
            left, right = named(0, where.left), named(1, where.right)
            kinds, names = (left.kind, right.kind), (left.shown, right.shown)
            condition = Condition.of(where, kinds, names, ansi)
        return replace(self, key_types=key_types, condition=condition)

    def _check_shared(self, types: tuple[Types, Types]) -> None:
        """Raise where a key column of a full join would be of one type or of another."""
        for name in self.keys.shared if self.how == How.FULL else ():
            if types[0][name] != types[1][name]:
                raise SpecError(
                    f'how="full" fills the key "{name}" from either side, and it is '
                    f"{types[0][name]} on the left and {types[1][name]} on the right: cast one of "
                    f"them, or give the columns different names with left_on= and right_on="
                )

    def with_undecided(self, shown: bool) -> "Shape":
        """With a column that tells undecided rows from others; raises where its name is taken."""
        if shown and self._shows(CERTAIN):
            raise SpecError(
                f'the result has a column "{CERTAIN}" already, and unmatched="all" adds one of '
                f'that name: rename yours, or give unmatched="certain"'
            )
        return replace(self, shows_undecided=shown)

    def nullable(self, shown: str, side: int) -> bool:
        """Whether a result column is null in rows without a partner."""
        return self.how == How.FULL or (self.how.nullable[side] and shown not in self._key_names)

    @property
    def _key_names(self) -> tuple[str, ...]:
        """Keys that every row of a right join has."""
        return tuple(self.keys.shared) if self.how == How.RIGHT else ()

    def checked(self, where: Predicate | None, schemas: Sequence[pa.Schema]) -> "Shape":
        """The shape under a predicate; raises where columns of these types cannot be compared."""
        types = [dict(zip(schema.names, schema.types, strict=True)) for schema in schemas]
        return self.compared(where, (types[0], types[1]))

    def sampled(self, names: tuple[str, ...]) -> "Shape":
        """With columns for what a sample must say of its rows; raises where names are taken."""
        for name in names:
            if self._shows(name):
                raise SpecError(
                    f'the result has a column "{name}" already: name the sample\'s column with '
                    f"Sample(weight=..., cluster=...)"
                )
        return replace(self, drawn=names)

    def weighed(self, name: str | None) -> "Shape":
        """With a column for the importance of rows; raises where its name is taken."""
        if name is not None and self._shows(name):
            raise SpecError(
                f'the result has a column "{name}" already: name the other one with '
                f"MaxImportance(column=...)"
            )
        return replace(self, importance=name)

    def _shows(self, name: str) -> bool:
        """Whether the result has a column of this name, upper and lower case aside."""
        return any(name.lower() == shown.lower() for shown, _, _ in self.output)

    @property
    def are_numbers(self) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
        """Of each side, whether its columns that tell are numbers."""
        left, right = (tuple(each.is_number for each in side) for side in self.features)
        return left, right

    @property
    def relation(self) -> Relation | None:
        """What the predicate asks of two rows' numbers."""
        return None if self.condition is None else self.condition.relation

    def key_columns(self, table: pa.Table, side: int) -> list[pa.ChunkedArray]:
        """A side's key columns, in the order and the types in which they are compared."""
        return keys_as(table, (self.keys.left, self.keys.right)[side], self.key_types)

    def schema(self, left: pa.Schema, right: pa.Schema) -> pa.Schema:
        """The result's schema."""
        drawn = [*zip(self.drawn, (pa.float64(), pa.int64()), strict=False)]
        if self.importance is not None:
            drawn.append((self.importance, pa.float64()))
        if self.shows_undecided:
            drawn.append((CERTAIN, pa.bool_()))
        fields = []
        for shown, side, name in self.output:
            field = (left, right)[side].field(name).with_name(shown)
            fields.append(field.with_nullable(True) if self.nullable(shown, side) else field)
        return pa.schema([*fields, *(pa.field(name, kind, nullable=False) for name, kind in drawn)])

    def source(self, table: pa.Table, side: int) -> RowSource:
        """The rows of a side, to take those from that make results."""
        shown = [name for _, of, name in self.output if of == side]
        if side == 1 and self.how == How.FULL:
            # Shown under the left column's name where there is no left row.
            shown += [name for name in self.keys.shared if name not in shown]
        if not self.how.outputs[side]:
            return RowSource(no_rows(table.schema))  # nothing is taken from it
        # Without any column Arrow would forget how many rows there are.
        return RowSource(table.select(shown) if shown else table)

    def results(
        self, left: RowSource, right: RowSource, pairs: PairBlock, most_bytes: int
    ) -> Iterator[pa.Table]:
        """Result rows from the places of the rows that make them, so many bytes at a time."""
        widest = int(left.sizes.max(initial=0)) + int(right.sizes.max(initial=0))
        if widest * len(pairs.left) <= most_bytes:
            yield self._result(left, right, pairs)
            return
        sizes = _sizes(left, pairs.left)
        if self.how.outputs[1]:
            sizes = sizes + _sizes(right, pairs.right)
        for part in cuts(sizes, most_bytes):
            yield self._result(left, right, pairs.part(part))

    def _result(self, left: RowSource, right: RowSource, pairs: PairBlock) -> pa.Table:
        if self.how.frees_left:
            taken = [left.take(pairs.left)]
        else:
            taken = [left.take(pairs.left), right.take(pairs.right)]
        columns = [taken[side].column(name) for _, side, name in self.output]
        if self.how == How.FULL and pairs.left.size and pairs.left[0] == NOBODY:
            for place, (_, side, name) in enumerate(self.output):
                if side == 0 and name in self.keys.shared:
                    columns[place] = taken[1].column(name)
        columns += [pa.array(column) for column in (pairs.weight, pairs.cluster)][: len(self.drawn)]
        if self.importance is not None:
            columns.append(pa.array(pairs.importance))
        if self.shows_undecided:
            certain = pairs.certain if pairs.certain.size else np.ones(len(pairs.left), np.bool_)
            columns.append(pa.array(certain))
        return pa.table(columns, schema=self.schema(left.schema, right.schema))


def _sizes(rows: RowSource, places: np.ndarray) -> np.ndarray:
    """Bytes of the rows at some places; nothing for nobody's."""
    if places.size and places[0] == NOBODY:
        return np.zeros(len(places), np.int64)
    sizes: np.ndarray = rows.sizes[places]
    return sizes


def keys_as(
    table: pa.Table, names: Sequence[str], types: Sequence[pa.DataType]
) -> list[pa.ChunkedArray]:
    """Key columns of a table in the types in which they are compared; as they are without any."""
    columns = [table.column(name) for name in names]
    if not types:
        return columns
    return [cast_to(column, kind) for column, kind in zip(columns, types, strict=True)]


def check_column(which: str, name: str, present: Sequence[str]) -> None:
    """Raise where there is no column of this name.

    Examples
    --------
    >>> check_column("the left side", "id", ["ID", "at"])
    Traceback (most recent call last):
    ...
    headgate.spec.errors.SpecError: the left side has no column "id": it has ID, at (upper and \
lower case matter)
    """
    if name in present:
        return
    alike = any(name.lower() == other.lower() for other in present)
    case = " (upper and lower case matter)" if alike else ""
    raise SpecError(f'{which} has no column "{name}": it has {", ".join(present)}{case}')


def apart(taken: Sequence[str], names: Sequence[str], suffix: str, advice: str) -> list[str]:
    """What columns are called beside others: with a suffix where their names are taken.

    Upper and lower case do not tell names apart, since to Spark they do not, unless told.

    Examples
    --------
    >>> apart(["id", "note"], ["Note", "price"], "_right", "")
    ['Note_right', 'price']
    """
    before = {name.lower() for name in taken}
    shown = [f"{name}{suffix}" if name.lower() in before else name for name in names]
    origins: dict[str, str] = {}
    for new, name in zip(shown, names, strict=True):
        # Names that differ by case alone were the input's own.
        origin = origins.setdefault(new.lower(), name.lower())
        if new.lower() in before or origin != name.lower():
            raise SpecError(
                f'the result would have two columns "{new}": {advice} choose another suffix '
                f'(suffix="{suffix}" now)'
            )
    return shown
