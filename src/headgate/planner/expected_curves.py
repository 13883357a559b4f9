"""Expected quality of a join as a function of memory, computed from its profile.

Recall follows from the models of the streams (VLDB 2004, sections 3.2.2 and 3.3). The error of a
sampled aggregate follows from the sampling fraction that memory allows (Theorems 4.2 and 4.3) and
from the variance of the aggregated values.
"""

from dataclasses import dataclass
from math import pi, sqrt

import numpy as np

from headgate.models import AgeCurves, Frequencies, MemoryCurve, together
from headgate.planner.quality_curve import Measure, QualityCurve
from headgate.profiles.profile import Profile
from headgate.sampling.fractions import stored_rows, surely_enough
from headgate.spec import SpecError
from headgate.spec.quantity import SECOND_US, parse_duration_us

AGE, FREQUENCY, NEITHER = "age", "frequency", "neither"
SHARES = np.geomspace(1e-5, 1.0, 240)
"""Sampling fractions at which memory and error are computed."""


@dataclass(frozen=True)
class Aggregate:
    """An aggregate over a sampled join: the parameters that its error depends on.

    Parameters
    ----------
    mean, deviation
        Of the aggregated values.
    window
        The time window of the aggregate: "10 minutes".

    Examples
    --------
    >>> round(Aggregate(mean=50, deviation=100, window="1 minute").error(0.2, results=400), 3)
    0.16
    """

    mean: float
    deviation: float
    window: str

    def __post_init__(self) -> None:
        if not (np.isfinite([self.mean, self.deviation]).all() and self.deviation > 0):
            raise SpecError(
                f"an aggregate of mean {self.mean!r} and deviation {self.deviation!r} is not "
                f"accepted: give finite numbers, the deviation above 0"
            )
        if self.mean == 0:
            raise SpecError("values with a mean of 0 have no relative error: give another mean")
        if parse_duration_us(self.window, "aggregation window") <= 0:
            raise SpecError(f"aggregation window {self.window!r}: give a duration above 0")

    @property
    def seconds(self) -> float:
        """Length of the aggregation window."""
        return parse_duration_us(self.window, "aggregation window") / SECOND_US

    def error(self, share: float, results: float) -> float:
        """The expected relative error of an average over a sampled share of the results.

        The error of a sample mean is normally distributed, and the mean absolute value of a normal
        variable is √(2/π) times its standard deviation.
        """
        spread = self.deviation / abs(self.mean)
        return spread * sqrt(2 / pi * (1 - share) / (share * max(results, 1.0)))


def recall_curve(
    profile: Profile,
    model: str,
    shares: tuple[float, float] | None = None,
    in_bytes: bool = False,
) -> QualityCurve:
    """Recall against memory, under the policy that uses the given model.

    Parameters
    ----------
    profile
        The profile of the streams.
    model
        "age" (AGE), "frequency" (PROB), or "neither" (rows are kept at random).
    shares
        Each side's fixed share of memory; None where the sides share one pool.
    in_bytes
        Whether memory is counted in bytes, or in rows.
    """
    sides = [output_of(profile, model, side) for side in (0, 1)]
    if in_bytes:
        sides = [
            curve.per(max(rows.row_bytes, 1.0))
            for curve, rows in zip(sides, profile.rows, strict=True)
        ]
    if shares is None:
        return QualityCurve.of_output(together(sides[0], sides[1]))
    return QualityCurve.of_output(_apart(sides[0], sides[1], shares))


def output_of(profile: Profile, model: str, side: int) -> MemoryCurve:
    """Matches per microsecond made by a side's stored rows, against how many are stored.

    A profile lists only the heavy keys. The total matches of the other keys are known, since the
    age curve counts all matches, but not their split by key: they are spread evenly over the rows
    of all other keys.
    """
    rates = (profile.rates[0] / SECOND_US, profile.rates[1] / SECOND_US)
    span = profile.sides[side].window.span
    full, whole = rates[side] * span, rates[side] * profile.ages[side].total
    if model == AGE:
        return profile.ages[side].output(rates[side])
    if model == NEITHER:
        return MemoryCurve(np.array([0.0, full]), np.array([0.0, whole]))
    heavy = profile.frequencies.output(side, rates, span)
    rows, output = np.append(heavy.rows, full), np.append(heavy.output, whole)
    return MemoryCurve(np.maximum.accumulate(rows), np.maximum.accumulate(output))


def error_curve(
    profile: Profile,
    model: str,
    aggregate: Aggregate,
    by_cluster: bool = False,
    in_bytes: bool = False,
) -> QualityCurve:
    """The error of an aggregate over a sample, against memory.

    Parameters
    ----------
    model
        "age" or "frequency": the model that says how long UNIFORM must keep rows.
    by_cluster
        Rows are kept for their whole window, with all their matches. The values within a cluster
        are assumed equal, which is the worst case.
    in_bytes
        Whether memory is counted in bytes, or in rows.
    """
    windows = (profile.sides.left.window, profile.sides.right.window)
    rates = (profile.rates.left, profile.rates.right)
    results = sum(rates[side] * profile.ages[side].total for side in (0, 1)) * aggregate.seconds
    if by_cluster:
        waiting = [side for side in (0, 1) if windows[side].span]
        full = sum(rates[side] * windows[side].span / SECOND_US for side in waiting)
        clusters = sum(rates[side] for side in waiting) * aggregate.seconds
        needs = SHARES * full
        errors = [aggregate.error(share, min(clusters, results)) for share in SHARES]
    else:
        known: AgeCurves | Frequencies = profile.ages if model == AGE else profile.frequencies
        stored = stored_rows(known, rates, windows)
        needs = np.array([surely_enough(stored(share)) for share in SHARES])
        errors = [aggregate.error(share, results) for share in SHARES]
    if in_bytes:
        waits = [rates[side] * windows[side].span for side in (0, 1)]
        sizes = [rows.row_bytes for rows in profile.rows]
        needs = needs * float(np.average(sizes, weights=waits)) if sum(waits) else needs
    return QualityCurve(
        np.concatenate([[0.0], np.maximum.accumulate(needs)]),
        np.concatenate([errors[:1], errors]),
        Measure.ERROR,
    )


def better_model(profile: Profile) -> tuple[str, str]:
    """The model to use, and why."""
    found = profile.explains
    if found.better is None:
        return NEITHER, f"no model: {found.why_not}"
    if found.better == NEITHER:
        return NEITHER, "no model: neither age nor key tells rows apart"
    return found.better, f"{found.better} explains the matches better, by {found.by:.2f} nats each"


def _apart(left: MemoryCurve, right: MemoryCurve, shares: tuple[float, float]) -> MemoryCurve:
    """Output of both sides against memory, where each side has a fixed share."""
    corners = [
        curve.rows / share for curve, share in zip((left, right), shares, strict=True) if share > 0
    ]
    memory = np.unique(np.concatenate([[0.0], *corners]))
    return MemoryCurve(memory, left.over(memory * shares[0]) + right.over(memory * shares[1]))
