"""Estimates the recall of a running join with more memory, or with less.

With every batch each shard reports the output its stream models predict at a quarter, half, twice
and four times its memory. Summed over shards these points form a curve, which is then calibrated
with the measured recall.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np

from headgate.metrics import names_of
from headgate.metrics.metric_groups import ExpectedFigures
from headgate.models import AgeCurves, MemoryCurve, together
from headgate.planner.quality_curve import QualityCurve

if TYPE_CHECKING:
    from headgate.policies.policy import RanksBy

TIMES = {"quarter": 0.25, "half": 0.5, "now": 1.0, "double": 2.0, "fourfold": 4.0}
"""Factors of the present memory."""
EXACT, FULL, PASSED = "expected_exact", "expected_full", "windows_passed"
FIGURES = names_of(ExpectedFigures)
"""Matches a second that are expected of the exact join and of each amount of memory; the memory
that the exact join takes, in rows or bytes; and how many of its windows passed in a batch."""
LEAST, MOST = 0.002, 0.998
"""Recalls closer to 0 or 1 say nothing about the shape of a curve."""
STEEPEST = 4.0
"""How far a measured recall may bend a curve."""


@dataclass(frozen=True)
class StreamModel:
    """A shard's current model of its streams.

    Parameters
    ----------
    curves
        The age model; None until enough rows have been seen.
    keys
        Rows per microsecond by key and side, for the counted keys.
    rates
        Rows per microsecond of each side.
    spans_us
        The windows.
    """

    curves: AgeCurves | None
    keys: np.ndarray | None
    rates: tuple[float, float]
    spans_us: tuple[int, int]

    @property
    def rows(self) -> float:
        """Rows that the exact join holds."""
        return sum(rate * span for rate, span in zip(self.rates, self.spans_us, strict=True))

    def output(self, by: "RanksBy") -> MemoryCurve | None:
        """Matches per microsecond against stored rows; None where nothing is known.

        Parameters
        ----------
        by
            The model that ranks rows; models without a formula count as "neither".
        """
        from headgate.policies.policy import RanksBy  # a page that draws curves needs no policies

        if self.curves is None or self.rows <= 0:
            return None
        if by == RanksBy.RECENCY:
            return self._of_the_latest(self.curves)
        left, right = (self._of_side(side, by, self.curves) for side in (0, 1))
        return together(left, right)

    def _of_side(self, side: int, by: "RanksBy", curves: AgeCurves) -> MemoryCurve:
        from headgate.policies.policy import RanksBy

        rate, span = self.rates[side], self.spans_us[side]
        full, whole = rate * span, rate * curves[side].total
        if by == RanksBy.AGE:
            return curves[side].output(rate)
        if by != RanksBy.FREQUENCY or self.keys is None:
            return MemoryCurve(np.array([0.0, full]), np.array([0.0, whole]))
        own, others = _by_rate(self.keys[:, side], self.keys[:, 1 - side])
        rows = np.cumsum(own * span)
        output = np.cumsum(own * span * others)
        # Keys that are not counted are rare; they account for the remaining matches.
        rows, output = np.append(rows, full), np.append(output, whole)
        return MemoryCurve(
            np.concatenate([[0.0], np.maximum.accumulate(rows)]),
            np.concatenate([[0.0], np.maximum.accumulate(output)]),
        )

    def _of_the_latest(self, curves: AgeCurves) -> MemoryCurve:
        """Output when rows of both sides are kept up to the same age."""
        ages = np.unique(np.concatenate([curves[side].ages for side in (0, 1)]))
        rows, output = np.zeros(len(ages)), np.zeros(len(ages))
        for side in (0, 1):
            rows += self.rates[side] * np.minimum(ages, self.spans_us[side])
            made = np.interp(ages, curves[side].ages, curves[side].cumulative)
            output += self.rates[side] * made
        return MemoryCurve(rows, output)


def _by_rate(own: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rates of keys, from the one the other side has most of; those it has alike as one."""
    order = np.argsort(-others, kind="stable")
    own, others = own[order], others[order]
    first = np.flatnonzero(np.diff(others, prepend=np.inf))
    return (np.add.reduceat(own, first) if len(first) else own), others[first]


