"""Report sections (heading, lines, table), rendered as plain text or in the terminal."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import JustifyMethod, RenderableType


@dataclass(frozen=True)
class ReportSection:
    """A heading, lines above a table, the table with its column heads, and lines below it.

    Examples
    --------
    >>> rows = (("rows", "12"),)
    >>> print(ReportSection("Rows", heads=("", "left"), rows=rows, below=("No more.",)).text)
    Rows
            left
      rows    12
      No more.
    """

    title: str
    above: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    below: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The section as plain text."""
        table = [self.heads, *self.rows] if self.rows else []
        widths = [max(len(row[place]) for row in table) for place in range(len(self.heads))]
        shown = [
            "  ".join(
                cell.ljust(width) if place == 0 else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in table
        ]
        return "\n".join(
            [self.title, *(f"  {line}" for line in (*self.above, *shown, *self.below))]
        )

    def shown(self) -> "list[RenderableType]":
        """Render for Rich."""
        from rich import box
        from rich.padding import Padding
        from rich.table import Table
        from rich.text import Text

        parts: list[RenderableType] = [Text(self.title, style="bold")]
        parts += [Padding(Text(line), (0, 0, 0, 2)) for line in self.above]
        if self.rows:
            between = (0, 1, 0, 0)
            table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=between)
            for place, head in enumerate(self.heads):
                side: JustifyMethod = "left" if place == 0 else "right"
                table.add_column(head, justify=side, overflow="fold", no_wrap=place == 0)
            for row in self.rows:
                table.add_row(*(Text(cell) for cell in row))
            parts.append(Padding(table, (0, 0, 0, 2)))
        parts += [Padding(Text(line, style="dim"), (0, 0, 0, 2)) for line in self.below]
        return [*parts, Text()]


def as_text(sections: tuple[ReportSection, ...]) -> str:
    """Render a whole report as plain text."""
    return "\n\n".join(section.text for section in sections)
