"""Beyond the paper: when IJOIN is the policy to choose, and when it is not.

Forty rows of memory, so that a row stays for 20 seconds, and topics that are hot for a shorter
or longer time than that. IJOIN gets no parameters here: its thresholds follow from the stay.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from headgate.models import AgeCurves, Frequencies, LinearTrend, Noise
from headgate.policies import Age, Fifo, Greedy, Heeb, Ijoin, Policy, Prob
from headgate.policies.learned import FADING as FADES
from headgate.policies.offline import Opt
from headgate.report.plot_style import QUIET, STYLES
from headgate.spec.quantity import SECOND_US
from headgate.studies.ijoin.compare import LINES as PAPERS_LINES
from headgate.studies.ijoin.compare import chosen, lead, listed
from headgate.studies.ijoin.plans import FADING, LAST_WINDOW, plan
from headgate.studies.ijoin.schemes import FIFO, GREEDY, IJOIN, measured
from headgate.studies.ijoin.streams import BY_ROW, BY_VALUE, PAPER, Case, Streams, draw_streams
from headgate.studies.sigmod05.streams import START
from headgate.studies.study import Claim, ClaimFinding, Figure, Row, Study, StudyCell

MEMORY = 40
STAY_S = MEMORY // 2
WINDOW_S = 5 * STAY_S
DOMAIN = 60
SECONDS, QUICK_SECONDS = 2500, 1000
PROB, AGE, HEEB, OPT = "PROB × importance", "AGE × importance", "HEEB × importance", "OPT-offline"
SCHEMES = (OPT, IJOIN, FADING, PROB, AGE, LAST_WINDOW, GREEDY, FIFO, HEEB)
UNIFORM, ZIPF = "independent, uniform", "independent, Zipf"
TREND = "values on a trend"
PROCESS = LinearTrend(0.5, 0, Noise.normal(5, bound=15))
"""Values rise by half a step a second, so that a row meets its like for less than two stays."""
AGE_BUCKETS = 50
LEAST_SHOWN = 0.02
TOPICS = {f"topics of {low:g} to {2 * low:g} stays": low for low in (0.5, 1, 2, 5, 10)}
STREAMS = (*TOPICS, UNIFORM, ZIPF, TREND)
MIDDLE = [f"topics of {low:g} to {2 * low:g} stays" for low in (1, 2)]
LINES: dict[str, dict[str, Any]] = {
    scheme: PAPERS_LINES.get(scheme, {**PAPERS_LINES[FIFO], "color": colour, "marker": marker})
    for scheme, (colour, marker) in zip(
        SCHEMES,
        (STYLES[5], STYLES[0], STYLES[9], STYLES[3], STYLES[6], STYLES[4], *STYLES[1:3], STYLES[7]),
        strict=True,
    )
}


def case_of(stream: str, by: str) -> Case:
    """How the streams of a name come about."""
    if stream in TOPICS:
        low = TOPICS[stream] * STAY_S
        return Case((low, 2 * low), importance=by)
    return Case(skew=1.0 if stream == ZIPF else 0.0, importance=by)


@lru_cache(maxsize=2)
def streams_of(stream: str, by: str, seed: int, quick: bool) -> Streams:
    """The streams of a cell."""
    case, seconds = case_of(stream, by), QUICK_SECONDS if quick else SECONDS
    if stream != TREND:
        return draw_streams(case, seed, seconds, DOMAIN)
    values = np.stack([PROCESS.simulate(seconds, 2 * seed + side) for side in (0, 1)])
    codes = values - values.min()
    rng = np.random.default_rng(seed)
    return Streams(values, case.importances(codes, int(codes.max()) + 1, rng))


def age_curves(streams: Streams) -> AgeCurves:
    """How the rows of streams match as they grow older, all of them counted."""
    matches = np.zeros((2, AGE_BUCKETS))
    for side, ages in enumerate(ages_of(streams)):
        counted = np.histogram(ages, AGE_BUCKETS, (0, WINDOW_S))[0]
        matches[side] = counted / streams.values.shape[1]
    window_us = WINDOW_S * SECOND_US
    return AgeCurves.of_buckets((window_us, window_us), (matches[0], matches[1]))


def ages_of(streams: Streams) -> tuple[np.ndarray, np.ndarray]:
    """The ages at which rows of R, and of S, meet a row of the other within the window."""
    found: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for value in np.unique(streams.values):
        at = [streams.seconds[side][streams.values[side] == value] for side in (0, 1)]
        for side in (0, 1):
            ages = (at[1 - side][None, :] - at[side][:, None]).ravel()
            found[side].append(ages[(ages > 0) & (ages <= WINDOW_S)])
    return np.concatenate(found[0]), np.concatenate(found[1])


def policy_of(scheme: str, streams: Streams, seed: int) -> Policy:
    """The policy for these streams: PROB gets the overall value frequencies, AGE the ages at which
    rows match, HEEB the process of the values, OPT everything."""
    if scheme in (LAST_WINDOW, FADING):
        return plan(scheme, streams, MEMORY, WINDOW_S, seed)
    if scheme == OPT:
        windows = (f"{WINDOW_S} seconds", f"{WINDOW_S} seconds")
        importance = (streams.importance[0], streams.importance[1])
        return Opt.plan(*streams.events, windows, MEMORY, (1, 1), importance)
    if scheme == PROB:
        return Prob(Frequencies.of_tables(*streams.tables, ["value"], ["value"]))
    if scheme == AGE:
        return Age(age_curves(streams))
    if scheme == HEEB:
        return Heeb(PROCESS, PROCESS, start=START)
    return {IJOIN: Ijoin(), GREEDY: Greedy(), FIFO: Fifo()}[scheme]


def fading_of(streams: Streams) -> float:
    """How much more slowly rows match for every stay that they have grown older, as auto has it."""
    ages = np.concatenate(ages_of(streams))
    young = int(np.count_nonzero(ages <= STAY_S))
    faster = (young / STAY_S) / ((len(ages) - young) / (WINDOW_S - STAY_S))
    # Up to a stay and beyond it, rows are half a window apart on average.
    return float(np.log(faster)) * STAY_S / (WINDOW_S / 2)


def measure(cell: StudyCell) -> Sequence[Row]:
    """The importance that a policy makes, and how fast matches fade."""
    scheme = cell["scheme"]
    if scheme == HEEB and cell["stream"] != TREND:
        return []  # it needs a process of the values, and elsewhere they do not move
    streams = streams_of(cell["stream"], cell["by"], cell.seed, cell.quick)
    policy = policy_of(scheme, streams, cell.seed)
    row = measured(streams, policy, MEMORY, WINDOW_S, seed=cell.seed)
    fading = fading_of(streams) if scheme == FIFO else np.nan
    return [{"run": 0, "importance": row["importance"], "fading": fading}]


def over_fifo(results: pd.DataFrame, by: str) -> pd.DataFrame:
    """Importance with a row a stream and a column a scheme, FIFO's being 1."""
    own = chosen(results, by=by)
    found = own.pivot_table(index="stream", columns="scheme", values="importance", aggfunc="mean")
    return found.div(found[FIFO], axis=0).reindex([s for s in STREAMS if s in found.index])


