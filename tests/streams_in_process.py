"""Streams of known behaviour for tests in process: by age, by key, and drifting."""

import numpy as np
import pyarrow as pa

import headgate as hg

START_US = 1_767_225_600_000_000
SECOND_US = 1_000_000


def _table(key: np.ndarray, time: np.ndarray, name: str) -> pa.Table:
    order = np.argsort(time, kind="stable")
    return pa.table({"key": key[order], name: pa.array(START_US + time[order], pa.timestamp("us"))})


def aging(
    rows: int, seconds: int, window: int, shapes: list[str], seed: int, matches: int = 4
) -> tuple[pa.Table, pa.Table]:
    """Left rows with keys of their own, and their matches at ages that rise, fall or do not.

    The stream is cut into equal parts of time, one for each of ``shapes``: "rising" matches come
    at the end of the window, "falling" ones at its beginning.
    """
    random = np.random.default_rng(seed)
    left = np.sort(random.integers(0, seconds * SECOND_US, rows))
    key = np.repeat(np.arange(rows), matches)
    share = random.random(rows * matches) ** (1 / 3)
    rising = np.array([shape == "rising" for shape in shapes])
    part = (left[key] * len(shapes)) // (seconds * SECOND_US)
    age = np.where(rising[part], share, 1 - share) * window * SECOND_US
    return _table(np.arange(rows), left, "lt"), _table(
        key, left[key] + age.astype(np.int64) + 1, "rt"
    )


def zipf(
    rows: int, seconds: int, seed: int, keys: int = 2000, exponent: float = 1.0, parts: int = 1
) -> tuple[pa.Table, pa.Table]:
    """Both sides draw keys from one Zipf distribution; hot keys are others in each part of time."""
    random = np.random.default_rng(seed)
    share = np.arange(1, keys + 1) ** -exponent
    share /= share.sum()
    names = [random.permutation(keys) for _ in range(parts)]
    sides = []
    for name in ("lt", "rt"):
        time = np.sort(random.integers(0, seconds * SECOND_US, rows))
        part = (time * parts) // (seconds * SECOND_US)
        drawn = random.choice(keys, rows, p=share)
        key = np.choose(part, [which[drawn] for which in names])
        sides.append(_table(key, time, name))
    return sides[0], sides[1]


def joined(
    sides: tuple[pa.Table, pa.Table],
    budget: hg.Budget,
    policy: "str | hg.policies.Policy",
    windows: tuple[int, int],
    **models: object,
) -> hg.Outcome:
    """Join two such streams; windows in seconds."""
    join = hg.WindowJoin(
        on="key",
        left=hg.Side(time="lt", window=f"{windows[0]} seconds"),
        right=hg.Side(time="rt", window=f"{windows[1]} seconds"),
        budget=budget,
        policy=policy,
        **models,  # type: ignore[arg-type]
    )
    return join.run(*sides)
