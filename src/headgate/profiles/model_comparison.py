"""Compares the age and frequency models: fitted to the first half, scored on the second.

Under each model the matches of a stored row at each age are Poisson counts. A model's gain is its
log-likelihood on the second half minus that of a model with one constant rate, per match. Terms
that all models share cancel, so neither rows nor matches are listed.
"""

from collections.abc import Iterator

import numpy as np

from headgate.engine.limits import terms_for
from headgate.engine.replay import Replay
from headgate.kernel.rows import Rows
from headgate.models import AgeCurves
from headgate.policies import Age, Policy, Prob, Random
from headgate.profiles.aged_matches import AgedMatches
from headgate.profiles.durations import about
from headgate.profiles.facts import Both, Explains
from headgate.profiles.match_counts import KeyedRows
from headgate.profiles.peak_rows import peak_rows
from headgate.spec import Budget, TimeWindow

FLOOR = 0.5
"""What was never seen in the first half counts as half an occurrence: rare, not impossible."""
BUDGET_SHARE = 0.1
NEGLIGIBLE_GAIN = 0.01
"""Gains below this, in nats per match, count as none: chance alone can gain a little."""
MOST_MATCHES_RUN = 200_000_000
"""Joins with more matches than this in the second half are not run; it would take minutes."""


def explain(rows: Both[KeyedRows], windows: Both[int], first_us: int, last_us: int) -> Explains:
    """Fit both models to the first half of the time and score them on the second."""
    half = (last_us - first_us) // 2
    longest = max(windows)
    if half == 0:
        return _cannot("all rows have the same time, or none has one")
    if half < longest:
        return _cannot(
            f"the data covers {about(last_us - first_us)}, and half of that is less than the "
            f"window of {about(longest)}: profile at least {about(2 * longest)}"
        )
    middle = last_us - half
    learned = Both(*(side.between(first_us, middle) for side in rows))
    judged = Both(*(side.between(middle, last_us + 1) for side in rows))
    before = _aged(learned, windows, middle - 1)
    after = _aged(judged, windows, last_us)
    matches = sum(side.matches.count for side in after)
    if not matches or not any(side.matches.count for side in before):
        which = "second" if not matches else "first"
        return _cannot(f"the {which} half of the time has no matches to learn from or judge on")

    gains = {"age": 0.0, "frequency": 0.0}
    for side in (0, 1):
        if after[side].seen_us.sum() <= 0:
            continue
        constant = _constant(before[side], after[side])
        gains["age"] += _by_age(before[side], after[side]) - constant
        others = np.diff(learned[1 - side].first)
        by_frequency = _by_frequency(others, middle - first_us, judged[side], after[side])
        gains["frequency"] += by_frequency - constant
    age, frequency = gains["age"] / matches, gains["frequency"] / matches
    better = "age" if age > frequency else "frequency"
    if max(age, frequency) < NEGLIGIBLE_GAIN:
        better = "neither"
    # A policy compares rows with each other, so it runs on rows of the unbiased sample.
    fair = Both(*(side.fair() for side in judged))
    in_fair = sum(
        int(after[side].matches.of_row[judged[side].drawn[judged[side].code]].sum())
        for side in (0, 1)
    )
    budget = max(1, round(BUDGET_SHARE * sum(peak_rows(_times(fair), windows))))
    recall = {}
    if 0 < in_fair <= MOST_MATCHES_RUN:
        curves = AgeCurves(before.left.curve, before.right.curve)
        pairs = _pairs_of_policies(learned, fair, windows, curves, budget)
        recall = {label: found / in_fair for label, found in pairs}
    return Explains(
        better=better,
        by=abs(age - frequency),
        age=age,
        frequency=frequency,
        matches=round(matches),
        recall=recall,
        budget_rows=budget,
    )


def _cannot(why: str) -> Explains:
    return Explains(None, 0.0, 0.0, 0.0, 0, why_not=why)


def _aged(rows: Both[KeyedRows], windows: Both[int], end: int) -> Both[AgedMatches]:
    return Both(
        *(AgedMatches.of(rows[side], rows[1 - side], windows[side], side, end) for side in (0, 1))
    )


def _times(rows: Both[KeyedRows]) -> Both[np.ndarray]:
    return Both(rows.left.time, rows.right.time)


def _log_likelihood(matches: np.ndarray, rate: np.ndarray, seen: np.ndarray) -> float:
    """Log-likelihood of Poisson counts with mean rate × seen, without terms free of the rate."""
    return float((matches * np.log(rate) - rate * seen).sum())


def _constant(before: AgedMatches, after: AgedMatches) -> float:
    rate = max(before.matches.count, FLOOR) / max(before.seen_us.sum(), 1.0)
    return _log_likelihood(
        np.array([after.matches.count]), np.array([rate]), np.array([after.seen_us.sum()])
    )


def _by_age(before: AgedMatches, after: AgedMatches) -> float:
    matches, seen, edges = before.merged()
    rate = np.maximum(matches, FLOOR) / np.maximum(seen, 1.0)
    # The curve may have fewer buckets than the matches were counted in.
    bucket = np.searchsorted(edges, after.edges[:-1], "right") - 1
    return _log_likelihood(after.matches.ages, rate[bucket], after.seen_us)


def _by_frequency(others: np.ndarray, over_us: int, rows: KeyedRows, after: AgedMatches) -> float:
    """Score of the frequency model, given ``others`` rows of each key on the other side."""
    rate = np.maximum(others[rows.code], FLOOR) / over_us
    weight = rows.row_weight
    return _log_likelihood(after.matches.of_row * weight, rate, after.lived_us * weight)


def _pairs_of_policies(
    learned: Both[KeyedRows],
    judged: Both[KeyedRows],
    windows: Both[int],
    curves: AgeCurves,
    budget: int,
) -> Iterator[tuple[str, int]]:
    policies: tuple[Policy, ...] = (Age(curves), Prob(None), Random())
    spans = (TimeWindow(windows.left), TimeWindow(windows.right))
    keys = len(judged.left.weight)
    batches = []
    for side in (0, 1):
        rows = judged[side]
        # PROB's score of a key: how often the other side had it in the first half.
        weight = np.diff(learned[1 - side].first)[rows.code].astype(np.float64)
        in_order = np.argsort(rows.time, kind="stable")
        size = np.zeros(len(in_order), np.int64)
        batches.append(
            Rows.of_arrivals(rows.time[in_order], rows.code[in_order], size, weight[in_order])
        )
    for policy in policies:
        terms = terms_for(Budget(rows=budget), spans, policy)
        yield policy.label, Replay(terms, batches[0], batches[1], keys).count_pairs()
