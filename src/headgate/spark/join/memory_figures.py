"""Metrics that a shard reports about its budget, and about what more or less memory would bring."""

from headgate.engine.learned_step import LearnedStep
from headgate.engine.stats import Stats
from headgate.kernel.step_progress import NO_WATERMARK
from headgate.planner.live_curve import FIGURES, StreamModel, expected_figures
from headgate.spark.join.shard_plan import ShardPlan
from headgate.spec.budget import UNLIMITED


def limits_of(plan: ShardPlan) -> dict[str, int]:
    """A shard's part of the current budget, and the room that it leaves to rows."""
    amount = 0 if plan.allowance is None else plan.allowance.amount // len(plan.labels)
    pools = (0,) if plan.terms.pooled else (0, 1)
    limits = {"room_rows": plan.terms.most_rows, "room_bytes": plan.terms.most_bytes}
    room = {name: sum(int(each[pool]) for pool in pools) for name, each in limits.items()}
    return {"limit": amount, **{name: 0 if at >= UNLIMITED else at for name, at in room.items()}}


def expected_of_shard(
    plan: ShardPlan,
    clocks: tuple[int, int],
    stats: Stats,
    learned: LearnedStep | None,
) -> dict[str, float]:
    """The result expected with more and with less memory; zeros if not known.

    The arrival rate is known for both sides together; it is divided by the sides' shares of this
    batch. ``clocks`` are the event keys at the start and at the end of the batch.
    """
    nothing = dict.fromkeys(FIGURES, 0.0)
    came = stats.left_rows + stats.right_rows
    if not plan.amount or learned is None or not came:
        return nothing
    monitor, windows = learned.state.monitor, plan.terms.windows
    if any(monitor.by_rows) or not monitor.rate:
        return nothing
    streams = StreamModel(
        monitor.curves(),
        monitor.counts / monitor.counted if monitor.knows_keys else None,
        (monitor.rate * stats.left_rows / came, monitor.rate * stats.right_rows / came),
        (windows[0].span, windows[1].span),
    )
    pools = (0,) if plan.terms.pooled else (0, 1)
    most_rows = sum(plan.terms.most_rows[pool] for pool in pools)
    row_bytes = None
    if most_rows >= UNLIMITED:
        if not stats.stored_rows:
            return nothing
        # The cost of a row includes the reserve for dead rows and the monitor's part.
        paid = plan.amount / len(plan.labels)
        live = sum(plan.terms.most_bytes[pool] for pool in pools)
        size = stats.stored_bytes / stats.stored_rows
        most_rows, row_bytes = int(live / size), size * paid / live
    passed = clocks[1] - clocks[0] >> 1 if clocks[0] != NO_WATERMARK else 0
    return expected_figures(streams, learned.policy.ranks_by, most_rows, row_bytes, passed)
