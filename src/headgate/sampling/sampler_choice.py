"""Chooses the sampler for a sampling goal."""

from dataclasses import replace

from headgate.models import AgeCurves, Frequencies
from headgate.policies.policy import Policy, Sampler
from headgate.sampling.cluster import EqCluster, PpsCluster
from headgate.sampling.fractions import fraction_for
from headgate.sampling.learned_cluster import LearnedCluster
from headgate.sampling.uniform import Uniform
from headgate.spec import Budget, Sample, SpecError, TimeWindow, Window
from headgate.spec.quantity import SECOND_US


def make_sampler(
    goal: Sample,
    budget: Budget,
    windows: tuple[Window, Window],
    frequencies: Frequencies | None = None,
    ages: AgeCurves | None = None,
    rates: tuple[float, float] | None = None,
    seed: int = 0,
    keyed: bool = True,
) -> Sampler:
    """The sampler for a goal, given what is known of the streams; rates in rows a second.

    ``"auto"`` is a cluster sample: it is unbiased whatever the streams do, and its share grows with
    memory. Cluster sizes are learned where frequencies are not given; ``keyed`` says whether there
    are keys to learn from.

    Examples
    --------
    >>> minute = TimeWindow(60 * SECOND_US)
    >>> make_sampler(Sample("cluster"), Budget(rows=10), (minute, minute))
    EqCluster(seed=0)
    """
    if goal.kind != "uniform":
        if frequencies is None and goal.kind == "auto" and budget.monitor != 0 and keyed:
            return LearnedCluster(seed)
        if frequencies is None:
            return EqCluster(seed)
        return PpsCluster(frequencies, others_in_window(windows, rates), seed)
    model = frequencies if ages is None else ages
    if model is None:
        raise SpecError(
            'Sample("uniform") must know how many matches rows make: give frequencies= or ages= '
            '(hg.profile learns them), or ask for Sample("cluster"), which needs no model'
        )
    if rates is None and (goal.fraction is None or frequencies is not None):
        raise SpecError(
            'Sample("uniform") must know how fast rows come: give rates=(left, right) in rows a '
            "second (hg.profile measures them)"
        )
    others = others_in_window(windows, rates)
    share = goal.fraction
    if share is None:
        if rates is None or budget.rows is None:
            raise SpecError(
                'Sample("uniform") cannot tell its fraction from a budget in bytes: give '
                "fraction=, or a budget in rows"
            )
        share = fraction_for(model, budget.rows, rates, windows)
    return Uniform(model, share, others, seed)


def sampler_within(
    goal: Sample,
    sampler: Policy,
    budget: Budget,
    rates: tuple[float, float] | None,
    windows: tuple[Window, Window],
) -> Policy:
    """The same sampler with another budget: UNIFORM's fraction is that which memory allows.

    Examples
    --------
    >>> minute = TimeWindow(60 * SECOND_US)
    >>> sampler_within(Sample(), EqCluster(), Budget(rows=20), None, (minute, minute))
    EqCluster(seed=0)
    """
    if not isinstance(sampler, Uniform) or goal.kind != "uniform" or goal.fraction is not None:
        return sampler
    model = sampler.model_of_streams
    if model is None or rates is None or budget.rows is None:
        raise SpecError(
            'Sample("uniform") cannot tell its fraction from a budget in bytes: give fraction=, or '
            "a budget in rows"
        )
    return replace(sampler, share=fraction_for(model, budget.rows, rates, windows))


def others_in_window(
    windows: tuple[Window, Window], rates: tuple[float, float] | None
) -> tuple[float, float]:
    """Rows of the other side that come in a row's window, for each side; equal rates if unknown."""
    left, right = rates or (1.0, 1.0)
    spans = [
        window.span / SECOND_US if isinstance(window, TimeWindow) else window.span / own
        for window, own in zip(windows, (left, right), strict=True)
    ]
    return right * spans[0], left * spans[1]
