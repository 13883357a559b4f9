"""Simulates a policy and a budget on a trace with the real kernel, in full or in miniature."""

import math
from dataclasses import dataclass

import numpy as np

from headgate.engine.limits import room_for, terms_for
from headgate.engine.replay import Replay, observed_rates
from headgate.engine.request import Request
from headgate.engine.stats import Stats
from headgate.kernel.rows import Rows
from headgate.learning import Estimate
from headgate.learning.evidence import CONFIDENCE, NONE_OF_MANY
from headgate.learning.learner import Learner, new_monitor
from headgate.models.student_t import t_quantile
from headgate.policies import Policy, make_policy
from headgate.spec import Budget, MaxImportance, SpecError
from headgate.trials.drawn_replay import drawn_replay, scaled_room
from headgate.trials.stretch_tally import StretchTally
from headgate.trials.trace import Trace

SHORTFALL = 1.0 / math.sqrt(2.0 * math.pi)
"""The mean of a standard normal number's positive part."""


@dataclass(frozen=True, eq=False)
class Simulated:
    """The result of running a policy within a budget.

    Attributes
    ----------
    policy, budget
        What was tried.
    made, met
        Pairs made and pairs of the exact result (and in joins that are not inner, rows that come
        out alone and are certain to belong there), or their importance where that is the goal. By
        key, by row and by time; in a miniature these are not scaled up.
    recall
        The share made, with its 95 % confidence interval where keys were sampled.
    stats
        Counters of the run.
    followed
        How many arrivals each policy decided, where the policy was learned.
    """

    policy: Policy
    budget: Budget
    made: StretchTally
    met: StretchTally
    recall: Estimate
    stats: Stats
    followed: dict[str, int]


def simulate(trace: Trace, policy: "str | Policy", budget: Budget) -> Simulated:
    """Run a policy within a budget.

    The budget is that of the full join; in a miniature it is scaled to the sampled rows.

    Parameters
    ----------
    trace
        The rows to try it on.
    policy
        A name, as `WindowJoin` takes it, or a policy.
    budget
        Rows or memory; CPU time is ignored.

    Examples
    --------
    >>> import headgate as hg
    >>> import pyarrow as pa
    >>> times = pa.array([1_000_000, 2_000_000]).cast(pa.timestamp("us"))
    >>> left = right = pa.table({"key": [1, 2], "at": times})
    >>> waits, not_at_all = hg.Side("at", "5 seconds"), hg.Side("at", "0 seconds")
    >>> join = hg.WindowJoin(on="key", left=waits, right=not_at_all, budget=hg.Budget(rows=10))
    >>> simulate(Trace.of_tables(join, left, right), "fifo", hg.Budget(rows=1)).recall.value
    1.0
    """
    request = tried(trace.request, policy, budget)
    share = request.monitor_share(live=False)
    terms = terms_for(
        budget,
        trace.windows,
        request.policy,
        monitor=request.monitor_share(live=True),
        where=trace.relation,
        indexes=request.indexes(observed_rates(*trace.rows), trace.codes),
        kept=request.filters(1, live=True),
        follows_keys=request.follows_keys,
    )
    monitor = None
    if share:
        room = room_for(
            budget,
            request.policy,
            1,
            share,
            request.seed,
            trace.windows,
            follows_keys=request.follows_keys,
        )
        monitor = new_monitor(trace.windows, scaled_room(room, trace))
    terms, rows = request.weighed(terms), _weighed(trace, request.policy)
    if trace.draw.is_whole and trace.stretches is None:
        # Everything the join would do, including the policies evaluated beside the followed one.
        learner = None
        if monitor is not None:
            learner = Learner(monitor, key_bytes=trace.key_bytes, hashes=trace.key_hashes)
        replay = Replay(terms, *rows, trace.codes, learner=learner, hashes=trace.key_hashes)
    else:
        replay = drawn_replay(terms, trace, rows, monitor)
    made = StretchTally.of(trace)
    for block in replay.pairs():
        made.add(block)
    return Simulated(
        policy=request.policy,
        budget=budget,
        made=made,
        met=trace.met,
        recall=recall_of(trace, made),
        stats=replay.stats,
        followed=dict(replay.followed),
    )