def fading_by_stream(results: pd.DataFrame) -> pd.DataFrame:
    """How fast matches fade: a row a stream, a column for importance by."""
    own = chosen(results, scheme=FIFO)
    return own.pivot_table(index="stream", columns="by", values="fading", aggfunc="mean")


def _ahead(
    schemes: Sequence[str], streams: Sequence[str]
) -> Callable[[pd.DataFrame], ClaimFinding]:
    def check(results: pd.DataFrame) -> ClaimFinding:
        least: dict[str, tuple[float, str]] = {}
        holds = True
        for (by, stream), own in results[results["stream"].isin(streams)].groupby(["by", "stream"]):
            for rival in schemes:
                found = lead(chosen(own, scheme=IJOIN), chosen(own, scheme=rival))
                holds &= found.by > 0
                if rival not in least or found.by < least[rival][0]:
                    least[rival] = found.by, f"{stream}, {by}"
        shown = "; ".join(
            f"{rival}: {by:+.0%} at least ({at})" for rival, (by, at) in least.items()
        )
        return ClaimFinding(bool(holds), shown)

    return check


def _behind(stream: str, rivals: Sequence[str]) -> Callable[[pd.DataFrame], ClaimFinding]:
    def check(results: pd.DataFrame) -> ClaimFinding:
        shown, holds = [], True
        for by, own in chosen(results, stream=stream).groupby("by"):
            leads = {r: lead(chosen(own, scheme=IJOIN), chosen(own, scheme=r)).by for r in rivals}
            holds &= all(each < 0 for each in leads.values())
            shown.append(f"{by}: " + ", ".join(f"{r} {each:+.0%}" for r, each in leads.items()))
        return ClaimFinding(bool(holds), "; ".join(shown))

    return check


