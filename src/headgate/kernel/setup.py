"""Builds the kernel's arrays from terms, progress and rows."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from headgate.compiling.argument_types import lasting
from headgate.kernel import event_order, layout
from headgate.kernel.layout import NONE, WatchState
from headgate.kernel.probe import ranges
from headgate.kernel.probe.index_list import INDEXES, number_of
from headgate.kernel.probe.indexes import empty_windows
from headgate.kernel.probe.windows import Windows
from headgate.kernel.rows import Rows
from headgate.kernel.step_progress import StepProgress
from headgate.kernel.terms import Terms
from headgate.kernel.watched import Watched, Watching, bucket_us
from headgate.kernel.worth import definition_at
from headgate.models.cost.structure import Structure
from headgate.policies.importance_levels import importance_levels
from headgate.policies.kinds import KINDS
from headgate.policies.kinds.kind import Given, Kind
from headgate.policies.policy import Arrivals, Policy
from headgate.policies.structures import heap, lists
from headgate.policies.structures.thresholds import THRESHOLD
from headgate.spec import How, RowWindow
from headgate.spec.importance.combine import Combine


class Scores(NamedTuple):
    """A policy's scores, as arrays for the kernel."""

    score: np.ndarray  # (definition, row); empty where scores do not matter
    fallen: np.ndarray  # (definition, row): once a row cannot come out alone; empty if that is same
    group: np.ndarray  # (definition, row); empty where a side is one group
    groups: np.ndarray

    @classmethod
    def of(
        cls, policy: Policy, arrivals: Arrivals, importance: np.ndarray, needed: bool
    ) -> "Scores":
        """The policy's scores of the rows under each definition of importance."""
        score = fallen = np.empty((len(importance), 0))
        if needed:
            score = policy.kind.scores(policy, arrivals, importance)
        if needed and policy.falls:
            fallen = policy.kind.fallen(policy, arrivals, importance)
        group, weights = groups_of(policy, arrivals, importance)
        return cls(np.asarray(score, np.float64), fallen, group, lists.empty_lists(weights))


def own_arrays(given: Given) -> tuple[Any, ...]:
    """The further arrays of each kind of score: empty except for the policy's kind."""
    return tuple(
        kind.arrays(given) if kind is given.policy.kind else _no_arrays(place)
        for place, kind in enumerate(KINDS)
    )


@cache
def _no_arrays(place: int) -> Any:
    """Those of a kind that is not the policy's: the same in every step."""
    return lasting(KINDS[place].no_arrays())