def expected_figures(
    streams: StreamModel,
    by: "RanksBy",
    rows: float,
    row_bytes: float | None,
    passed_us: float = 0.0,
) -> dict[str, float]:
    """The figures a shard reports about itself.

    Parameters
    ----------
    rows
        The rows that its memory holds now.
    row_bytes
        Bytes per row, where memory is counted in bytes.
    passed_us
        The event time that has passed.
    """
    unit = 1.0 if row_bytes is None else row_bytes
    windows = passed_us / max(*streams.spans_us, 1)
    told = dict.fromkeys(FIGURES, 0.0) | {FULL: streams.rows * unit, PASSED: windows}
    output = streams.output(by)
    if output is None or output.most <= 0:
        return told
    second = 1e6
    told[EXACT] = output.most * second
    for name, times in TIMES.items():
        told[f"expected_{name}"] = output.at(times * rows) * second
    return told


def live_output(figures: Mapping[str, float], limit: float) -> MemoryCurve | None:
    """Matches a second against memory, as a running join's models expect; None if they do not know.

    Parameters
    ----------
    figures
        `FIGURES`.
    limit
        The memory it has now.

    Examples
    --------
    >>> told = {EXACT: 100.0, FULL: 1000.0, "expected_quarter": 10.0, "expected_half": 20.0,
    ...         "expected_now": 40.0, "expected_double": 80.0, "expected_fourfold": 100.0}
    >>> curve = live_output(told, limit=400)
    >>> curve.at(400), curve.at(900), curve.at(2000)
    (40.0, 90.0, 100.0)
    """
    full, exact = figures[FULL], figures[EXACT]
    if full <= 0 or exact <= 0:
        return None
    amounts = limit * np.array([0.0, *TIMES.values()])
    made = np.array([0.0, *(figures[f"expected_{name}"] for name in TIMES)])
    inside = amounts < full
    output = np.append(made[inside], exact)
    return MemoryCurve(np.append(amounts[inside], full), np.maximum.accumulate(output))


def live_curve(figures: Mapping[str, float], limit: float, recall: float) -> QualityCurve | None:
    """Recall against memory of a running join; None while nothing is known of it.

    Parameters
    ----------
    figures
        `FIGURES`, summed over the shards.
    limit
        The memory it has now.
    recall
        The recall measured recently.

    Examples
    --------
    >>> told = {EXACT: 100.0, FULL: 1000.0, "expected_quarter": 10.0, "expected_half": 20.0,
    ...         "expected_now": 40.0, "expected_double": 80.0, "expected_fourfold": 100.0}
    >>> curve = live_curve(told, limit=400, recall=0.16)
    >>> round(curve.at(400), 3), round(curve.at(800), 3), curve.at(1000)
    (0.16, 0.64, 1.0)
    """
    full = figures[FULL]
    if full <= 0:
        return None
    if figures[EXACT] > 0:
        amounts = limit * np.array([0.0, *TIMES.values()])
        made = [0.0, *(figures[f"expected_{name}"] / figures[EXACT] for name in TIMES)]
        shares = np.maximum.accumulate(np.clip(made, 0.0, 1.0))
        now = float(shares[1 + list(TIMES).index("now")])
    else:
        # Only the exact join's size is known: start with a linear rise.
        amounts, shares = np.array([0.0]), np.array([0.0])
        now = limit / full
    inside = amounts < full
    memory = np.append(amounts[inside], full)
    expected = np.append(shares[inside], 1.0)
    measured, now = (min(max(share, LEAST), MOST) for share in (recall, now))
    bent = float(np.clip(log(measured) / log(now), 1 / STEEPEST, STEEPEST))
    if len(memory) == 2:
        # A power law in memory is approximated through several points.
        memory = np.linspace(0.0, full, 33)
        expected = memory / full
    return QualityCurve(memory, np.asarray(expected) ** bent)