def _in_order(schemes: Sequence[str], stream: str) -> Callable[[pd.DataFrame], ClaimFinding]:
    def check(results: pd.DataFrame) -> ClaimFinding:
        shown, holds = [], True
        for by in results["by"].unique():
            found = over_fifo(results, by).loc[stream, list(schemes)]
            holds &= bool(found.is_monotonic_decreasing)
            shown.append(f"{by}: " + ", ".join(f"{n} {each:.2f}" for n, each in found.items()))
        return ClaimFinding(holds, "; ".join(shown) + " of FIFO")

    return check


def _shortest(results: pd.DataFrame) -> ClaimFinding:
    stream = next(iter(TOPICS))
    found = {by: over_fifo(results, by).loc[stream] for by in results["by"].unique()}
    return ClaimFinding(
        all(row[AGE] > 0.99 * row[IJOIN] and row[IJOIN] < 1.02 for row in found.values()),
        "; ".join(f"{by}: AGE {row[AGE]:.3f}, IJOIN {row[IJOIN]:.3f}" for by, row in found.items()),
    )


def _criterion(results: pd.DataFrame) -> ClaimFinding:
    """Where the criterion chooses, and what it loses against the better of the two."""
    fading = fading_by_stream(results)
    kept: list[float] = []
    for by in results["by"].unique():
        both = over_fifo(results, by)[[IJOIN, PROB]]
        taken = both[IJOIN].where(fading[by].reindex(both.index) > FADES, both[PROB])
        kept += (taken / both.max(axis=1)).tolist()
    least, mean = min(kept), float(np.mean(kept))
    return ClaimFinding(
        bool(mean > 0.97), f"{mean:.1%} of the better on average, {least:.1%} at least"
    )


def _fading(results: pd.DataFrame) -> ClaimFinding:
    shown, holds = [], True
    for by in results["by"].unique():
        found = over_fifo(results, by)
        share = found[IJOIN] / found[FADING]
        holds &= bool((share < 1.1).all() and (share[[UNIFORM, ZIPF]] < 1).all())
        shown.append(f"{by}: {listed(share, '{:.2f}')}")
    return ClaimFinding(holds, "; ".join(shown))


def _opt(results: pd.DataFrame) -> ClaimFinding:
    most = max(
        float(found.drop(columns=OPT).max(axis=1).div(found[OPT]).max())
        for found in (over_fifo(results, by) for by in results["by"].unique())
    )
    return ClaimFinding(most <= 1, f"at most {most:.0%} of it")


def draw(results: pd.DataFrame) -> Drawing:
    """One panel per kind of importance, and one for the criterion."""
    figure = Drawing(figsize=(12.4, 5.4), layout="constrained")
    panels = figure.subplots(1, 3, width_ratios=(1, 1, 0.9))
    for axes, by in zip(panels, results["by"].unique(), strict=False):
        found = over_fifo(results, by)
        topics = [place for place, stream in enumerate(found.index) if stream in TOPICS]
        for scheme, style in LINES.items():
            line = found[scheme].to_numpy()
            axes.plot(topics, line[topics], label=scheme, **style)
            axes.plot(range(len(found)), line, **{**style, "linestyle": "none"})
        names = [
            name.replace("topics of ", "").replace(", ", ",\n").replace(" on", "\non")
            for name in found.index
        ]
        axes.set_xticks(range(len(found)), names, rotation=90)
        axes.set_xlabel("how long a topic is hot; or none is")
        axes.set_ylabel("total importance / FIFO")
        axes.set_title(f"Importance {by}", loc="left")
        axes.set_ylim(bottom=0)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    _draw_criterion(panels[2], results)
    return figure