def groups_of(
    policy: Policy, arrivals: Arrivals, importance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The group of each row under each definition of importance, left groups first, and the
    weights of a side's groups.

    Scores that change over time are proportional to importance. Rows of one level of importance,
    and for value scores of one class, form a group. Where scores fall, rows whose score fell form
    as many further groups. Empty where a side is a single group.
    """
    none, alone = np.empty((len(importance), 0), np.int32), np.ones(1)
    if not policy.weighs_importance:
        return none, alone
    group, weights = importance_levels(importance)
    classes = policy.kind.classes(policy, arrivals)
    if classes is not None:
        group = classes[0] * len(weights) + group
        weights = np.outer(classes[1], weights).ravel()
    elif len(weights) == 1 and not policy.falls:
        return none, weights
    if policy.falls:
        weights = np.tile(weights, 2)
    return (arrivals.side * np.int32(len(weights)) + group).astype(np.int32), weights


def watched_rows(
    group: Rows, which: int, sequence: np.ndarray, watching: Watching | None
) -> Watched:
    """The state of a group's watched rows; watched arrivals are chosen here."""
    if which not in (2, 3) or watching is None:
        return group.watched or Watched.none(0)
    chosen = watching.chooses(which % 2, sequence, group.code, group.time)
    state = np.where(chosen, WatchState.OPEN, WatchState.NONE)
    return Watched.none(0)._replace(state=state.astype(np.uint8))


def importance_of(terms: Terms, groups: tuple[Rows, ...]) -> np.ndarray:
    """Importance of all rows, by definition and row; ones where all count alike."""
    definitions = len(terms.changes) + 1
    if all(group.importance is None for group in groups):
        return np.broadcast_to(1.0, (definitions, sum(len(group.time) for group in groups)))
    parts = [
        np.broadcast_to(1.0, (definitions, len(group.time)))
        if group.importance is None
        else group.importance
        for group in groups
    ]
    return np.concatenate(parts, axis=1)


def worth_of(
    terms: Terms, importance: np.ndarray, scores: Scores, order: np.ndarray
) -> layout.Worth:
    """Importance and the scores that depend on it, in event order, which ``order`` gives."""
    asked = terms.combine != Combine.NONE or terms.policy.kind.reads_importance
    changing = bool(terms.changes)

    def in_order(by_definition: np.ndarray, needed: bool) -> np.ndarray:
        if not needed or not by_definition.size:
            # A fresh array: the kernel would be recompiled for a read-only one.
            return np.empty((len(by_definition), 0), by_definition.dtype)
        return np.ascontiguousarray(by_definition[:, order])

    return layout.Worth(
        np.array(terms.changes, np.int64),
        in_order(importance, asked),
        in_order(scores.score, changing),
        in_order(scores.group, changing),
        in_order(scores.fallen, True),
    )


def weights_of(policy: Policy, groups: tuple[Rows, ...]) -> np.ndarray:
    """The policy's weights of the keys, over all groups; empty where it uses none."""
    if not policy.weighs_keys:
        return np.empty(0)
    return np.concatenate([group.weight for group in groups])


def may_run_full(terms: Terms, groups: tuple[Rows, ...]) -> bool:
    """Whether memory can run full, so that scores matter; False where all rows fit."""
    if terms.policy.samples:
        return True  # rows without a match in the sample are not stored
    pools = (0,) if terms.pooled else (0, 1)
    rows = sum(len(group.time) for group in groups)
    size = sum(int(group.size.sum()) for group in groups)
    return rows > min(terms.most_rows[p] for p in pools) or size > min(
        terms.most_bytes[p] for p in pools
    )


def sides_of(
    terms: Terms,
    by_rows: np.ndarray,
    left_rows: int,
    total: int,
    progress: StepProgress,
    watching: Watching | None,
) -> np.ndarray:
    """The SIDE records: windows, pools and row ranges of the two sides."""
    sides = np.zeros(2, layout.SIDE)
    sides["bucket_us"] = [
        bucket_us(window, 1 if watching is None else watching.buckets) for window in terms.windows
    ]
    sides["span"] = [window.span for window in terms.windows]
    sides["by_rows"] = by_rows
    sides["index"] = kept_in(terms)
    sides["pool"] = [0, 0 if terms.pooled else 1]
    sides["seen"] = progress.seen
    sides["due"] = layout.NOT_KNOWN
    for pointer in ("pointer", "eldest"):
        sides[pointer] = [0, left_rows]
    sides["end"] = [left_rows, total]
    return sides


def pools_of(terms: Terms, progress: StepProgress) -> np.ndarray:
    """The POOL records: limits, and the sampling thresholds so far."""
    pools = np.zeros(2, layout.POOL)
    pools["most_rows"] = terms.most_rows
    pools["most_bytes"] = terms.most_bytes
    pools["thresholds"] = [len(thresholds) for thresholds in progress.thresholds]
    return pools


def thresholds_for(policy: Policy, progress: StepProgress, arriving: int) -> np.ndarray:
    """The thresholds so far, with room for one more per arrival."""
    if not policy.samples:
        return np.empty((2, 0), THRESHOLD)
    most = max(len(thresholds) for thresholds in progress.thresholds) + arriving + 1
    thresholds = np.empty((2, most), THRESHOLD)
    for pool, before in enumerate(progress.thresholds):
        thresholds[pool, : len(before)] = np.array(list(before), THRESHOLD)
    return thresholds


def terms_of(given: Terms, clock: int, watermark: int, keep_late: bool) -> np.ndarray:
    """The TERMS record: parameters of the join as a whole."""
    policy = given.policy
    terms = np.zeros(1, layout.TERMS)
    terms["clock"] = clock
    terms["watermark"] = watermark
    terms["keep_late"] = keep_late
    terms["ranged"] = is_ranged(given)
    terms["kind"] = KINDS.index(policy.kind)
    terms["reads_partners"] = policy.kind.reads_partners
    terms["samples"] = policy.samples
    terms["observes"] = policy.observes
    terms["unique"] = given.unique
    terms["takes_newcomers"] = policy.takes_newcomers
    terms["refuses_equals"] = policy.refuses_equals
    terms["combine"] = given.combine
    terms["definition"] = definition_at(given.changes, np.array([clock >> 1]))[0]
    terms["fairness"] = given.fairness
    terms["seed"] = policy.coin_seed(given.seed) % (1 << 64)
    terms["settles"] = given.how != How.INNER
    looks = policy.kind.on_pairs is not Kind.on_pairs or policy.observes
    terms["looks_at_pairs"] = looks or given.how != How.INNER
    terms["outer"] = given.how.outer[0] + 2 * given.how.outer[1]
    terms["frees_left"] = given.how.frees_left
    terms["shows_met"] = given.how == How.SEMI
    terms["shows_undecided"] = given.shows_undecided
    terms["falls"] = policy.falls
    terms["supersedes"] = given.supersedes
    return terms


def is_ranged(terms: Terms) -> bool:
    """Whether rows need ranks by key and value, for a predicate or for an index."""
    return terms.where is not None or any(INDEXES[at].ranged for at in kept_in(terms))


def kept_in(terms: Terms) -> tuple[int, int]:
    """The index of each window, as a place in `INDEXES`; chains by default for equal keys."""
    chained = terms.where is None and terms.bucket_rows == 1
    left, right = (
        number_of("chains" if index == Structure.HASH and chained else index)
        for index in terms.kept_in
    )
    return left, right


def windows_of(terms: Terms, left_rows: int, total: int, codes: int) -> Windows:
    """Empty indexes for both windows."""
    rows = (left_rows, total - left_rows)
    return empty_windows(
        kept_in(terms),
        rows,
        (buckets_of(terms, 0, rows[0], codes), buckets_of(terms, 1, rows[1], codes)),
        terms.node_rows,
    )


def buckets_of(terms: Terms, side: int, rows: int, codes: int) -> int:
    """Number of hash buckets of a side: one per key, or enough for the rows it may store."""
    if not INDEXES[kept_in(terms)[side]].hashes:
        return 0
    if terms.bucket_rows == 1:
        return codes
    window = terms.windows[side]
    most = min(rows, terms.most_rows[0 if terms.pooled else side])
    if isinstance(window, RowWindow):
        most = min(most, window.span)
    return -(-most // terms.bucket_rows)


def ranges_of(
    terms: Terms, groups: tuple[Rows, ...], side: np.ndarray, order: np.ndarray, codes: int
) -> ranges.Ranges:
    """Ranks by key and value; ``side`` is in the order given, ``order`` is the event order."""
    if not is_ranged(terms):
        return ranges.no_ranges()
    code = np.concatenate([group.code for group in groups])
    if terms.where is None:
        return ranges.index_keys(code[order], side[order], codes)
    kind = np.float64 if terms.where.real else np.int64
    value = np.concatenate([group.value.astype(kind, copy=False) for group in groups])
    return ranges.index_rows(terms.where, code[order], value[order], side[order], codes)


def no_heads(codes: int) -> np.ndarray:
    """An empty chain for each key and side."""
    newest = np.zeros(2 * max(codes, 1), layout.HEAD)
    newest["row"] = NONE
    return newest


def rows_by_side(
    links: np.ndarray, rows: np.ndarray, by_rows: np.ndarray, left_rows: int
) -> np.ndarray:
    """Positions of the left rows by mark, then of the right rows."""
    side_rows = np.empty(len(rows), np.int32)
    event_order.queue_by_side(links, rows, side_rows, left_rows)
    for side, part in enumerate((slice(0, left_rows), slice(left_rows, len(rows)))):
        if by_rows[side]:
            mine = side_rows[part]
            side_rows[part] = mine[np.argsort(links["mark"][mine], kind="stable")]
            rows["side_index"][side_rows[part]] = np.arange(part.start, part.stop)
    return side_rows


def heaps_of(terms: Terms, total: int, stored: int) -> np.ndarray:
    """Allocate the heaps; empty where the policy uses none."""
    if not terms.policy.kind.uses_heap:
        return np.empty((2, 0), heap.ENTRY)
    most = max(min(total, max(terms.most_rows)), stored)
    return heap.empty_heaps(most)
