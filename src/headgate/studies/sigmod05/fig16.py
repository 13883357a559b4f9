"""Figure 16: how HEEB divides the cache between the streams, by lag and by noise.

Both streams have the noise of R on TOWER to begin with, and no lag. Five runs in place of
fifty: looking at what is stored every few steps takes time, and shares hardly differ between runs.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import pandas as pd
from matplotlib.figure import Figure as Drawing

from headgate.report.plot_style import PERCENT, QUIET, STYLES
from headgate.studies.sigmod05.algorithms import HEEB, HEEB_LITTLE, algorithm
from headgate.studies.sigmod05.compare import CACHES
from headgate.studies.sigmod05.shares import share_of_r
from headgate.studies.sigmod05.streams import (
    PAPER,
    QUICK_STEPS,
    STEPS,
    Streams,
    draw_streams,
    normal_trends,
)
from headgate.studies.study import Claim, ClaimFinding, Figure, Row, Study, StudyCell

ALIKE, LAG_2, LAG_4 = "both alike", "R lags by 2", "R lags by 4"
TWICE, FOUR_TIMES = "noise of S ×2", "noise of S ×4"
CASES = {ALIKE: (0, 1), LAG_2: (2, 1), LAG_4: (4, 1), TWICE: (0, 2), FOUR_TIMES: (0, 4)}
"""Steps that R lags, and the factor of S's standard deviation."""
LAGS, NOISES = (ALIKE, LAG_2, LAG_4), (ALIKE, TWICE, FOUR_TIMES)
SMALL = 10
"""With less than this the order of the noises depends on how long rows are taken to stay."""


@lru_cache(maxsize=2)
def streams_of(case: str, seed: int, quick: bool) -> Streams:
    """Two trends of normal noise, R's of standard deviation 1."""
    lag, factor = CASES[case]
    return draw_streams(normal_trends(1, factor, lag), QUICK_STEPS if quick else STEPS, seed)


def measure(cell: StudyCell) -> Sequence[Row]:
    """R's share of the cache."""
    streams, rows = streams_of(cell["case"], cell.seed, cell.quick), cell["cache"]
    policy = algorithm(cell["algorithm"], streams, rows, cell.seed)
    return [{"share": share_of_r(streams, policy, rows)}]


def shares(results: pd.DataFrame, name: str = HEEB) -> pd.DataFrame:
    """The mean share, a column a case."""
    own = results[results["algorithm"] == name]
    return own.pivot_table(index="cache", columns="case", values="share")


def _even(results: pd.DataFrame) -> ClaimFinding:
    off = (shares(results)[ALIKE] - 0.5).abs().loc[5:]
    return ClaimFinding(bool(off.max() < 0.05), f"off by at most {off.max():.3f}")


def _lag(results: pd.DataFrame) -> ClaimFinding:
    found = shares(results)
    falls = [(found[a] - found[b]) for a, b in pairwise(LAGS)]
    least = [float(fall.loc[SMALL:].min()) for fall in falls]
    every = min(float(fall.min()) for fall in falls)
    at = found.loc[SMALL, list(LAGS)]
    shown = ", ".join(f"{share:.2f}" for share in at)
    return ClaimFinding(
        min(least) > 0 and every > -0.005,
        f"with cache {SMALL} R has {shown}; least fall {every:.3f}",
    )


def _noise(results: pd.DataFrame) -> ClaimFinding:
    found = shares(results).loc[SMALL:25]
    rises = [float((found[b] - found[a]).min()) for a, b in pairwise(NOISES)]
    shown = ", ".join(f"{share:.2f}" for share in found.loc[SMALL, list(NOISES)])
    return ClaimFinding(min(rises) > 0, f"with cache {SMALL} R has {shown}")


