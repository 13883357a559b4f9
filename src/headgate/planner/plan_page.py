"""A plan as HTML, for notebooks: a heading and a table row per decision."""

from collections.abc import Sequence
from html import escape

from headgate.report.section_html import CARD

STYLE = "text-align:left;vertical-align:top;padding:2px 12px 2px 0;border:0;background:none"


def as_html(title: str, lines: Sequence[tuple[str, str]]) -> str:
    """The lines of the plan tree as an HTML table.

    Examples
    --------
    >>> shown = as_html("MaxSubset within 10 rows", [("left", "AGE & <hash>")])
    >>> shown.count("<tr>"), "AGE &amp; &lt;hash&gt;</td>" in shown
    (1, True)
    """
    rows = "".join(
        f'<tr><th style="{STYLE};font-weight:500;opacity:0.65;white-space:nowrap" scope="row">'
        f'{escape(name)}</th><td style="{STYLE}">{escape(said)}</td></tr>'
        for name, said in lines
    )
    return (
        f'<div class="headgate-plan" style="{CARD}"><div style="font-weight:600;margin-bottom:4px">'
        f'{escape(title)}</div><table style="border-collapse:collapse"><tbody>{rows}</tbody>'
        f"</table></div>"
    )
