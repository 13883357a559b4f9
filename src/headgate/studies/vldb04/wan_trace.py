"""A synthetic version of section 6.1's trace: two sources at 50 rows per second, one remote.

The paper's trace is not published. Its described properties are kept: constant rates, unreliable
delivery (UDP), the server on the first source's machine, the second source's clock skewed and its
latency significantly higher, age curve with its peak near 63 s and k_opt = 68.8 s. Latency over a
wide-area path is commonly found to be log-normal and to stay alike for a while, so that is the
model; its two parameters are set so that the model's own peak and k_opt are the paper's (63.0 and
68.8 s; those of a trace of 40 minutes differ by a few tenths of a second). Everything else that the
figures show follows from the join.
"""

from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from headgate.models import AgeCurve
from headgate.spec import Band
from headgate.studies.trial import ProbeTrial, seconds, stream, timestamps
from headgate.studies.vldb04.strategies import age_curve

RATE = 50
"""Rows a second of each source."""
W1_S = 120.0
BUCKET_S = 0.1
"""How finely the age curve is taken, as in the paper."""
BAND = Band("key", lower="59.9 seconds", upper="60.1 seconds")
"""S2.ts - S1.ts in [59.9, 60.1] s."""


@dataclass(frozen=True)
class Path:
    """How rows of the second source reach the server."""

    clock_behind_s: float = 1.4
    least_latency_s: float = 0.1
    mode_s: float = 1.5
    """The most common delay on top of the least."""
    sigma: float = 0.624
    """Spread of the delay's logarithm."""
    alike_s: float = 2.0
    """For about how long delays stay alike."""
    loss: float = 0.02

    def delays(self, rows: int, rng: np.random.Generator) -> np.ndarray:
        """From a row's timestamp to its arrival, on the server's clock."""
        keep = np.exp(-1 / (RATE * self.alike_s))
        shocks = rng.standard_normal(rows)
        shocks[1:] *= np.sqrt(1 - keep**2)
        level = np.fromiter(accumulate(shocks, lambda last, new: keep * last + new), np.float64)
        delay = np.exp(np.log(self.mode_s) + self.sigma**2 + self.sigma * level)
        result: np.ndarray = self.clock_behind_s + self.least_latency_s + delay
        return result


def wan_trace(minutes: float, seed: int, window_s: float = W1_S, path: Path = Path()) -> ProbeTrial:  # noqa: B008 - immutable
    """A trace of so many minutes, ready to be joined; rows are keyed by their source's timestamp.

    The first window is not counted.

    Examples
    --------
    >>> trial = wan_trace(minutes=5, seed=1)
    >>> trial.left.num_rows, 10 < trial.exact.num_rows / (trial.left.num_rows - 63 * RATE) < 11
    (15000, True)
    """
    rng = np.random.default_rng(seed)
    rows = round(minutes * 60 * RATE)
    stamps = np.arange(rows) / RATE
    here = stamps + rng.exponential(0.001, rows)
    there = stamps + path.delays(rows, rng)
    delivered = rng.random(rows) >= path.loss
    return ProbeTrial(
        stream(timestamps(stamps), here, "stored_at"),
        stream(timestamps(stamps[delivered]), there[delivered], "probed_at"),
        window_s=window_s,
        counted_from_s=window_s,
        where=BAND,
    )


def curve_of(trial: ProbeTrial, bucket_s: float = BUCKET_S) -> AgeCurve:
    """The age curve by an initial pass through the trace, over rows whose whole window is in it."""
    stored, probed = seconds(trial.exact, "stored_at"), seconds(trial.exact, "probed_at")
    last = seconds(trial.left, "stored_at")[-1] - trial.window_s
    whole = stored <= last
    buckets = round(trial.window_s / bucket_s)
    made, _ = np.histogram((probed - stored)[whole], bins=buckets, range=(0, trial.window_s))
    rows = int(np.count_nonzero(seconds(trial.left, "stored_at") <= last))
    return age_curve(bucket_s, (made / rows).tolist())
