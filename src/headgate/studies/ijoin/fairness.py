"""Beyond the paper's figures: what fairness costs in importance.

Section 3.5 wants a means to trade approximation quality for fairness. `MaxImportance` has one: with
that probability an eviction takes the oldest row, whatever the policy says. IJOIN has another of
its own, the maturity threshold.
"""

from collections.abc import Callable, Sequence

import pandas as pd
from matplotlib.figure import Figure as Drawing

from headgate.policies import Greedy, Policy
from headgate.report.plot_style import PERCENT, STYLES
from headgate.studies.ijoin.compare import chosen, in_case, lead
from headgate.studies.ijoin.schemes import GREEDY, IJOIN, ijoin, measured
from headgate.studies.ijoin.streams import HOT, HOT_BY_ROW, INDEPENDENT, PAPER, runs_of
from headgate.studies.study import Claim, ClaimFinding, Figure, Row, Study, StudyCell

SHARES = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.85, 1.0)
"""Shares of evictions that take the oldest row."""
SHORT, LONG = f"{IJOIN}, τ = 0.5 s", f"{IJOIN}, τ = 2 s"
POLICIES: dict[str, Policy] = {
    SHORT: ijoin(maturity_s=0.5),
    LONG: ijoin(),
    GREEDY: Greedy(),
}


def measure(cell: StudyCell) -> Sequence[Row]:
    """Run a policy that evicts the oldest row with some probability instead."""
    policy = POLICIES[cell["policy"]]
    return [
        {
            "run": run,
            **measured(streams, policy, fairness=cell["share"], seed=cell.seed),
        }
        for run, streams in enumerate(runs_of(cell["case"], cell.seed))
    ]


def _means(results: pd.DataFrame, policy: str) -> pd.DataFrame:
    own = chosen(results, policy=policy)
    return own.groupby("share")[["importance", "fairness"]].mean()


def _rises(results: pd.DataFrame) -> ClaimFinding:
    shown, holds = [], True
    for (case, policy), own in results.groupby(["case", "policy"]):
        found = own.groupby("share")["fairness"].mean()
        holds &= found.is_monotonic_increasing and found.iloc[-1] > 0.999
        if case == HOT:
            shown.append(f"{policy} from {found.iloc[0]:.0%}")
    return ClaimFinding(holds, f"{HOT}: {', '.join(shown)}")


def _price(policy: str) -> Callable[[pd.DataFrame], ClaimFinding]:
    def check(results: pd.DataFrame) -> ClaimFinding:
        found = _means(results, policy)
        falls = found["importance"].is_monotonic_decreasing
        half = found.loc[0.5] - found.loc[0.0]
        cost = half["importance"] / found["importance"][0.0]
        return ClaimFinding(
            falls, f"half of decisions: fairness {half['fairness']:+.0%}, importance {cost:+.0%}"
        )

    return check


def _greedy_gains(results: pd.DataFrame) -> ClaimFinding:
    own = chosen(results, policy=GREEDY)
    gain = lead(chosen(own, share=0.5), chosen(own, share=0.0))
    fair = _means(results, GREEDY)["fairness"]
    shown = f"importance {gain}, fairness {fair[0.0]:.0%} → {fair[0.5]:.0%}"
    return ClaimFinding(gain.is_sure and fair[0.5] > fair[0.0], shown)


def _ijoin_above(results: pd.DataFrame) -> ClaimFinding:
    """At the fairness GREEDY has, IJOIN makes more."""
    ours, theirs = _means(results, SHORT), _means(results, GREEDY)
    above = all(
        (ours["importance"][ours["fairness"] >= fairness] > importance).any()
        for importance, fairness in theirs[theirs["fairness"] < 0.95].to_numpy()
    )
    best = theirs["importance"].max() / ours["importance"].max()
    return ClaimFinding(above, f"GREEDY makes {best:.0%} of IJOIN's most, at best")


def draw(results: pd.DataFrame) -> Drawing:
    """A panel a case: importance against fairness, a line a policy."""
    figure = Drawing(figsize=(11.2, 3.9), layout="constrained")
    cases = list(results["case"].unique())
    panels = figure.subplots(1, len(cases), squeeze=False)[0]
    for axes, case in zip(panels, cases, strict=True):
        own = chosen(results, case=case)
        for policy, (colour, marker) in zip(POLICIES, STYLES, strict=False):
            found = _means(own, policy)
            axes.plot(
                found["fairness"], found["importance"], color=colour, marker=marker, label=policy
            )
            if policy == GREEDY:
                for share in (0.0, 0.5):
                    at = (found["fairness"][share], found["importance"][share])
                    axes.annotate(
                        f"φ = {share:g}",
                        at,
                        xytext=(0, -15),
                        textcoords="offset points",
                        ha="center",
                    )
        axes.set_title(case, loc="left")
        axes.set_xlabel("fairness")
        axes.xaxis.set_major_formatter(PERCENT)
        axes.set_ylim(bottom=0)
    panels[0].set_ylabel("total importance")
    figure.legend(
        *panels[0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=len(POLICIES),
        title="φ, the share of decisions that give up the oldest row, from 0 (left) to 1",
    )
    return figure


STUDY = Study(
    name="ijoin-fairness",
    title="What fairness costs in importance",
    paper=PAPER,
    place="section 3.5",
    grid={
        "case": (HOT, HOT_BY_ROW, INDEPENDENT),
        "policy": tuple(POLICIES),
        "share": SHARES,
    },
    quick_grid={"share": (0.0, 0.3, 0.5, 1.0)},
    measure=measure,
    seeds=tuple(range(1, 6)),
    claims=(
        Claim(
            "fairness-rises",
            "The more decisions give up the oldest row the fairer, up to 100 %, for every policy",
            _rises,
        ),
        Claim(
            "ijoin-pays",
            "Hot topics: for IJOIN every step costs importance",
            in_case(HOT, _price(SHORT)),
        ),
        Claim(
            "greedy-pays-on-independent-values",
            "Independent values: for GREEDY every step costs importance",
            in_case(INDEPENDENT, _price(GREEDY)),
        ),
        Claim(
            "greedy-gains-on-topics",
            "Hot topics: GREEDY gains both, fairness and importance, where half of the decisions "
            "give up the oldest row: a fairer scheme is 'likely to have better join quality'",
            in_case(HOT, _greedy_gains),
        ),
        Claim(
            "ijoin-dominates-on-topics",
            "Hot topics: at any fairness up to 95 % that GREEDY has, IJOIN makes more",
            in_case(HOT, _ijoin_above),
        ),
    ),
    figures=(Figure(draw),),
)