def tried(request: Request, policy: "str | Policy", budget: Budget) -> Request:
    """The join with another policy and budget; raises where the policy cannot serve it."""
    chosen = make_policy(
        policy, seed=request.seed, important=isinstance(request.goal, MaxImportance)
    )
    keyed = bool(request.keys.left)
    if not keyed:
        chosen = chosen.without_keys(request.windows)
    if chosen.samples:
        raise SpecError(f"policy={chosen!r} draws a sample, of which there is no recall to tell")
    if (chosen.weighs_keys or chosen.counts_keys) and not keyed:
        raise SpecError(
            f'policy "{chosen.label.lower()}" ranks rows by their key, and this join has none: '
            f"choose another policy"
        )
    chosen.check(request.windows)
    chosen.check_kind(request.how)
    return Request(
        keys=request.keys,
        left=request.left,
        right=request.right,
        budget=budget,
        goal=request.goal,
        policy=chosen,
        suffix=request.suffix,
        where=request.where,
        seed=request.seed,
        index=request.index,
        rates=request.rates,
        how=request.how,
    )


def recall_of(trace: Trace, made: StretchTally) -> Estimate:
    """Recall with its confidence interval.

    A ratio estimate. The sampling units are drawn keys; for a heavy key, its stored and its probing
    rows, which were sampled separately; and time stretches, where only part of the time was
    examined. Each unit adds its deviation from the ratio to the error. The error of a miniature
    whose windows hold few rows is added.
    """
    met = trace.met
    if met.total <= 0:
        return Estimate(1.0, 1.0 if trace.is_whole else 0.0, 1.0)
    share = min(made.total / met.total, 1.0)
    if trace.is_whole:
        return Estimate(share, share, share)
    left_out = 1.0 - trace.draw.share
    drawn = ~trace.is_thinned
    off = (made.by_key - share * met.by_key)[drawn]
    variance = left_out * float(off @ off)
    few = left_out * NONE_OF_MANY * float(met.by_key[drawn] @ met.by_key[drawn]) / met.total
    if len(made.by_stored):
        variance += _of_thinned(trace, made, met, share)
    error = max(CONFIDENCE * math.sqrt(variance), few)
    if trace.stretches is not None and len(made.by_time) > 1:
        off = made.by_time - share * met.by_time
        count = len(off)
        spread = math.sqrt((1.0 - trace.stretches.part) * float(off @ off) * count / (count - 1))
        error = math.hypot(error, t_quantile(0.975, count - 1) * spread)
    error = error / met.total + _of_chance(trace, share)
    return Estimate(share, max(share - error, 0.0), min(share + error, 1.0))


def _of_chance(trace: Trace, share: float) -> float:
    """Recall that a miniature may lose because the number of rows in its windows fluctuates.

    If the number of rows held has a given standard error, the mean overflow is at most `SHORTFALL`
    of it, reached when memory equals the average number held.
    """
    held = max(trace.needs.peak_rows, 1)
    return SHORTFALL * share * math.sqrt((1.0 - trace.draw.share) / held)


def _of_thinned(trace: Trace, made: StretchTally, met: StretchTally, share: float) -> float:
    """The contribution of thinned keys' rows to the variance."""
    code = np.concatenate([side.code for side in trace.rows])
    side = np.repeat([0, 1], [len(rows.time) for rows in trace.rows])
    looking = 1.0 / trace.stands_for[side, code]
    # A stored row is found by rows of the other side; the same holds for both sides.
    other = trace.stands_for[1 - side, code]
    off_stored = (made.by_stored - share * met.by_stored) * other
    off_probe = (made.by_probe - share * met.by_probe) / looking
    return float(
        (1.0 - trace.draw.share) * (off_stored @ off_stored)
        + ((1.0 - looking) * trace.draw.share * off_probe) @ off_probe
    )


def _weighed(trace: Trace, policy: Policy) -> tuple[Rows, Rows]:
    """The rows with the policy's scores of their keys."""
    if not policy.weighs_keys:
        return trace.rows
    left, right = (
        batch._replace(weight=policy.weigh(trace.shape.key_columns(table, side), side))
        if len(batch.time)
        else batch
        for side, (batch, table) in enumerate(zip(trace.rows, trace.tables, strict=True))
    )
    return left, right
