"""Report sections as HTML, for notebooks."""

from collections.abc import Iterable
from html import escape

from headgate.report.report_section import ReportSection

CELL = "padding:.15rem .8rem .15rem 0;text-align:{side};white-space:nowrap"


CARD = "border-left:3px solid #1f77b4;padding:.1rem 0 .1rem .8rem;margin:.3rem 0"
TRACK = (
    "position:relative;height:.7rem;max-width:26rem;margin:.35rem 0;border-radius:.35rem;"
    "background:rgba(127,127,127,.25)"
)


def meter(share: float, low: float | None = None, high: float | None = None) -> str:
    """A share as a bar from 0 to 1, its interval as a bracket on it; readable on light and dark.

    Examples
    --------
    >>> "width:90.0%" in meter(0.9), "left:85.0%;width:10.0%" in meter(0.9, 0.85, 0.95)
    (True, True)
    """
    share, low, high = (min(max(end, 0.0), 1.0) for end in (share, low or 0.0, high or 0.0))
    said = f"{share:.3f}" + (f", 95 % interval {low:.3f} to {high:.3f}" if high else "")
    bar = f"width:{share:.1%};height:100%;border-radius:.35rem;background:#3b8f5a"
    span = f"left:{low:.1%};width:{high - low:.1%};border:2px solid currentColor;border-top:0"
    whisker = f"<div style='position:absolute;top:.2rem;height:.35rem;{span}'></div>"
    return (
        f"<div role='img' aria-label='{said}' title='{said}' style='{TRACK}'>"
        f"<div style='{bar}'></div>{whisker if high else ''}</div>"
    )


def as_html(section: ReportSection, above: str = "") -> str:
    """A section as a card: heading, HTML of the caller's, lines, table, lines.

    Examples
    --------
    >>> shown = as_html(ReportSection("3 rows", above=("of <two> sides",)))
    >>> shown.endswith("<b>3 rows</b><div>of &lt;two&gt; sides</div></div>")
    True
    """
    parts = [f"<b>{escape(section.title)}</b>", above, *map(_line, section.above)]
    if section.rows:
        heads = _row(section.heads, "th") if any(section.heads) else ""
        rows = "".join(_row(row, "td") for row in section.rows)
        parts.append(f"<table style='margin:.3rem 0'>{heads}{rows}</table>")
    return f"<div style='{CARD}'>{''.join(parts)}{''.join(map(_line, section.below))}</div>"


def all_as_html(sections: Iterable[ReportSection]) -> str:
    """Several sections, one below the other."""
    return "".join(map(as_html, sections))


def _line(text: str) -> str:
    return f"<div>{escape(text)}</div>"


def _row(cells: tuple[str, ...], tag: str) -> str:
    shown = (
        f"<{tag} style='{CELL.format(side='right' if place else 'left')}'>{escape(cell)}</{tag}>"
        for place, cell in enumerate(cells)
    )
    return f"<tr>{''.join(shown)}</tr>"