def _noise_small(results: pd.DataFrame) -> ClaimFinding:
    found = shares(results).loc[: SMALL - 1]
    rises = pd.concat([found[b] - found[a] for a, b in pairwise(NOISES)], axis=1).min(axis=1)
    cache = int(rises.index[int(rises.to_numpy().argmin())])
    shown = ", ".join(f"{share:.2f}" for share in found.loc[cache, list(NOISES)])
    return ClaimFinding(bool(rises.min() > 0), f"with cache {cache} R has {shown}")


def _evens_out(results: pd.DataFrame) -> ClaimFinding:
    found = shares(results)
    off = (found - 0.5).abs()
    few, many = off.loc[SMALL].max(), off.loc[found.index.max()].max()
    return ClaimFinding(bool(many < few / 2), f"farthest from a half: {few:.2f}, then {many:.2f}")


def draw(results: pd.DataFrame) -> Drawing:
    """A panel for lags, and one for noises."""
    figure = Drawing(figsize=(9.4, 3.9), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    titles = ("R lags behind S", "S has more noise than R")
    for axes, cases, title in zip(panels, (LAGS, NOISES), titles, strict=True):
        for case, (colour, marker) in zip(cases, STYLES, strict=False):
            for name, dashes in ((HEEB, "-"), (HEEB_LITTLE, (0, (4, 2)))):
                found = shares(results, name)
                if case in found:
                    axes.plot(
                        found.index,
                        found[case],
                        color=colour,
                        marker=marker if name == HEEB else None,
                        markersize=4.5,
                        linewidth=1.5 if name == HEEB else 1.0,
                        linestyle=dashes,
                        label=case if name == HEEB else None,
                    )
        axes.axhline(0.5, color=QUIET, linewidth=0.8, linestyle=":")
        axes.set_title(title, loc="left")
        axes.set_xlabel("cache size (rows)")
        axes.set_ylim(0, 1)
        axes.set_xlim(left=0)
        axes.yaxis.set_major_formatter(PERCENT)
        axes.legend(loc="lower right" if cases is LAGS else "upper right")
    panels[0].set_ylabel("share of the cache taken by R")
    if HEEB_LITTLE in results["algorithm"].unique():
        panels[1].text(0.8, 0.03, "dashed: lifetime by Little’s law", color=QUIET)
    return figure


STUDY = Study(
    name="sigmod05-fig16",
    title="How HEEB divides the cache between two streams",
    paper=PAPER,
    place="section 8, Figure 16",
    grid={"case": tuple(CASES), "algorithm": (HEEB, HEEB_LITTLE), "cache": CACHES},
    quick_grid={"cache": (5, 10, 20, 50), "algorithm": (HEEB,)},
    measure=measure,
    seeds=tuple(range(1, 6)),
    claims=(
        Claim(
            "alike-is-even",
            "Streams that are alike share the cache evenly (within 0.05, from a cache of 5 on)",
            _even,
        ),
        Claim(
            "less-for-the-lagging",
            "The further R lags behind, the less of the cache it is given (strictly from a cache "
            "of 10 on; below, where nothing may be left, not more)",
            _lag,
        ),
        Claim(
            "less-for-the-noisy",
            "The more noise S has, the less of the cache it is given, with caches from 10 to 25",
            _noise,
        ),
        Claim(
            "less-for-the-noisy-in-small-caches",
            "and with caches below 10 too",
            _noise_small,
            departs="With four times the noise R has less than with twice the noise, and with up "
            "to three rows less than where both are alike (two rows: 0.32, 0.53 and 0.45). A row "
            "of S far ahead of R has large chances in some steps' time, and is taken to stay 12.5 "
            "steps, which nothing does in so small a cache. With the lifetime by Little's law "
            "(dashed) the order is as printed from two rows on (0.43, 0.52, 0.70).",
        ),
        Claim(
            "ample-memory-evens-out",
            "With ample memory nobody needs to be preferred (a cache of 50: less than half as far "
            "from an even split as with 10)",
            _evens_out,
        ),
    ),
    figures=(Figure(draw),),
)
