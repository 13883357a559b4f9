"""The what-if result as one self-contained HTML file: text, tables and figure."""

from html import escape
from io import StringIO
from typing import TYPE_CHECKING

from headgate.report.report_section import ReportSection
from headgate.sizing.strongest import percent, rounded_up, size_text
from headgate.sizing.wording import headline, off, sections

if TYPE_CHECKING:
    from headgate.sizing.what_if import WhatIf

STYLE = """
.headgate { --ink:currentcolor; --quiet:color-mix(in srgb, currentcolor 75%, transparent);
  --line:rgba(127,127,127,.35); --card:rgba(127,127,127,.1); --good:0,114,178;
  color:var(--ink); font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;
  max-width:64rem; margin:0 auto; padding:0 1rem 3rem; }
.headgate h1 { font-size:1.6rem; margin:1.6rem 0 .3rem; line-height:1.25; }
.headgate h2 { font-size:1.1rem; margin:2rem 0 .6rem; }
.headgate p { margin:.3rem 0; } .headgate pre { background:var(--card); padding:.6rem .8rem;
  border:1px solid var(--line); border-radius:.6rem; overflow-x:auto; font-size:.85rem; }
.headgate .quiet { color:var(--quiet); }
.headgate .cards { display:flex; flex-wrap:wrap; gap:.8rem; margin:1.2rem 0; }
.headgate .card { flex:1 1 11rem; background:var(--card); border:1px solid var(--line);
  border-radius:.6rem; padding:.7rem .9rem; }
.headgate .card b { display:block; font-size:1.3rem; line-height:1.3; }
.headgate .card span { color:var(--quiet); font-size:.85rem; }
.headgate .chart { background:#fff; border:1px solid var(--line); border-radius:.6rem;
  padding:.6rem; } .headgate .chart svg { width:100%; height:auto; display:block; }
.headgate .wide { overflow-x:auto; border:1px solid var(--line); border-radius:.6rem; }
.headgate table { border-collapse:collapse; width:100%; font-size:.88rem;
  font-variant-numeric:tabular-nums; }
.headgate th, .headgate td { padding:.4rem .7rem; text-align:right; white-space:nowrap;
  border-bottom:1px solid var(--line); }
.headgate th { color:var(--quiet); font-weight:600; }
.headgate tr:last-child td { border-bottom:0; }
.headgate th:first-child, .headgate td:first-child { text-align:left; }
.headgate.page { --ink:#1c2733; --quiet:#5b6875; --line:#dfe4ea; --card:#f6f8fa; --page:#fff; }
.headgate.page th:first-child, .headgate.page td:first-child { position:sticky; left:0;
  background:var(--page); }
@media (prefers-color-scheme: dark) { .headgate.page { --ink:#e6ebf0; --quiet:#9aa7b4;
  --line:#2c3742; --card:#18212b; --good:86,180,233; --page:#10171f; } }
"""
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>body {{ margin:0; background:#fff; }}
@media (prefers-color-scheme: dark) {{ body {{ background:#10171f; }} }}</style>
</head><body>{body}</body></html>
"""


def page(found: "WhatIf") -> str:
    """A whole document."""
    return PAGE.format(title="Headgate: how much memory?", body=body(found, "headgate page"))


def body(found: "WhatIf", classes: str = "headgate") -> str:
    """The report alone, as a notebook shows it."""
    today, memory_for, best, recalls, how, to_use = sections(found)
    made = () if found.origin is None else found.origin.lines
    parts = [
        f"<style>{STYLE}</style><div class='{classes}'>",
        f"<h1>{escape(headline(found))}</h1>",
        *(f"<p class='quiet'>{escape(line)}</p>" for line in today.above),
        _cards(found),
        _chart(found),
        _table(memory_for),
        f"<h2>{escape(best.title)}</h2>",
        *(f"<p>{escape(line)}</p>" for line in best.above),
        _recalls(found, recalls),
        f"<h2>{escape(how.title)}</h2>",
        *(f"<p class='quiet'>{escape(line)}</p>" for line in (*how.above, *made[:1])),
        *(f"<pre>{escape(line)}</pre>" for line in made[1:]),
        _pasted(to_use),
        "</div>",
    ]
    return "\n".join(part for part in parts if part)


def _pasted(to_use: ReportSection) -> str:
    if not to_use.above:
        return ""
    lines = "\n".join(to_use.above)
    return f"<h2>{escape(to_use.title)}</h2><pre>{escape(lines)}</pre>"


def _cards(found: "WhatIf") -> str:
    held = f"held by the exact join: {rounded_up(found.needs.rows):,} rows"
    facts = [(size_text(found.needs.bytes), held)]
    for target in (0.99, 0.95, 0.90):
        policy = found.cheapest(target)
        memory = None if policy is None else found.memory_for(target, policy)
        if memory is not None:
            text = f"for {percent(target)} with {policy}: {rounded_up(memory.rows):,} rows"
            facts.append((size_text(memory.bytes), text))
    shown = "".join(
        f"<div class='card'><b>{escape(figure)}</b><span>{escape(text)}</span></div>"
        for figure, text in facts
    )
    return f"<div class='cards'>{shown}</div>"


def _table(section: ReportSection) -> str:
    heads = "".join(f"<th>{escape(head)}</th>" for head in section.heads)
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in section.rows
    )
    return (
        f"<h2>{escape(section.title)}</h2>"
        f"<div class='wide'><table><tr>{heads}</tr>{rows}</table></div>"
        + "".join(f"<p class='quiet'>{escape(line)}</p>" for line in section.below)
    )


def _recalls(found: "WhatIf", section: ReportSection) -> str:
    """The table of recalls, shaded darker where higher."""
    known = {(point.policy, point.rows): point for point in (*found.points, *found.optimum)}
    heads = f"<th>{escape(section.heads[0])}<br>rows</th>" + "".join(
        f"<th>{escape(head)}<br>{memory:,}</th>"
        for memory, head in zip(found.memory, section.heads[1:], strict=False)
    )
    rows = []
    for label in (row[0] for row in section.rows):
        cells = [f"<td>{escape(label)}</td>"]
        for memory in found.memory:
            point = known.get((label, memory))
            if point is None:
                cells.append("<td>–</td>")
                continue
            shade = 0.45 * point.recall**2
            error = "" if found.is_exact else f"<small> ±{off(point):.3f}</small>"
            cells.append(
                f"<td style='background:rgba(var(--good),{shade:.2f})'>"
                f"{point.recall:.3f}{error}</td>"
            )
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f"<h2>{escape(section.title)}</h2>"
        f"<div class='wide'><table><tr>{heads}</tr>{''.join(rows)}</table></div>"
    )


def _chart(found: "WhatIf") -> str:
    """The figure; without Matplotlib a word on how to get it."""
    try:
        return f"<div class='chart'>{_svg(found)}</div>"
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] != "matplotlib":
            raise
        return '<p class="quiet">For a chart here: pip install "headgate[cli]"</p>'


def _svg(found: "WhatIf") -> str:
    from matplotlib import rc_context

    from headgate.report.plot_style import LOOK
    from headgate.sizing.whatif_picture import draw

    text = StringIO()
    with rc_context(LOOK):
        draw(found).savefig(text, format="svg", metadata={"Date": None})
    drawn = text.getvalue()
    return drawn[drawn.index("<svg") :]
