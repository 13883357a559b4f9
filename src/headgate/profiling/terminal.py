"""A profile in the terminal, as Rich tables."""

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from headgate.profiling.profile import Profile
from headgate.profiling.report import Section, sections


def as_tables(profile: Profile) -> Group:
    """The report's sections, a table each."""
    return Group(*(part for section in sections(profile) for part in _shown(section)))


def _shown(section: Section) -> list[RenderableType]:
    parts: list[RenderableType] = [Text(section.title, style="bold")]
    if section.rows:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 2))
        for place, head in enumerate(section.heads):
            table.add_column(head, justify="left" if place == 0 else "right", overflow="fold")
        for row in section.rows:
            table.add_row(*(Text(cell) for cell in row))
        parts.append(table)
    parts += [Text(line, style="dim") for line in section.lines]
    return [*parts, Text()]
