"""Recall of policies that learn their model, are given it, or use none."""

from collections.abc import Sequence
from functools import lru_cache

import pandas as pd
from matplotlib.figure import Figure as Drawing

from headgate.demo.auction_join import auction_join, count_ages
from headgate.demo.auctions import auction_stream
from headgate.policies import Age, Policy, Prob
from headgate.report.plot_style import PERCENT, QUIET, STYLES
from headgate.spec import Budget
from headgate.spec.budget import AMPLE
from headgate.studies.streams import Streams, zipf
from headgate.studies.study import Claim, ClaimFinding, Figure, Row, Study, StudyCell

AUCTIONS, ZIPF = "auctions", "Zipf keys"
MODEL = {AUCTIONS: "AGE", ZIPF: "PROB"}
"""The model that fits each stream."""
TOLD = "told"
UNMODELLED = ("RANDOM", "FIFO", "LRU", "TTL", "JOIN-TO-LIVE")
MEMORY = 0.1
"""Of the rows that the exact join stores."""
ROWS, QUICK_ROWS, QUICK_ZIPF_ROWS = 1_000_000, 500_000, 200_000


@lru_cache(maxsize=1)
def zipf_streams(seed: int, quick: bool) -> Streams:
    """Zipf(1) keys, twenty windows of them."""
    rows = QUICK_ZIPF_ROWS if quick else ROWS
    return zipf(rows // 2, seconds=200, seed=seed, keys=rows // 20)


@lru_cache(maxsize=4)
def budget_of(stream: str, seed: int, quick: bool) -> Budget:
    """A tenth of what the exact join stores."""
    if stream == ZIPF:
        peak = zipf_streams(seed, quick).join("fifo", AMPLE).stats.peak_rows
    else:
        auctions = auction_stream(QUICK_ROWS if quick else ROWS, seed)
        outcome = auction_join(AMPLE, "fifo").run(auctions.auctions, auctions.bids)
        peak = outcome.stats.peak_rows
    return Budget(rows=round(MEMORY * peak))


def measure(cell: StudyCell) -> Sequence[Row]:
    """Recall of one policy on one stream."""
    stream, seed, quick = cell["stream"], cell.seed, cell.quick
    budget, policy = budget_of(stream, seed, quick), cell["policy"]
    if stream == ZIPF:
        streams = zipf_streams(seed, quick)
        chosen: str | Policy = Prob(streams.frequencies()) if policy == TOLD else _name(policy)
        outcome = streams.join(chosen, budget)
    else:
        auctions = auction_stream(QUICK_ROWS if quick else ROWS, seed)
        chosen = Age(count_ages(auctions)) if policy == TOLD else _name(policy)
        outcome = auction_join(budget, chosen).run(
            auctions.auctions.select(["id", "opened_at"]),
            auctions.bids.select(["auction", "bid_at"]),
        )
    return [{"rows": budget.rows, "recall": outcome.recall}]


def _name(policy: str) -> str:
    return policy.lower()


def _reaches(results: pd.DataFrame, stream: str) -> ClaimFinding:
    recall = _recall(results, stream)
    learned, told = recall[MODEL[stream]], recall[TOLD]
    return ClaimFinding(
        bool(learned >= 0.95 * told),
        f"{learned:.3f} learned, {told:.3f} told: {learned / told:.1%}; auto {recall['auto']:.3f}",
    )


def _learned_age(results: pd.DataFrame) -> ClaimFinding:
    return _reaches(results, AUCTIONS)


def _learned_prob(results: pd.DataFrame) -> ClaimFinding:
    return _reaches(results, ZIPF)


def _ahead(results: pd.DataFrame, stream: str, others: Sequence[str], times: float) -> ClaimFinding:
    recall = _recall(results, stream)
    learned = float(recall[MODEL[stream]])
    best = max(others, key=lambda name: float(recall[name]))
    return ClaimFinding(
        bool(learned >= times * recall[best]),
        f"{learned:.3f}; next is {best} with {recall[best]:.3f}",
    )


def _age_ahead(results: pd.DataFrame) -> ClaimFinding:
    return _ahead(results, AUCTIONS, UNMODELLED, 1.3)


def _prob_ahead(results: pd.DataFrame) -> ClaimFinding:
    return _ahead(results, ZIPF, tuple(name for name in UNMODELLED if name != "LRU"), 2.0)


def _prob_ahead_of_lru(results: pd.DataFrame) -> ClaimFinding:
    return _ahead(results, ZIPF, ("LRU",), 1.4)


def _recall(results: pd.DataFrame, stream: str) -> "pd.Series[float]":
    return results[results["stream"] == stream].groupby("policy")["recall"].mean()


def draw(results: pd.DataFrame) -> Drawing:
    """A bar a policy, the best on top."""
    figure = Drawing(figsize=(9.4, 3.8), layout="constrained")
    panels = figure.subplots(1, 2)
    for axes, stream in zip(panels, (AUCTIONS, ZIPF), strict=True):
        recall = _recall(results, stream).sort_values()
        names = [f"{MODEL[stream]}, told" if n == TOLD else n for n in recall.index]
        learns = {"auto", "AGE", "PROB"}
        colours = [STYLES[0][0] if name in learns else "#b8b8b8" for name in recall.index]
        bars = axes.barh(names, recall.to_numpy(), color=colours)
        axes.bar_label(bars, fmt="{:.1%}", padding=3, color=QUIET)
        axes.set_title(f"{stream[0].upper()}{stream[1:]}, 10 % memory (blue: learned)", loc="left")
        axes.set_xlabel("recall")
        axes.xaxis.set_major_formatter(PERCENT)
        axes.set_xlim(0, 1.15 * float(recall.max()))
        axes.grid(axis="y", visible=False)
    return figure


STUDY = Study(
    name="learned-told",
    title="Models learned from the stream, and told",
    paper="Headgate",
    place="learning",
    grid={"stream": (AUCTIONS, ZIPF), "policy": ("auto", "AGE", "PROB", TOLD, *UNMODELLED)},
    measure=measure,
    seeds=(1, 2, 3),
    claims=(
        Claim(
            "learned-age",
            "Auctions: AGE that learns reaches 95 % of AGE told the true curve",
            _learned_age,
        ),
        Claim(
            "learned-prob",
            "Zipf: PROB that learns reaches 95 % of PROB told the true frequencies",
            _learned_prob,
        ),
        Claim(
            "age-far-ahead",
            "Auctions: learned AGE makes 1.3 times as many results as RANDOM, FIFO, LRU, TTL and "
            "JOIN-TO-LIVE",
            _age_ahead,
        ),
        Claim(
            "prob-far-ahead",
            "Zipf: learned PROB makes twice as many results as RANDOM, FIFO, TTL and JOIN-TO-LIVE",
            _prob_ahead,
        ),
        Claim(
            "prob-far-ahead-of-lru",
            "Zipf: learned PROB makes 1.4 times as many results as LRU",
            _prob_ahead_of_lru,
            departs="while frequencies stand still, the keys used last are the frequent ones, so "
            "LRU keeps them too; even told the true frequencies PROB is hardly ahead of it",
        ),
    ),
    figures=(Figure(draw),),
)
