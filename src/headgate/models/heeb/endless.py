"""H under exponential survival, computed without summing over a long future.

Memory for a hundred thousand rows keeps them for fifty thousand steps, and a sum must look many
times as far ahead. But each step discounts the future by the same factor. So a trend's H at one
offset follows from H at the offset it moves to, and a walk's H is a geometric series of its Fourier
transform.
"""

from collections.abc import Sequence

import numpy as np

from headgate.models.process import LinearTrend, Process, RandomWalk
from headgate.models.survival import ExponentialLife, Survival


def endless_table(
    process: Process,
    survival: Survival,
    caching: bool,
    windows: Sequence[int | None],
    reach: tuple[int, int],
) -> np.ndarray | None:
    """H by moment, remaining window and offset, at one row per step; None without a closed form.

    ``reach`` must be the process's own: values beyond it are taken to have no chance.

    Examples
    --------
    >>> from headgate.models.process import Noise
    >>> walk, life = RandomWalk(0, Noise.of({-1: 0.5, 1: 0.5})), ExponentialLife(1 / np.log(2))
    >>> endless_table(walk, life, False, [1, None], (-50, 50))[:, :, 49:52].round(4).tolist()
    [[[0.25, 0.0, 0.25], [0.3094, 0.1547, 0.3094]]]
    """
    if not isinstance(survival, ExponentialLife):
        return None
    decay = float(np.exp(-1 / survival.alpha))
    if isinstance(process, RandomWalk):
        if not caching:
            return _walk(process, decay, windows, reach)
        if all(window is None for window in windows):
            # Every return to a value is a renewal: first visits are all visits minus returns.
            low, high = min(reach[0], 0), max(reach[1], 0)
            visits = _walk(process, decay, windows, (low, high))
            first: np.ndarray = visits / (1 + visits[..., -low, None])
            return np.asarray(first[..., reach[0] - low : reach[1] - low + 1])
    if isinstance(process, LinearTrend) and not caching and process.rounds is not None:
        return _trend(process, process.rounds, decay, windows, reach)
    return None


def _walk(
    process: RandomWalk, decay: float, windows: Sequence[int | None], reach: tuple[int, int]
) -> np.ndarray:
    """The series Σ (decay · step)^a, summed where steps multiply: in the transform."""
    step = process.step
    size = 1 << max(reach[1] - reach[0], len(step.chances), 2).bit_length()
    angle = 2j * np.pi * np.arange(size // 2 + 1) / size
    once = decay * np.fft.rfft(step.chances, size) * np.exp(-angle * step.lowest)
    offsets = np.arange(reach[0], reach[1] + 1) % size
    table = np.empty((1, len(windows), len(offsets)))
    for place, window in enumerate(windows):
        series = once / (1 - once)
        if window is not None:
            series = series * (1 - once**window)
        table[0, place] = np.maximum(np.fft.irfft(series, size)[offsets], 0.0)
    return table


def _trend(
    process: LinearTrend,
    rounds: int,
    decay: float,
    windows: Sequence[int | None],
    reach: tuple[int, int],
) -> np.ndarray:
    """After ``rounds`` steps the line has moved by a whole number: H is what those steps bring,
    and then H again from there."""
    moments = process.moments()
    offsets = np.arange(reach[0], reach[1] + 1)
    whole = np.empty((len(moments), len(offsets)))
    for place, moment in enumerate(moments):
        moved = process.line(moment.now.step + np.arange(1, rounds + 1)) - moment.origin
        soon = sum(
            decay**ahead * process.noise.chance(offsets - move)
            for ahead, move in enumerate(moved.tolist(), start=1)
        )
        whole[place] = _repeated(np.asarray(soon), decay**rounds, int(moved[-1]))
    table = np.empty((len(moments), len(windows), len(offsets)))
    for place, moment in enumerate(moments):
        for which, window in enumerate(windows):
            table[place, which] = whole[place]
            if window is not None:
                line = process.line(np.array([moment.now.step + window]))
                beyond = _shifted(
                    whole[(place + window) % len(moments)], int(line[0]) - moment.origin
                )
                table[place, which] -= decay**window * beyond
    return np.maximum(table, 0.0)


def _repeated(soon: np.ndarray, decay: float, move: int) -> np.ndarray:
    """H with H(d) = soon(d) + decay · H(d − move)."""
    if move == 0:
        return soon / (1 - decay)
    if move < 0:
        return _repeated(soon[::-1], decay, -move)[::-1]
    from scipy.signal import lfilter  # slow to import

    padded = np.append(soon, np.zeros(-len(soon) % move)).reshape(-1, move)
    summed: np.ndarray = lfilter([1.0], [1.0, -decay], padded, axis=0)
    return summed.reshape(-1)[: len(soon)]


def _shifted(curve: np.ndarray, by: int) -> np.ndarray:
    """A curve moved to higher offsets; nothing comes in from outside."""
    moved = np.zeros_like(curve)
    if abs(by) < len(curve):
        if by >= 0:
            moved[by:] = curve[: len(curve) - by]
        else:
            moved[:by] = curve[-by:]
    return moved
