"""The what-if result as text: what the exact join needs, and what each policy needs."""

from itertools import groupby
from typing import TYPE_CHECKING

from headgate.report.recall_lines import alike
from headgate.report.report_section import ReportSection
from headgate.report.report_section import as_text as text_of
from headgate.sizing.optimum import LABEL
from headgate.sizing.strongest import percent, rounded_up, size_text, strongest
from headgate.sizing.what_if import TARGETS
from headgate.spec import How

if TYPE_CHECKING:
    from headgate.sizing.what_if import Memory, SizingPoint, WhatIf

NOT_TRIED = "not as tried"
AS_GOOD = 0.002
"""Recalls that are no further apart than this are as good as each other."""
SAME = 0.0005
"""Recalls no further apart than this are printed alike."""


def sections(found: "WhatIf") -> tuple[ReportSection, ...]:
    """The answer, part by part."""
    return (
        _today(found),
        _memory_for(found),
        _best(found),
        _recalls(found),
        _how(found),
        to_use(found),
    )


def as_text(found: "WhatIf") -> str:
    """The answer as plain text."""
    return text_of(tuple(section for section in sections(found) if section.above or section.rows))


def headline(found: "WhatIf") -> str:
    """The answer in one sentence."""
    claim = strongest(found, TARGETS)
    what = "importance" if found.importance else "results"
    if claim is None:
        return f"No policy makes {percent(TARGETS[0])} of the {what} with what was tried"
    if claim.share >= 1:
        return (
            f"Less memory costs results here: {percent(claim.recall)} of them take "
            f"{size_text(claim.bytes)}, as much as the exact join holds"
        )
    return (
        f"{percent(claim.recall)} of the {what} in {size_text(claim.bytes)}, "
        f"{percent(claim.share)} of what the exact join holds, with {claim.policy}"
    )


def same_recalls(found: "WhatIf") -> list[tuple[str, ...]]:
    """The policies by groups that have the same recalls, best first; the optimum is alone."""
    return [*alike(found.recalls, SAME), *([(LABEL,)] if found.optimum else [])]


def said_together(found: "WhatIf") -> tuple[str, ...]:
    """A sentence on the policies that share a line of the tables."""
    groups = [" and ".join(group) for group in same_recalls(found) if len(group) > 1]
    return (f"Policies with the same recalls share a line: {'; '.join(groups)}.",) if groups else ()


def _today(found: "WhatIf") -> ReportSection:
    left, right = found.rows
    window = " a window" if found.buffered else ""
    kind = " buffered" if found.buffered else ""
    pairs = f"{found.pairs:,.0f}" if found.is_exact else f"about {rounded_up(found.pairs):,}"
    made = f"results worth {pairs}" if found.importance else f"{pairs} result rows"
    return ReportSection(
        headline(found),
        (
            found.question,
            f"{left:,} left and {right:,} right rows{kind} make {made}{window}.",
            f"To make all of them, the exact join holds up to "
            f"{rounded_up(found.needs.rows):,} rows, {size_text(found.needs.bytes)}.",
        ),
    )


def _memory_for(found: "WhatIf") -> ReportSection:
    rows = []
    for group in same_recalls(found):
        cells = [group[0]]
        for target in TARGETS:
            memory = found.memory_for(target, group[0])
            cells.append(NOT_TRIED if memory is None else _memory_text(found, group[0], memory))
        rows.append(tuple(cells))
    what = "importance" if found.importance else "result"
    heads = ("policy", *(percent(target) for target in TARGETS))
    return ReportSection(
        f"Rows and bytes for 90, 95 and 99 % of the {what}",
        (),
        heads,
        tuple(rows),
        said_together(found),
    )


def _memory_text(found: "WhatIf", policy: str, memory: "Memory") -> str:
    told = f"{rounded_up(memory.rows):,}"
    if not found.is_exact and policy != LABEL:
        if memory.most is None:
            told += " or more"
        else:
            told += f" ± {rounded_up(max(memory.most - memory.rows, memory.rows - memory.least)):,}"
    return f"{told}, {size_text(memory.bytes)}"


def _best(found: "WhatIf") -> ReportSection:
    best = [(_best_at(found, rows), rows) for rows in found.memory]
    lines = []
    for policy, group in groupby(best, key=lambda entry: entry[0]):
        tried = [rows for _, rows in group]
        where = f"{tried[0]:,} rows"
        if len(tried) > 1:
            where = f"{tried[0]:,} to {tried[-1]:,} rows"
        lines.append(f"{where}: {policy}")
    return ReportSection("Best policy by memory", tuple(lines))


def _best_at(found: "WhatIf", rows: int) -> str:
    at = [point for point in found.points if point.rows == rows]
    most = max(point.recall for point in at)
    close = [point for point in at if point.recall >= most - AS_GOOD]
    if 2 * len(close) > len(at) > 2:
        return "all much the same" if len(close) == len(at) else "most are much the same"
    return max(close, key=lambda point: point.recall).policy


def _recalls(found: "WhatIf") -> ReportSection:
    known = {(point.policy, point.rows): point for point in (*found.points, *found.optimum)}
    rows = []
    for group in same_recalls(found):
        points = [known.get((group[0], memory)) for memory in found.memory]
        cells = ["–" if point is None else f"{point.recall:.3f}" for point in points]
        error = max((off(point) for point in points if point is not None), default=0.0)
        rows.append((group[0], *cells, *(() if found.is_exact else (f"{error:.3f}",))))
    needs = max(found.needs.rows, 1.0)
    heads = (
        "policy",
        *(percent(memory / needs) for memory in found.memory),
        *(() if found.is_exact else ("±",)),
    )
    held = f"{rounded_up(found.needs.rows):,} rows"
    return ReportSection(f"Recall, by memory in percent of {held}", (), heads, tuple(rows))


def off(point: "SizingPoint") -> float:
    """The 95 % confidence margin of a recall, as text."""
    return max(point.high - point.recall, point.recall - point.low)


def _how(found: "WhatIf") -> ReportSection:
    if found.is_exact and found.buffered:
        how = "The join itself was run over the rows in the buffers, repeated."
    elif found.is_exact:
        how = "Exact: the join itself was run over all rows, once for every policy and memory."
    else:
        share = f"{100 * found.share:.3g} % of the keys, with memory scaled alike"
        if found.drawn_by == "times":
            share = "a part of the time, with memory as it is"
        how = (
            f"By miniature: the join was run over {found.looked_at:,} of "
            f"{sum(found.rows):,} rows ({share}); ± is a 95 % interval."
        )
    return ReportSection("How it was found", (how, *found.notes))


def to_use(found: "WhatIf") -> ReportSection:
    """What to paste into a program or a job file for the headline's recall."""
    claim = strongest(found, TARGETS)
    if claim is None:
        return ReportSection("To use it")
    policy = claim.policy.lower()
    kind = "" if found.how == How.INNER else f'how="{found.how}", '
    asked = () if found.how == How.INNER else (f'how = "{found.how}"',)
    return ReportSection(
        "To use it",
        (
            f'hg.WindowJoin(..., {kind}budget=hg.Budget(rows={claim.rows:_}), policy="{policy}")',
            "# or in the [join] of a job file",
            *asked,
            f"budget = {{ rows = {claim.rows:_} }}",
            f'policy = "{policy}"',
        ),
    )
