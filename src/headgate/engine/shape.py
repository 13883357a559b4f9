"""The columns of a join: which are keys and times, and what the result is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from headgate.columns.times import is_event_time
from headgate.engine.batch import PairBlock
from headgate.engine.condition import Condition
from headgate.engine.relation import Relation
from headgate.spec import Keys, Predicate, Side, SpecError

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
    """

    keys: Keys
    times: tuple[str, str]
    output: tuple[tuple[str, int, str], ...]
    condition: Condition | None = None
    drawn: tuple[str, ...] = ()
    importance: str | None = None

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

    def under(self, where: Predicate | None, schemas: tuple[pa.Schema, pa.Schema]) -> "Shape":
        """With the predicate bound to its columns; raises when their types do not fit it."""
        if where is None:
            return self
        types = (schemas[0].field(where.left).type, schemas[1].field(where.right).type)
        return replace(self, condition=Condition.of(where, types))

    def checked(self, where: Predicate | None, tables: Sequence[pa.Table]) -> "Shape":
        """The shape under a predicate; raises where keys differ in type or a time is no time."""
        types = [dict(zip(table.column_names, table.schema.types, strict=True)) for table in tables]
        check_types(self.keys, self.times, (types[0], types[1]))
        for which, time, known in zip(("left", "right"), self.times, types, strict=True):
            if not is_event_time(known[time]):
                raise SpecError(
                    f'time column "{time}" of the {which} side is {known[time]}: '
                    f"give a timestamp column (cast it first)"
                )
        return self.under(where, (tables[0].schema, tables[1].schema))

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
        """A side's key columns, in the order in which they are compared."""
        return [table.column(name) for name in (self.keys.left, self.keys.right)[side]]

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


def check_types(
    keys: Keys, times: tuple[str, str], types: tuple[Mapping[str, object], Mapping[str, object]]
) -> None:
    """Raise unless key columns agree in type, side by side; types compare with ``==``."""
    for left, right in zip(keys.left, keys.right, strict=True):
        left_type, right_type = types[0][left], types[1][right]
        if left_type != right_type:
            raise SpecError(
                f'key columns differ in type: left "{left}" is {left_type}, right "{right}" is '
                f"{right_type}: cast one of them, so that equal values are equal"
            )
