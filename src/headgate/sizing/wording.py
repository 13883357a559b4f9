"""The what-if result as text: what the exact join needs, and what each policy needs."""

from itertools import groupby
from typing import TYPE_CHECKING

from headgate.report.sections import Section
from headgate.report.sections import as_text as text_of
from headgate.sizing.findings import TARGETS
from headgate.sizing.optimum import LABEL
from headgate.spec.quantity import format_bytes

if TYPE_CHECKING:
    from headgate.sizing.findings import Point, WhatIf

NOT_TRIED = "not as tried"
AS_GOOD = 0.002
"""Recalls that are no further apart than this are as good as each other."""


def sections(found: "WhatIf") -> tuple[Section, ...]:
    """The answer, part by part."""
    return _today(found), _memory_for(found), _best(found), _recalls(found), _how(found)


def as_text(found: "WhatIf") -> str:
    """The answer as plain text."""
    return text_of(sections(found))


def memory_text(rows: float, size: float) -> str:
    """Memory in rows and in bytes.

    Examples
    --------
    >>> memory_text(412_000, 63.9e6)
    '412,000 rows, 63.9 MB'
    """
    return f"{_rounded(rows):,} rows, {format_bytes(size)}"


def headline(found: "WhatIf") -> str:
    """The answer in one sentence."""
    for target in reversed(TARGETS):
        policy = found.cheapest(target)
        memory = None if policy is None else found.memory_for(target, policy)
        if memory is None or not found.needs.rows:
            continue
        if memory.rows > 0.9 * found.needs.rows and target != TARGETS[0]:
            continue
        return (
            f"{target:.0%} of the results in {format_bytes(memory.bytes)} "
            f"({_rounded(memory.rows):,} rows), {memory.rows / found.needs.rows:.0%} of what the "
            f"exact join holds, with {policy}"
        ).replace("%", " %")
    return f"No policy makes {TARGETS[0]:.0%} of the results with what was tried".replace("%", " %")


def to_paste(found: "WhatIf") -> str | None:
    """A line of Python that gives the join its budget; None if nothing tried is enough."""
    for target in reversed(TARGETS):
        policy = found.cheapest(target)
        memory = None if policy is None else found.memory_for(target, policy)
        if policy is not None and memory is not None:
            return f'budget=hg.Budget(rows={memory.rows:_}), policy="{policy.lower()}"'
    return None


def _today(found: "WhatIf") -> Section:
    left, right = found.rows
    made = "worth of result" if found.importance else "result rows"
    if found.buffered:
        made += " a window"
    kind = " buffered" if found.buffered else ""
    about = "" if found.is_exact else "about "
    return Section(
        "Today",
        (
            found.question,
            f"{left:,} left and {right:,} right rows{kind} make "
            f"{about}{_rounded(found.pairs):,} {made}.",
            f"To make them all, the exact join holds up to "
            f"{memory_text(found.needs.rows, found.needs.bytes)}.",
            f"{headline(found)}.",
            *_pasted(found),
        ),
    )


def _pasted(found: "WhatIf") -> tuple[str, ...]:
    line = to_paste(found)
    return () if line is None else (f"For your WindowJoin: {line}",)


def _memory_for(found: "WhatIf") -> Section:
    rows = []
    for policy in (*found.policies, *([LABEL] if found.optimum else [])):
        cells = [f"{policy} (knows the future)" if policy == LABEL else policy]
        for target in TARGETS:
            memory = found.memory_for(target, policy)
            if memory is None:
                cells.append(NOT_TRIED)
                continue
            rows_text = f"{_rounded(memory.rows):,}"
            if not found.is_exact and policy != LABEL:
                most = "more" if memory.most is None else f"{_rounded(memory.most):,}"
                rows_text += f" ({_rounded(memory.least):,} to {most})"
            cells.append(f"{rows_text}, {format_bytes(memory.bytes)}")
        rows.append(tuple(cells))
    what = "importance" if found.importance else "result"
    heads = ("policy", *(f"{target:.0%}".replace("%", " %") for target in TARGETS))
    return Section(f"Rows and bytes for 90, 95 and 99 % of the {what}", (), heads, tuple(rows))


def _best(found: "WhatIf") -> Section:
    best = [(_best_at(found, rows), rows) for rows in found.memory]
    lines = []
    for policy, group in groupby(best, key=lambda entry: entry[0]):
        tried = [rows for _, rows in group]
        where = f"{tried[0]:,} rows"
        if len(tried) > 1:
            where = f"{tried[0]:,} to {tried[-1]:,} rows"
        lines.append(f"{where}: {policy}")
    return Section("Best of those tried", tuple(lines))


def _best_at(found: "WhatIf", rows: int) -> str:
    at = [point for point in found.points if point.rows == rows]
    most = max(point.recall for point in at)
    close = [point for point in at if point.recall >= most - AS_GOOD]
    if 2 * len(close) > len(at) > 2:
        return "all much the same" if len(close) == len(at) else "most of them"
    return max(close, key=lambda point: point.recall).policy


def _recalls(found: "WhatIf") -> Section:
    labels = (*found.policies, *([LABEL] if found.optimum else []))
    known = {(point.policy, point.rows): point for point in (*found.points, *found.optimum)}
    rows = []
    for label in labels:
        points = [known.get((label, memory)) for memory in found.memory]
        cells = ["–" if point is None else f"{point.recall:.3f}" for point in points]
        error = max((off(point) for point in points if point is not None), default=0.0)
        rows.append((label, *cells, *(() if found.is_exact else (f"{error:.3f}",))))
    heads = (
        "rows of memory",
        *(f"{memory:,}" for memory in found.memory),
        *(() if found.is_exact else ("± at most",)),
    )
    return Section("Recall", (), heads, tuple(rows))


def off(point: "Point") -> float:
    """The 95 % confidence margin of a recall, as text."""
    return max(point.high - point.recall, point.recall - point.low)


def _how(found: "WhatIf") -> Section:
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
    return Section("How it was found", (how, *found.notes))


def _rounded(number: float) -> int:
    """Rounded to three digits, already more than the estimate's precision."""
    return round(float(f"{number:.3g}"))
