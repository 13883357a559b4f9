"""Chooses the sampling scheme: the least expected error of a count, the simplest on a tie.

A cluster sample keeps a row with chance p, and with it all its m matches: the variance of a count
is the sum of m² (1 − p) / p over the rows. EQ-CLUSTER has the same p for all; PPS-CLUSTER has p in
proportion to the predicted matches. UNIFORM takes every match by itself, M of them with chance f:
its variance is M (1 − f) / f.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from headgate.planner.draft import Draft, Sampling
from headgate.planner.fitted_models import counts_between, span_of
from headgate.planner.planning_case import PlanningCase
from headgate.profiles.kept_rows import KeptRows
from headgate.profiles.match_counts import KeyedRows, count_matches
from headgate.sampling.cluster import RARE
from headgate.sampling.fractions import fraction_for
from headgate.spec import Sample, SpecError
from headgate.spec.quantity import SECOND_US

EQ, PPS, UNIFORM = "EQ-CLUSTER", "PPS-CLUSTER", "UNIFORM"
AS_GOOD = 1.05
"""A scheme that needs to know less is preferred if its error is no greater than this many times the
least."""
MOST_OFF = 0.2
"""The largest total error of the predicted matches for UNIFORM to rely on them."""
SURE = 1.96


def plan_sampling(case: PlanningCase, draft: Draft) -> Draft:
    """Compute each scheme's error from the actual and the predicted matches of rows."""
    goal = case.request.goal
    if not isinstance(goal, Sample):
        return draft
    kept = case.profile.trace
    if kept is None:
        return _as_asked(draft, "the profile has no rows to tell the schemes apart by")
    if not any(case.stores):
        return _as_asked(draft, "no row waits for others, so the schemes do not differ")
    rows = _clusters(case, kept)
    errors, left_out, fraction = _errors(case, goal, rows)
    chosen = _chosen(errors)
    sampling = Sampling(chosen, errors[chosen], errors, left_out, None)
    by_age = case.profile.explains.better == "age"
    keys = None if chosen == EQ or (chosen == UNIFORM and by_age) else case.profile.frequencies
    asked = replace(goal, kind="uniform" if chosen == UNIFORM else "cluster", fraction=None)
    if chosen == UNIFORM:
        asked = replace(asked, fraction=goal.fraction or fraction)
        sampling = replace(sampling, fraction=asked.fraction)
    return replace(
        draft,
        goal=asked,
        sampling=sampling,
        frequencies=keys,
        ages=case.ages if chosen == UNIFORM and by_age else None,
        rates=None if chosen == EQ else case.rates,
    )


def _as_asked(draft: Draft, because: str) -> Draft:
    note = f"{because}: the sample is as asked for"
    return replace(draft, as_asked=True, notes=(*draft.notes, note))


class Clusters(NamedTuple):
    """Stored rows with their actual and their predicted matches."""

    made: np.ndarray
    by_key: np.ndarray
    by_age: np.ndarray
    each: float
    """How many rows each stands for."""


def _clusters(case: PlanningCase, kept: KeptRows) -> Clusters:
    first, end = span_of(kept)
    middle = (first + end) // 2
    counts = [counts_between(kept, span) for span in ((middle, end), (first, middle))]
    half_s = max((end - first) / 2 / SECOND_US, 1e-6)
    made, by_key, by_age = [], [], []
    for side in (0, 1):
        if not case.stores[side]:
            continue
        window = case.windows_us[side]
        keep = kept.stored[side]
        own = KeyedRows.unweighted(kept.time[side][keep], kept.code[side][keep], kept.codes)
        other = KeyedRows.unweighted(kept.time[1 - side], kept.code[1 - side], kept.codes)
        found = count_matches(own, other, window, side, max(window, 1), 1).of_row
        looking = kept.looking[1 - side][own.code]
        made.append(found / np.where(looking > 0, looking, 1.0))
        # The prediction comes from the other half of the time.
        is_late = (own.time >= middle).astype(np.int64)
        seen = np.stack([half[1 - side] for half in counts])[is_late, own.code]
        expected = seen / half_s * window / SECOND_US
        least = RARE * float(expected.mean()) if len(expected) else 0.0
        by_key.append(np.maximum(expected, least))
        by_age.append(np.full(len(found), case.ages[side].total))
    together = [np.concatenate(part) for part in (made, by_key, by_age)]
    return Clusters(together[0], together[1], together[2], 1.0 / kept.share)


def _errors(
    case: PlanningCase, goal: Sample, rows: Clusters
) -> tuple[dict[str, float], dict[str, str], float | None]:
    """The relative error of each usable scheme, why others are not, and UNIFORM's fraction."""
    matches = rows.each * float(rows.made.sum())
    if matches <= 0:
        raise SpecError("the profiled streams have no matches, so there is nothing to sample")
    kept_part = min(case.room / max(sum(case.window_rows), 1.0), 1.0)
    errors: dict[str, float] = {}
    left_out: dict[str, str] = {}
    fraction = None
    if goal.kind != "uniform":
        errors[EQ] = _of_clusters(rows, np.full(len(rows.made), kept_part)) / matches
        errors[PPS] = _of_clusters(rows, _chances(rows.by_key, kept_part)) / matches
    if goal.kind != "cluster":
        foreseen = rows.by_age if case.profile.explains.better == "age" else rows.by_key
        off = abs(float(foreseen.sum()) / float(rows.made.sum()) - 1.0)
        if off > MOST_OFF and goal.kind == "auto":
            left_out[UNIFORM] = f"the matches foreseen are off by {100 * off:.0f} %"
        else:
            fraction = goal.fraction or _fraction(case)
            errors[UNIFORM] = math.sqrt((1 - fraction) / (fraction * matches))
    return {name: SURE * error for name, error in errors.items()}, left_out, fraction


def _of_clusters(rows: Clusters, chance: np.ndarray) -> float:
    """The standard error of a count."""
    return math.sqrt(rows.each * float((rows.made**2 * (1 - chance) / chance).sum()))


def _chances(size: np.ndarray, part: float) -> np.ndarray:
    """Inclusion probabilities in proportion to size, at most 1, with the given mean share.

    Examples
    --------
    >>> _chances(np.array([1.0, 1.0, 8.0]), 2 / 3).round(3).tolist()
    [0.5, 0.5, 1.0]
    """
    low, high = 0.0, 1.0 / max(float(size.min()), 1e-300)
    for _ in range(100):
        factor = (low + high) / 2
        low, high = (
            (factor, high) if np.minimum(size * factor, 1.0).mean() < part else (low, factor)
        )
    return np.asarray(np.clip(size * high, 1e-12, 1.0))


def _fraction(case: PlanningCase) -> float:
    rows = max(int(min(case.room, 2 * case.needed_rows)), 1)
    by_age = case.profile.explains.better == "age"
    model = case.ages if by_age else case.profile.frequencies
    return min(max(fraction_for(model, rows, case.rates, case.request.windows), 1e-9), 1.0)


def _chosen(errors: dict[str, float]) -> str:
    least = min(errors.values())
    return next(
        name for name in (EQ, PPS, UNIFORM) if errors.get(name, math.inf) <= AS_GOOD * least
    )