def _draw_criterion(axes: Axes, results: pd.DataFrame) -> None:
    fading = fading_by_stream(results)
    for by, (colour, marker) in zip(results["by"].unique(), STYLES, strict=False):
        found = over_fifo(results, by)
        axes.scatter(
            fading[by].reindex(found.index).clip(lower=LEAST_SHOWN),
            found[IJOIN] / found[PROB],
            color=colour,
            marker=marker,
            label=f"importance {by}",
        )
    axes.axvline(FADES, color=QUIET, linestyle=":")
    axes.axhline(1, color=QUIET, linewidth=0.9)
    axes.set_xscale("log")
    ticks = (LEAST_SHOWN, FADES, 0.1, 0.3, 1.0)
    axes.set_xticks(ticks, [f"≤{LEAST_SHOWN:g}", *(f"{tick:g}" for tick in ticks[1:])])
    axes.minorticks_off()
    axes.set_xlabel("how much matches fade in a stay")
    axes.set_ylabel(f"IJOIN / {PROB}")
    axes.set_title("When to choose IJOIN", loc="left")
    axes.legend()


STUDY = Study(
    name="ijoin-rivals",
    title="IJOIN against policies that go by values: when to choose which",
    paper=PAPER,
    place="beyond the paper",
    grid={"by": (BY_VALUE, BY_ROW), "stream": STREAMS, "scheme": SCHEMES},
    measure=measure,
    seeds=tuple(range(1, 6)),
    claims=(
        Claim("opt-above-all", "OPT-offline is above all others", _opt),
        Claim(
            "ijoin-first-on-changing-topics",
            "Topics that are hot for one to four times the stay of a row: IJOIN makes more than "
            "PROB × importance, GREEDY, FIFO and importance × count in the last window",
            _ahead((PROB, GREEDY, FIFO, LAST_WINDOW), MIDDLE),
        ),
        Claim(
            "ijoin-above-greedy-on-topics",
            "On topics of any length it makes more than GREEDY",
            _ahead((GREEDY,), tuple(TOPICS)),
        ),
        Claim(
            "uniform-is-for-greedy",
            "Independent uniform values: IJOIN makes less than GREEDY and PROB × importance",
            _behind(UNIFORM, (GREEDY, PROB)),
        ),
        Claim(
            "zipf-is-for-prob",
            "Independent skewed values: IJOIN makes less than PROB × importance",
            _behind(ZIPF, (PROB,)),
        ),
        Claim(
            "fading-counts",
            "A policy that counts values, importance × fading counts in both streams, is nowhere "
            "far behind IJOIN (10 %), and ahead on long topics and independent values: what speaks "
            "for IJOIN is that it counts none",
            _fading,
        ),
        Claim(
            "criterion",
            f"Choosing IJOIN where the matches of rows fade by more than {FADES:g} in a stay, and "
            "else PROB × importance, makes nearly as much as the better of the two (97 % on "
            "average)",
            _criterion,
        ),
        Claim(
            "a-trend-is-for-heeb",
            "Values on a trend: HEEB, told of it, makes more than AGE, AGE more than FIFO",
            _in_order((HEEB, AGE, FIFO), TREND),
        ),
        Claim(
            "a-trend-is-not-for-ijoin",
            "Values on a trend: IJOIN makes less than HEEB, AGE, FIFO and fading counts",
            _behind(TREND, (HEEB, AGE, FIFO, FADING)),
        ),
        Claim(
            "age-on-the-shortest-topics",
            "Topics that are hot for no longer than a stay: AGE makes as much as IJOIN (1 %), and "
            "IJOIN no more than FIFO (2 %)",
            _shortest,
        ),
    ),
    figures=(Figure(draw),),
)
