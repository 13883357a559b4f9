"""Report sections as HTML, for notebooks."""

from collections.abc import Iterable
from html import escape

from headgate.report.sections import Section

CELL = "padding:.15rem .8rem .15rem 0;text-align:{side};white-space:nowrap"


def as_html(section: Section) -> str:
    """A section: heading, lines, table, lines.

    Examples
    --------
    >>> as_html(Section("3 rows", above=("of <two> sides",)))
    '<div><b>3 rows</b><div>of &lt;two&gt; sides</div></div>'
    """
    parts = [f"<b>{escape(section.title)}</b>", *map(_line, section.above)]
    if section.rows:
        heads = _row(section.heads, "th") if any(section.heads) else ""
        rows = "".join(_row(row, "td") for row in section.rows)
        parts.append(f"<table style='margin:.3rem 0'>{heads}{rows}</table>")
    return f"<div>{''.join(parts)}{''.join(map(_line, section.below))}</div>"


def all_as_html(sections: Iterable[Section]) -> str:
    """Several sections, one below the other."""
    return "<br>".join(map(as_html, sections))


def _line(text: str) -> str:
    return f"<div>{escape(text)}</div>"


def _row(cells: tuple[str, ...], tag: str) -> str:
    shown = (
        f"<{tag} style='{CELL.format(side='right' if place else 'left')}'>{escape(cell)}</{tag}>"
        for place, cell in enumerate(cells)
    )
    return f"<tr>{''.join(shown)}</tr>"
