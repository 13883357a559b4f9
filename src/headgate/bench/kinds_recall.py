"""How much of its own result each kind of join makes within a tenth of its memory, by policy."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

import headgate as hg
from headgate.bench.kinds_bench import MEMORY, Sides, streams
from headgate.kernel.rows import Rows
from headgate.spec import How

POLICIES = ("prob", "life", "age", "auto", "random", "fifo")
MINUTE = "60 seconds"
WAITS = {"right waits for nobody": (MINUTE, "0 seconds"), "both wait": (MINUTE, MINUTE)}
KINDS = (How.LEFT, How.RIGHT, How.FULL, How.SEMI, How.ANTI)
ROWS, SEEDS = 60_000, (11, 12, 13)
"""Seeds that nothing was tuned on."""


@dataclass(frozen=True)
class KindRecall:
    """Recall of a kind's own result, a mean over seeds, by policy."""

    stream: str
    waits: str
    how: str
    memory: int
    recall: dict[str, float]


def measure_recall(
    kinds: Sequence[How] = KINDS,
    rows: int = ROWS,
    seeds: Sequence[int] = SEEDS,
    policies: Sequence[str] = POLICIES,
    waits: Sequence[str] = tuple(WAITS),
) -> Iterator[KindRecall]:
    """Every kind of join on three streams within a tenth of what the exact join stores."""
    drawn = [streams(rows, seed) for seed in seeds]
    for each in zip(*drawn, strict=True):
        tables = [(_table(sides.left, "l"), _table(sides.right, "r")) for sides in each]
        for wait, how in ((wait, how) for wait in waits for how in kinds):
            found: dict[str, list[float]] = {policy: [] for policy in policies}
            memory = 0
            for left, right in tables:
                exact = _join(how, wait, hg.Budget(rows=1 << 40), "fifo").run(left, right)
                memory = int(MEMORY * exact.stats.peak_rows)
                for policy in policies:
                    join = _join(how, wait, hg.Budget(rows=memory), policy)
                    found[policy].append(float(join.run(left, right).recall or 0.0))
            mean = {policy: float(np.mean(recalls)) for policy, recalls in found.items()}
            yield KindRecall(_name(each), wait, str(how), memory, mean)


def _name(each: tuple[Sides, ...]) -> str:
    return each[0].name


def _join(how: How, wait: str, budget: Any, policy: str) -> Any:
    left, right = WAITS[wait]
    return hg.WindowJoin(
        on="key",
        how=str(how),
        left=hg.Side(time="at", window=left),
        right=hg.Side(time="came", window=right),
        budget=budget,
        policy=policy,
    )


def _table(rows: Rows, side: str) -> pa.Table:
    time = pa.array(rows.time, pa.timestamp("us"))
    return pa.table({"key": rows.code, "at" if side == "l" else "came": time})
