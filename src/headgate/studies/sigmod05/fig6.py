"""Figure 6: h, the worth of a cached value by its distance from a random walk's position."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Drawing

from headgate.models import ExponentialLife, Noise, PrecomputedCurve, RandomWalk
from headgate.report.plot_style import STYLES
from headgate.studies.sigmod05.streams import PAPER
from headgate.studies.study import Claim, ClaimFinding, Figure, Row, Study, StudyCell

DRIFTS = (0, 2, 4)
ALPHA = 10
"""The size of the cache, as in section 7.5; the figure does not say which it had."""
OFFSETS = np.arange(-10, 31)


def measure(cell: StudyCell) -> Sequence[Row]:
    """The curve of one drift."""
    walk = RandomWalk(cell["drift"], Noise.normal(1))
    curve = PrecomputedCurve.of(walk, ExponentialLife(ALPHA), caching=True)
    return [
        {"offset": int(offset), "h": float(h)}
        for offset, h in zip(OFFSETS, curve(OFFSETS), strict=True)
    ]


def curve_of(results: pd.DataFrame, drift: int) -> "pd.Series[float]":
    """h by offset."""
    return results[results["drift"] == drift].set_index("offset")["h"]


def _by_distance(results: pd.DataFrame) -> ClaimFinding:
    h = curve_of(results, 0)
    even = float((h.loc[-10:10].to_numpy() - h.loc[-10:10].to_numpy()[::-1]).max())
    falls = bool(h.loc[0:].diff().dropna().lt(0).all())
    return ClaimFinding(
        even < 1e-9 and falls,
        f"both sides alike within {even:.0e}, falling from {h[0]:.3f} at 0 to {h[10]:.3f} at 10",
    )


def _to_the_right(results: pd.DataFrame) -> ClaimFinding:
    shares = []
    for drift in DRIFTS:
        h = curve_of(results, drift).loc[-10:10]
        shares.append(float(h.loc[1:].sum() / (h.sum() - h[0])))
    shown = ", ".join(f"{share:.1%}" for share in shares)
    return ClaimFinding(
        shares == sorted(shares) and shares[0] < shares[1], f"right of the walk: {shown}"
    )


def _multiples(results: pd.DataFrame) -> ClaimFinding:
    holds, shown = True, []
    for drift in DRIFTS[1:]:
        h = curve_of(results, drift)
        peaks = [at for at in range(1, 3 * drift) if h[at] > h[at - 1] and h[at] > h[at + 1]]
        shown.append(f"drift {drift}: {', '.join(map(str, peaks)) or 'none'}")
        holds &= drift in peaks
    return ClaimFinding(holds, "local maxima at " + "; ".join(shown))


def draw(results: pd.DataFrame) -> Drawing:
    """A curve a drift."""
    figure = Drawing(figsize=(6.2, 3.8), layout="constrained")
    axes = figure.subplots()
    for drift, (colour, marker) in zip(DRIFTS, STYLES, strict=False):
        h = curve_of(results, drift)
        label = rf"drift $\phi_0 = {drift}$"
        axes.plot(h.index, h, color=colour, marker=marker, markersize=3.5, label=label)
    axes.set_xlabel(r"offset of the value from the present one, $v_x - x_{t_0}$")
    axes.set_ylabel(r"$h^R$, estimated expected benefit")
    axes.set_ylim(bottom=0)
    axes.set_title(rf"Random walk with normal steps (variance 1), $\alpha = {ALPHA}$", loc="left")
    axes.legend()
    return figure


STUDY = Study(
    name="sigmod05-fig6",
    title="What a cached value is worth, by its distance from a random walk",
    paper=PAPER,
    place="section 7.5, Figure 6",
    grid={"drift": DRIFTS},
    measure=measure,
    claims=(
        Claim(
            "zero-drift-ranks-by-distance",
            "Without drift values rank by their distance from the walk, as is optimal",
            _by_distance,
        ),
        Claim(
            "drift-prefers-the-right",
            "The larger the drift, the more is to be gained to the right of the walk (its share of "
            "h over offsets up to 10, the present value left out)",
            _to_the_right,
        ),
        Claim(
            "multiples-of-the-drift",
            "Values a multiple of the drift away receive some additional preference (a local "
            "maximum at the drift itself)",
            _multiples,
        ),
    ),
    figures=(Figure(draw),),
)
