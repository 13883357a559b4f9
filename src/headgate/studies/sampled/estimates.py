"""Bias of estimates, and how often their intervals cover the true value."""

from collections.abc import Sequence
from functools import lru_cache

import pandas as pd
from matplotlib.figure import Figure as Drawing

from headgate.api import estimate
from headgate.report.plot_style import PERCENT, STYLES
from headgate.studies.sampled.schemes import SCHEMES, STREAMS, UNIFORM_WRONG, ZIPF, sampled
from headgate.studies.study import Claim, ClaimFinding, Figure, Row, Study, StudyCell

RUNS, RUNS_A_CELL = 500, 25
AGGREGATES = ("count", "sum x", "sum y", "avg x", "avg y")
FEW_CLUSTERS = 30
LOW, HIGH = 0.92, 0.98


@lru_cache(maxsize=4)
def truth(stream: str) -> dict[str, float]:
    """The aggregates over the exact result."""
    exact = sampled(stream).exact
    x, y = (exact.column(name).to_numpy() for name in ("x", "y"))
    values = (len(x), x.sum(), y.sum(), x.mean(), y.mean())
    return {name: float(value) for name, value in zip(AGGREGATES, values, strict=True)}


def measure(cell: StudyCell) -> Sequence[Row]:
    """Estimates of a few samples, next to the truth."""
    stream, rows = cell["stream"], []
    for number in range(RUNS_A_CELL):
        run = RUNS_A_CELL * cell["block"] + number
        sample = sampled(stream).run(cell["scheme"], 10_000 * cell.seed + run).pairs
        for name, true in truth(stream).items():
            kind, _, column = name.partition(" ")
            found = getattr(estimate, kind)(sample, *filter(None, (column,)))
            rows.append(
                {
                    "run": run,
                    "aggregate": name,
                    "truth": true,
                    "estimate": found.estimate,
                    "standard_error": found.standard_error,
                    "low": found.low,
                    "high": found.high,
                    "rows": found.rows,
                    "clusters": found.clusters,
                }
            )
    return rows


def _errors(results: pd.DataFrame) -> pd.DataFrame:
    """For every scheme, stream and aggregate: how far the mean estimate is from the truth."""
    off = results.assign(off=results["estimate"] - results["truth"])
    errors = off.groupby(["scheme", "stream", "aggregate"])["off"].agg(["mean", "sem"])
    table = errors.reset_index()
    table["far"] = (table["mean"] / table["sem"]).abs()
    return table


def _unbiased(results: pd.DataFrame) -> ClaimFinding:
    errors = _errors(results[results["scheme"] != UNIFORM_WRONG])
    worst = errors.iloc[int(errors["far"].to_numpy().argmax())]
    return ClaimFinding(
        bool(worst["far"] <= 3),
        f"farthest {worst['far']:.1f} standard errors ({worst['scheme']}, {worst['stream']}, "
        f"{worst['aggregate']}) of {len(errors)} means",
    )


def _coverage(results: pd.DataFrame) -> "pd.Series[float]":
    enough = results[results["clusters"] >= FEW_CLUSTERS]
    covers = (enough["low"] <= enough["truth"]) & (enough["truth"] <= enough["high"])
    return covers.astype(float).groupby([enough["scheme"], enough["stream"]]).mean()


def _honest(results: pd.DataFrame) -> ClaimFinding:
    shares = _coverage(results[results["scheme"] != UNIFORM_WRONG])
    runs = results["run"].nunique()
    slack = 0.0 if runs >= RUNS else 0.03
    holds = bool(shares.between(LOW - slack, HIGH + slack).all())
    return ClaimFinding(holds, f"{shares.min():.1%} to {shares.max():.1%}, of {runs} runs each")


def _biased_when_wrong(results: pd.DataFrame) -> ClaimFinding:
    errors = _errors(results[results["scheme"] == UNIFORM_WRONG])
    own = errors[(errors["stream"] == ZIPF) & (errors["aggregate"] == "count")].iloc[0]
    true = truth(ZIPF)["count"]
    return ClaimFinding(
        bool(own["mean"] < 0 and own["far"] > 3),
        f"on Zipf keys the count falls short by {-own['mean'] / true:.1%}, "
        f"{own['far']:.1f} standard errors",
    )


def draw(results: pd.DataFrame) -> Drawing:
    """Estimates over the truth: their spread by scheme and stream."""
    figure = Drawing(figsize=(10.4, 3.6), layout="constrained")
    panels = figure.subplots(1, len(STREAMS), sharey=True)
    schemes = [*SCHEMES, UNIFORM_WRONG]
    for axes, stream in zip(panels, STREAMS, strict=True):
        own = results[(results["stream"] == stream) & (results["aggregate"] == "sum x")]
        for place, (scheme, (colour, _)) in enumerate(zip(schemes, STYLES, strict=False)):
            part = own[own["scheme"] == scheme]
            if part.empty:
                continue
            ratio = (part["estimate"] / part["truth"]).to_numpy()
            box = axes.boxplot(
                [ratio],
                positions=[place],
                widths=0.6,
                whis=(2.5, 97.5),
                showfliers=False,
                patch_artist=True,
                medianprops={"color": "black"},
                showmeans=True,
                meanprops={"marker": "o", "markerfacecolor": "white", "markeredgecolor": "black"},
            )
            box["boxes"][0].set_facecolor(colour)
            box["boxes"][0].set_alpha(0.5)
        axes.axhline(1.0, color="black", linewidth=0.8, linestyle=":")
        axes.set_xticks(range(len(schemes)), [name.replace(", ", "\n") for name in schemes])
        axes.tick_params(axis="x", labelsize=6.5, rotation=30)
        axes.set_title(stream[0].upper() + stream[1:], loc="left")
        axes.yaxis.set_major_formatter(PERCENT)
    panels[0].set_ylabel("estimated sum, share of the truth")
    return figure


STUDY = Study(
    name="sampled-estimates",
    title="Estimates from samples, and their intervals, against the truth",
    paper="Headgate",
    place="samples",
    grid={
        "stream": STREAMS,
        "scheme": (*SCHEMES, UNIFORM_WRONG),
        "block": tuple(range(RUNS // RUNS_A_CELL)),
    },
    quick_grid={"block": (0, 1)},
    measure=measure,
    seeds=(1,),
    claims=(
        Claim(
            "unbiased",
            "Count, sums and averages are right on average over 500 seeded runs (within 3 standard "
            "errors), for every scheme on every stream; PPS-CLUSTER also with frequencies wrong "
            "by a factor of 3",
            _unbiased,
        ),
        Claim(
            "honest",
            f"95 % intervals cover the truth in {LOW:.0%} to {HIGH:.0%} of the runs that have at "
            f"least {FEW_CLUSTERS} clusters",
            _honest,
        ),
        Claim(
            "uniform-depends-on-its-model",
            "UNIFORM is biased where frequencies are wrong by a factor of 3: matches beyond those "
            "expected are never sampled",
            _biased_when_wrong,
        ),
    ),
    figures=(Figure(draw),),
)
