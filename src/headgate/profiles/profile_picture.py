"""A profile as a figure: matches by age, and key frequencies."""

from pathlib import Path
from typing import TYPE_CHECKING

from headgate.models.model_plots import best_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from headgate.profiles.profile import Profile

COLOURS = ("#0072B2", "#D55E00")
NAMES = ("left", "right")


def save_picture(profile: "Profile", folder: Path, name: str = "profile") -> tuple[Path, Path]:
    """Draw the picture and save it as PNG and SVG; returns the two paths."""
    from headgate.report.plot_style import save

    return save(lambda: draw(profile), folder, name)


def draw(profile: "Profile") -> "Figure":
    """The figure: a panel for each side whose stored rows match, and one for the keys."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    from headgate.report.plot_style import LOOK

    stored = [side for side in (0, 1) if profile.windows_needed[side]] or [0]
    with rc_context(LOOK):
        figure = Figure(figsize=(4.8 * (len(stored) + 1), 3.9), layout="constrained")
        panels = figure.subplots(1, len(stored) + 1)
        for axes, side in zip(panels, stored, strict=False):
            _draw_ages(axes, profile, side)
        _draw_keys(panels[-1], profile)
        figure.suptitle(_headline(profile), x=0.01, ha="left", fontsize=11.5)
    return figure


def _headline(profile: "Profile") -> str:
    found = profile.explains
    if found.better is None:
        return "Which model explains the matches is unknown from this data"
    if found.better == "neither":
        return "Neither age nor key frequency explains the matches"
    what = "Age" if found.better == "age" else "Key frequency"
    other = "key frequency" if found.better == "age" else "age"
    return f"{what} explains the matches better than {other}, by {found.by:.2f} nats a match"


def _draw_ages(axes: "Axes", profile: "Profile", side: int) -> None:
    curve, needed = profile.ages[side], profile.windows_needed[side]
    _, unit = best_unit(curve.window)
    axes.set_prop_cycle(color=[COLOURS[side]])
    curve.plot(axes)
    axes.set_ylim(0, max(float(curve.matches.max()) * 1.12, 1e-9))
    if needed:
        at = needed[95].total_seconds() * 1e6 / unit
        axes.axvline(at, color="#555555", linestyle="--", linewidth=1.0)
        axes.annotate(
            "95 % of\nmatches",
            (at, 0.03),
            xycoords=("data", "axes fraction"),
            xytext=(-4, 0),
            textcoords="offset points",
            ha="right",
            fontsize=8.5,
            color="#555555",
        )
    column = profile.sides[side].time
    axes.set_title(f"Matches of a {NAMES[side]} row by its age ({column})", loc="left")


def _draw_keys(axes: "Axes", profile: "Profile") -> None:
    frequencies = (profile.frequencies.left, profile.frequencies.right)
    axes.set_prop_cycle(color=list(COLOURS))
    for side, known in enumerate(frequencies):
        if len(known.share):
            zipf = profile.skew[side].zipf
            known.plot(axes, label=f"{NAMES[side]}, Zipf exponent {zipf:.2f}")
    axes.set_title("How often keys come", loc="left")
    if axes.get_legend_handles_labels()[1]:
        axes.legend(loc="best")
