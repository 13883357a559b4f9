"""Computes, filters and selects columns of a source or of the result, with Spark SQL."""

from dataclasses import dataclass

from headgate.jobs.job_section import JobSection


@dataclass(frozen=True)
class ShapingSection:
    """Columns to compute in order, then a row filter, then columns to keep."""

    columns: tuple[tuple[str, str], ...] = ()
    """Names and Spark SQL expressions; each may use those before it."""
    filter: str | None = None
    """A Spark SQL condition."""
    keep: tuple[str, ...] | None = None
    """The columns that go on, in this order; all when None."""

    def known(self, before: frozenset[str] | None) -> frozenset[str] | None:
        """The output columns, if the input columns are known or all are named."""
        if self.keep is not None:
            return frozenset(self.keep)
        return None if before is None else before | {name for name, _ in self.columns}


def read_shaping(section: JobSection) -> ShapingSection:
    """Read the ``columns``, ``filter`` and ``keep`` of a table."""
    columns = []
    table = section.section(
        "columns", 'names and Spark SQL, such as { at = "cast(ts as timestamp)" }'
    )
    if table is not None:
        for name in table.items():
            expression = table.text(name, "a Spark SQL expression as text", required=True)
            if expression is not None:
                columns.append((name, expression))
    return ShapingSection(
        tuple(columns),
        section.text("filter", 'a Spark SQL condition, such as "price > 0"'),
        section.texts("keep", 'the columns that go on, such as ["id", "opened_at"]'),
    )
