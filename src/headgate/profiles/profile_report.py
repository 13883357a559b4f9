"""A profile as a report: sections for the terminal or plain text."""

from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from headgate.profiles.aged_matches import PERCENTS
from headgate.profiles.durations import about
from headgate.profiles.model_comparison import BUDGET_SHARE
from headgate.report.report_section import ReportSection
from headgate.report.report_section import as_text as text_of
from headgate.spec.quantity import format_bytes

if TYPE_CHECKING:
    from headgate.profiles.profile import Profile

MICROSECOND = timedelta(microseconds=1)
POLICIES = {"age": "AGE", "frequency": "PROB", "one constant rate": "RANDOM"}


def sections(profile: "Profile") -> tuple[ReportSection, ...]:
    """The report, part by part."""
    return (_rows(profile), _keys(profile), _matches(profile), _models(profile))


def as_text(profile: "Profile") -> str:
    """The report as plain text."""
    return text_of(sections(profile))


def _rows(profile: "Profile") -> ReportSection:
    firsts = [side.first_us for side in profile.rows if side.first_us is not None]
    lines = tuple(profile.notes)
    if firsts:
        # Python's datetimes only cover years of up to four digits.
        start = str(np.datetime64(min(firsts) // 1_000_000, "s")).replace("T", " ")
        covers = f"Covers {about(profile.span_us)}, from {start} UTC."
        lines = (covers, *lines)
    return ReportSection(
        "Rows",
        heads=("", "left", "right"),
        rows=(
            ("key", ", ".join(profile.keys.left), ", ".join(profile.keys.right)),
            ("time", *(side.time for side in profile.sides)),
            ("window", *(str(side.window) for side in profile.sides)),
            ("rows", *(f"{side.rows:,}" for side in profile.rows)),
            ("rows a second", *(f"{rate:,.4g}" for rate in profile.rates)),
            ("null keys", *(f"{side.null_keys:,}" for side in profile.rows)),
            ("null times", *(f"{side.null_times:,}" for side in profile.rows)),
        ),
        below=lines,
    )


def _keys(profile: "Profile") -> ReportSection:
    ranks = sorted({rank for side in profile.skew for rank in side.top})
    tops = tuple(
        (
            "heaviest key" if rank == 1 else f"{rank:,} heaviest keys",
            *(_percent(side.top[rank]) if rank in side.top else "" for side in profile.skew),
        )
        for rank in ranks
    )
    return ReportSection(
        "Keys",
        heads=("", "left", "right"),
        rows=(
            ("different keys", *(f"{side.keys:,}" for side in profile.skew)),
            ("skew (Zipf exponent)", *(f"{side.zipf:.2f}" for side in profile.skew)),
            *tops,
        ),
    )


def _matches(profile: "Profile") -> ReportSection:
    stored = profile.stored_rows
    roughly = "about " if profile.pairs.sampled else ""
    held = (
        f"The exact join holds {roughly}{stored.rows:,.0f} rows at its peak "
        f"({format_bytes(stored.bytes)})."
    )
    if not any(profile.windows_needed):
        return ReportSection("Matches: none", below=(held,))
    rows = tuple(
        (
            f"window for {percent} %",
            *(
                about(side[percent] / MICROSECOND) if side else "no matches"
                for side in profile.windows_needed
            ),
        )
        for percent in PERCENTS
    )
    curves = (profile.ages.left, profile.ages.right)
    a_row = ("matches a stored row", *(f"{curve.total:,.3g}" for curve in curves))
    best = (
        "best age to keep to",
        *(about(curve.best_age) if curve.total else "" for curve in curves),
    )
    return ReportSection(
        f"Matches: {profile.pairs}",
        heads=("", "left", "right"),
        rows=(a_row, best, *rows),
        below=(held,),
    )


def _models(profile: "Profile") -> ReportSection:
    found = profile.explains
    if found.better is None:
        return ReportSection("Which model explains the matches: unknown", below=(found.why_not,))
    title = f"Which model explains the matches: {found.better}"
    if found.better != "neither":
        title += f", by {found.by:.2f} nats a match"
    gains = {"age": found.age, "frequency": found.frequency, "one constant rate": 0.0}
    heads = ["model", "gain (nats a match)"]
    if found.recall:
        heads += ["policy", f"recall in {_percent(BUDGET_SHARE)}"]
    rows = []
    for model, gain in gains.items():
        cells = [model, _signed(gain)]
        if found.recall:
            cells += [POLICIES[model], _percent(found.recall[POLICIES[model]])]
        rows.append(tuple(cells))
    lines = [
        f"Learned on the first half of the time, judged on the second ({found.matches:,} matches)."
    ]
    if found.recall:
        lines.append(
            f"Recall is of joins run there within {found.budget_rows:,} rows, "
            f"{_percent(BUDGET_SHARE)} of what the exact join holds."
        )
    else:
        lines.append("No policy was run: the sample has too few matches for it, or far too many.")
    return ReportSection(title, heads=tuple(heads), rows=tuple(rows), below=tuple(lines))


def _signed(gain: float) -> str:
    shown = f"{gain:+.2f}"
    return shown if shown.strip("+-0.") else "0"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
