"""What is done to the rows of a source, or of the result, on their way: by Spark's own SQL."""

from dataclasses import dataclass

from headgate.jobs.section import Section


@dataclass(frozen=True)
class Shaping:
    """Columns computed one after another, then rows let through, then columns kept."""

    columns: tuple[tuple[str, str], ...] = ()
    """Names and Spark SQL expressions; each may use those before it."""
    filter: str | None = None
    """A Spark SQL condition."""
    keep: tuple[str, ...] | None = None
    """The columns that go on, in this order; all when None."""

    def known(self, before: frozenset[str] | None) -> frozenset[str] | None:
        """The columns that come out, where those that go in are known, or all are named."""
        if self.keep is not None:
            return frozenset(self.keep)
        return None if before is None else before | {name for name, _ in self.columns}


def read_shaping(section: Section) -> Shaping:
    """The ``columns``, ``filter`` and ``keep`` of a table."""
    columns = []
    table = section.section(
        "columns", 'names and Spark SQL, such as { at = "cast(ts as timestamp)" }'
    )
    if table is not None:
        for name in table.items():
            expression = table.text(name, "a Spark SQL expression as text", required=True)
            if expression is not None:
                columns.append((name, expression))
    return Shaping(
        tuple(columns),
        section.text("filter", 'a Spark SQL condition, such as "price > 0"'),
        section.texts("keep", 'the columns that go on, such as ["id", "opened_at"]'),
    )
