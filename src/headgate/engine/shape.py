"""The columns of a join: which are keys and times, and what the result is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from headgate.columns.casting import cast_to
from headgate.engine.batch import PairBlock
from headgate.engine.condition import Condition
from headgate.engine.relation import Relation
from headgate.spec import Keys, Predicate, Side, SpecError
from headgate.spec.comparing import Named, compared_as

Types = Mapping[str, pa.DataType]

TIME_COLUMN = "__headgate_time"
"""Stands for the time column of rows whose time is counted, not read."""


NO_RESULT = " of the right side"
"""Where no result is made, names that both sides have must not get in the way."""


@dataclass(frozen=True)
class Shape:
    """Where keys and times stand in each side's columns, and the result's columns.

    The result has the left columns under their names, then the right ones; key columns of the same
    name on both sides come once; any other right column whose name is taken gets ``suffix``.

    Parameters
    ----------
    keys
        The key columns.
    times
        The time column of each side.
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
    """

    keys: Keys
    times: tuple[str, str]
    output: tuple[tuple[str, int, str], ...]
    condition: Condition | None = None
    drawn: tuple[str, ...] = ()
    importance: str | None = None
    key_types: tuple[pa.DataType, ...] = ()

    @classmethod
    def of(
        cls,
        keys: Keys,
        sides: tuple[Side, Side],
        columns: tuple[Sequence[str], Sequence[str]],
        suffix: str,
        where: Predicate | None = None,
    ) -> "Shape":
        """Check that all named columns exist, and name the result's columns."""
        asked = ((), ()) if where is None else ((where.left,), (where.right,))
        for which, wanted, present in (
            ("left", (*keys.left, *asked[0], sides[0].time), columns[0]),
            ("right", (*keys.right, *asked[1], sides[1].time), columns[1]),
        ):
            for name in wanted:
                if name not in present:
                    raise SpecError(
                        f'the {which} side has no column "{name}": it has {", ".join(present)}'
                    )
        output = [(name, 0, name) for name in columns[0]]
        taken = set(columns[0])
        for name in columns[1]:
            if name in keys.shared:
                continue
            shown = f"{name}{suffix}" if name in taken else name
            if shown in taken or (shown != name and shown in columns[1]):
                raise SpecError(
                    f'the result would have two columns "{shown}": rename a column of one side, '
                    f'or choose another suffix (suffix="{suffix}" now)'
                )
            taken.add(shown)
            output.append((shown, 1, name))
        return cls(keys, (sides[0].time, sides[1].time), tuple(output))

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
        condition = None
        if where is not None:
            left, right = named(0, where.left), named(1, where.right)
            kinds, names = (left.kind, right.kind), (left.shown, right.shown)
            condition = Condition.of(where, kinds, names, ansi)
        return replace(self, key_types=key_types, condition=condition)

    def checked(self, where: Predicate | None, tables: Sequence[pa.Table]) -> "Shape":
        """The shape under a predicate; raises where columns of the tables cannot be compared."""
        types = [dict(zip(table.column_names, table.schema.types, strict=True)) for table in tables]
        return self.compared(where, (types[0], types[1]))

    def sampled(self, names: tuple[str, ...]) -> "Shape":
        """With columns for what a sample must say of its rows; raises where names are taken."""
        for name in names:
            if any(name == shown for shown, _, _ in self.output):
                raise SpecError(
                    f'the result has a column "{name}" already: name the sample\'s column with '
                    f"Sample(weight=..., cluster=...)"
                )
        return replace(self, drawn=names)

    def weighed(self, name: str | None) -> "Shape":
        """With a column for the importance of rows; raises where its name is taken."""
        if any(name == shown for shown, _, _ in self.output):
            raise SpecError(
                f'the result has a column "{name}" already: name the other one with '
                f"MaxImportance(column=...)"
            )
        return replace(self, importance=name)

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
        return pa.schema(
            [
                *(
                    (left, right)[side].field(name).with_name(shown)
                    for shown, side, name in self.output
                ),
                *(pa.field(name, kind, nullable=False) for name, kind in drawn),
            ]
        )

    def result(self, left: pa.Table, right: pa.Table, pairs: PairBlock) -> pa.Table:
        """Result rows from the places of the rows that make them."""
        taken = (left.take(pa.array(pairs.left)), right.take(pa.array(pairs.right)))
        columns = [taken[side].column(name) for _, side, name in self.output]
        columns += [pa.array(column) for column in (pairs.weight, pairs.cluster)][: len(self.drawn)]
        if self.importance is not None:
            columns.append(pa.array(pairs.importance))
        return pa.table(columns, schema=self.schema(left.schema, right.schema))


def keys_as(
    table: pa.Table, names: Sequence[str], types: Sequence[pa.DataType]
) -> list[pa.ChunkedArray]:
    """Key columns of a table in the types in which they are compared; as they are without any."""
    columns = [table.column(name) for name in names]
    if not types:
        return columns
    return [cast_to(column, kind) for column, kind in zip(columns, types, strict=True)]
