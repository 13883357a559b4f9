"""Figure 5: how long a row may go without a match before it is penalised.

Decay and penalty have the same effect: both evict rows that have matched, but not recently. The
paper gives neither constant, so this runs with and without decay, and with a light and a heavy
penalty.
"""

from collections.abc import Callable, Sequence

import pandas as pd
from matplotlib.figure import Figure as Drawing

from headgate.report.plot_style import STYLES
from headgate.studies.ijoin.compare import chosen, lead, listed
from headgate.studies.ijoin.schemes import (
    DECAY,
    IJOIN,
    PENALTY,
    SHEDDING,
    ijoin,
    measured_runs,
)
from headgate.studies.ijoin.streams import HOT, HOT_BY_ROW, PAPER
from headgate.studies.study import Claim, ClaimFinding, Figure, Row, Study, StudyCell

DELTAS = (2, 3, 4, 5)
LOCAL, GLOBAL = "local", "global"
LIGHT, HEAVY = "light", "heavy"
DECAYS = {LOCAL: DECAY, GLOBAL: 0.0}
PENALTIES = {LIGHT: PENALTY, HEAVY: 10 * PENALTY}
"""A row idle for its stay loses what one match brings, or ten."""


def measure(cell: StudyCell) -> Sequence[Row]:
    """Run IJOIN with a threshold; the other schemes, which have none, at the lowest one only."""
    policy = ijoin(
        unproductivity_s=cell["delta"],
        decay=DECAYS[cell["priority"]],
        penalty=PENALTIES[cell["penalty"]],
    )
    own = measured_runs(IJOIN, cell["case"], cell.seed, policy=policy)
    rows = [{"scheme": IJOIN, **row} for row in own]
    if (cell["delta"], cell["priority"], cell["penalty"]) != (DELTAS[0], LOCAL, LIGHT):
        return rows
    others = [
        {"scheme": name, **row}
        for name in SHEDDING
        for row in measured_runs(name, cell["case"], cell.seed)
    ]
    return rows + others


def _falls(priority: str, penalty: str, by: float) -> Callable[[pd.DataFrame], ClaimFinding]:
    """On hot topics; where importance is the row's, it is shown only."""

    def check(results: pd.DataFrame) -> ClaimFinding:
        shown, holds = [], True
        for case, own in results.groupby("case"):
            runs = chosen(own, scheme=IJOIN, priority=priority, penalty=penalty)
            low, high = (chosen(runs, delta=delta) for delta in (DELTAS[0], DELTAS[-1]))
            loss = lead(high, low)
            if case == HOT:
                holds = loss.by < -by and loss.by < -2 * loss.error
            shown.append(f"{case}: {loss.by:+.2%} ± {loss.error:.2%}")
        return ClaimFinding(holds, "; ".join(shown))

    return check


def _first(results: pd.DataFrame) -> ClaimFinding:
    least = []
    for _, own in results.groupby("case"):
        means = own.groupby("scheme")["importance"].mean()
        worst = chosen(own, scheme=IJOIN).groupby(["delta", "priority", "penalty"])["importance"]
        least.append(float(worst.mean().min() / means[list(SHEDDING)].max()))
    shown = ", ".join(f"{ratio:.2f}" for ratio in least)
    return ClaimFinding(min(least) > 1, f"at worst {shown} times the best of the others")


def _fair(results: pd.DataFrame) -> ClaimFinding:
    own = chosen(results, case=HOT, scheme=IJOIN, priority=LOCAL, penalty=LIGHT)
    found = own.groupby("delta")["fairness"].mean()
    return ClaimFinding(bool(found.between(0.795, 0.875).all()), listed(found))


def draw(results: pd.DataFrame) -> Drawing:
    """A panel a case: a line a kind of priority and penalty."""
    figure = Drawing(figsize=(9.6, 3.8), layout="constrained")
    panels = figure.subplots(1, 2)
    kinds = [(priority, penalty) for priority in DECAYS for penalty in PENALTIES]
    for axes, (case, own) in zip(panels, results.groupby("case"), strict=False):
        for (priority, penalty), (colour, marker) in zip(kinds, STYLES, strict=False):
            runs = chosen(own, scheme=IJOIN, priority=priority, penalty=penalty)
            means = runs.groupby("delta")["importance"].mean()
            label = f"{priority} priority (d = {DECAYS[priority]:g}), c = {PENALTIES[penalty]:g}"
            axes.plot(means.index, means, color=colour, marker=marker, label=label)
        axes.set_title(f"Figure 5: {case}", loc="left")
        axes.set_xlabel("unproductivity threshold Δ (s)")
        axes.set_ylabel("total importance, IJOIN")
        axes.set_xticks(DELTAS)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


STUDY = Study(
    name="ijoin-fig5",
    title="Total importance against the unproductivity threshold",
    paper=PAPER,
    place="section 5.4, Figure 5",
    grid={
        "case": (HOT, HOT_BY_ROW),
        "priority": tuple(DECAYS),
        "penalty": tuple(PENALTIES),
        "delta": DELTAS,
    },
    quick_grid={"delta": (DELTAS[0], DELTAS[-1])},
    measure=measure,
    seeds=tuple(range(1, 11)),
    claims=(
        Claim(
            "falls-with-the-threshold",
            "IJOIN's quality drops when the threshold is coarser: 1 % or more from 2 s to 5 s "
            "where matches do not decay (the global priority) and the penalty is heavy",
            _falls(GLOBAL, HEAVY, 0.01),
        ),
        Claim(
            "falls-a-little-with-decay",
            "and a little where they do (the local priority), with a light penalty",
            _falls(LOCAL, LIGHT, 0.0),
        ),
        Claim(
            "falls-much",
            "which is a loss to be seen in a figure (1 %)",
            _falls(LOCAL, LIGHT, 0.01),
            departs="It is 0.3 to 0.4 %. Where old matches fade, a row that has not matched for "
            "long has little priority left to be taken away.",
        ),
        Claim(
            "ijoin-first",
            "Whatever the threshold, IJOIN does better than all others",
            _first,
        ),
        Claim("ijoin-fair", "IJOIN is between 80 % and 85 % fair (within 2 points)", _fair),
    ),
    figures=(Figure(draw),),
)
