"""How a join divides its memory between the two streams over time."""

import numpy as np

from headgate.engine.limits import terms_for
from headgate.kernel.rows import Rows
from headgate.kernel.step import Step
from headgate.kernel.step_input import StepInput
from headgate.kernel.step_progress import StepProgress
from headgate.policies import Policy
from headgate.spec import Budget
from headgate.studies.sigmod05.streams import WARM_UP, Streams

EVERY = 25
"""Steps between looks at what is stored: cutting the input changes nothing in what is kept."""


def share_of_r(streams: Streams, policy: Policy, rows: int, after: int = WARM_UP) -> float:
    """The share of the cache that rows of R take, on average from a step on.

    Examples
    --------
    >>> from headgate.policies import Fifo
    >>> from headgate.studies.sigmod05.streams import SETTINGS, draw_streams
    >>> share_of_r(draw_streams(SETTINGS["TOWER"], 300, seed=1), Fifo(), rows=10)
    0.5
    """
    terms = terms_for(Budget(rows=rows, monitor=0), streams.windows, policy)
    sides = []
    for side, (events, table) in enumerate(zip(streams.events, streams.tables, strict=True)):
        weight = terms.policy.weigh([table["key"]], side)
        size = np.zeros(len(weight), np.int64)
        sides.append(Rows.of_arrivals(events.time, events.key.astype(np.int32), size, weight))
    codes = 1 + max(int(side.code.max()) for side in sides)
    kept, progress, taken = [Rows.empty(), Rows.empty()], StepProgress(), []
    for begin in range(0, len(streams.r), EVERY):
        now = [side.take(np.arange(begin, min(begin + EVERY, len(streams.r)))) for side in sides]
        step = Step(StepInput(terms, (kept[0], kept[1]), (now[0], now[1]), codes, progress))
        for _ in step.pairs():
            pass
        kept = [step.survivors(side, kept[side], now[side]) for side in (0, 1)]
        progress = step.after
        of_r, of_s = (len(side.time) for side in kept)
        if begin + EVERY > after and of_r + of_s:
            taken.append(of_r / (of_r + of_s))
    return float(np.mean(taken))
