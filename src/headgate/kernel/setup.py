"""Laying the kernel's arrays: from terms, progress and rows as given to the arrays it works on."""

from typing import Any, NamedTuple

import numpy as np

from headgate.kernel import event_order, layout
from headgate.kernel.layout import NONE, Watch
from headgate.kernel.probe import ranges
from headgate.kernel.probe.windows import CHAINS, CODES, HASH, Windows, empty_windows
from headgate.kernel.progress import Progress, Residing
from headgate.kernel.rank import curves, heap
from headgate.kernel.rank.curve_tables import CurveTables, curve_tables_of, no_curve_tables
from headgate.kernel.rows import Batch
from headgate.kernel.terms import Terms
from headgate.kernel.watched import Watched, Watching, bucket_us
from headgate.kernel.worth import definition_at
from headgate.models.cost.structure import Structure
from headgate.policies.importance_levels import importance_levels
from headgate.policies.policy import (
    AgeScore,
    Arrivals,
    CurveScore,
    FixedScore,
    Flips,
    HistoryScore,
    Kind,
    Policy,
    ResidenceScore,
    ValueScore,
)
from headgate.spec import RowWindow, Window
from headgate.spec.importance.combine import Combine

NEVER = -np.inf
"""When a row left that has not been stored, or still is."""


class Scores(NamedTuple):
    """A policy's scores, laid out for the kernel."""

    score: np.ndarray  # (definition, row); no rows where they do not matter
    group: np.ndarray  # (definition, row); no rows where a side is one group
    groups: np.ndarray
    pieces: np.ndarray
    edges: np.ndarray

    @classmethod
    def of(
        cls,
        policy: Policy,
        windows: tuple[Window, Window],
        arrivals: Arrivals,
        importance: np.ndarray,
        needed: bool,
    ) -> "Scores":
        """The policy's scores for rows as given, by definition of importance."""
        score = np.empty((len(importance), 0))
        group, weights = groups_of(policy, arrivals, importance)
        by_side: list[tuple[Any, ...]] = [(), ()]
        if isinstance(policy, FixedScore) and needed:
            score = np.stack(
                [policy.score(arrivals._replace(importance=told)) for told in importance]
            )
        elif policy.observes:
            score = np.full((len(importance), len(arrivals.time)), NEVER)
        elif isinstance(policy, AgeScore):
            by_side = [policy.pieces(side, windows[side]) for side in (0, 1)]
        groups = np.zeros(2 * len(weights), layout.GROUP)
        groups["weight"] = np.tile(weights, 2)
        groups["eldest"] = groups["youngest"] = NONE
        pieces = np.zeros((2, max(1, *(len(side) for side in by_side))), layout.PIECE)
        pieces["age"] = np.inf
        for side, given in enumerate(by_side):
            for place, piece in enumerate(given):
                pieces[side, place] = tuple(piece)
        edges = np.full((len(groups), pieces.shape[1]), NONE, np.int64)
        return cls(np.asarray(score, np.float64), group, groups, pieces, edges)


def groups_of(
    policy: Policy, arrivals: Arrivals, importance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Which group each row is in by each definition of importance, left ones first, and the
    weights of a side's groups.

    Scores that change all the time are in proportion to importance within a group: a level of it,
    together with a class for scores of value. Where a side is one group, rows need not be told.
    """
    none, alone = np.empty((len(importance), 0), np.int32), np.ones(1)
    if not policy.weighs_importance:
        return none, alone
    group, weights = importance_levels(importance)
    if isinstance(policy, ValueScore):
        group = policy.classify(arrivals) * len(weights) + group
        weights = np.outer(policy.class_weights(), weights).ravel()
    elif len(weights) == 1:
        return none, weights
    return (arrivals.side * np.int32(len(weights)) + group).astype(np.int32), weights


def watched_rows(
    group: Batch, which: int, sequence: np.ndarray, watching: Watching | None
) -> Watched:
    """What is known of a group's watched rows; among arrivals they are chosen now."""
    if which not in (2, 3) or watching is None:
        return group.watched or Watched.none(0)
    chosen = watching.chooses(np.full(len(sequence), which % 2, np.uint8), sequence)
    chosen &= watching.sides[which % 2]
    state = np.where(chosen & (group.code != layout.NULL_KEY), Watch.OPEN, Watch.NONE)
    return Watched.none(0)._replace(state=state.astype(np.uint8))


def importance_of(terms: Terms, groups: tuple[Batch, ...]) -> np.ndarray:
    """What rows matter, over all groups: by definition and row. Ones where all count alike."""
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
    """What rows matter, in event order, and the scores that follow; ``order`` is that order."""
    asked = terms.combine != Combine.NONE or terms.policy.kind == Kind.RESIDENCE
    changing = bool(terms.changes)

    def in_order(by_definition: np.ndarray, needed: bool) -> np.ndarray:
        if not needed or not by_definition.size:
            # An array of its own: the kernel is compiled anew for one that cannot be written to.
            return np.empty((len(by_definition), 0), by_definition.dtype)
        return np.ascontiguousarray(by_definition[:, order])

    return layout.Worth(
        np.array(terms.changes, np.int64),
        in_order(importance, asked),
        in_order(scores.score, changing and terms.policy.kind == Kind.FIXED),
        in_order(scores.group, changing),
    )


def residence_of(policy: Policy, before: Residing) -> np.ndarray:
    """Thresholds and rates of residence priorities, and how fast rows came so far."""
    record = np.zeros(1, layout.RESIDENCE)
    if isinstance(policy, ResidenceScore):
        for name, value in policy.residence._asdict().items():
            record[name] = value
    record["began"] = before.began
    record["importance"] = before.importance
    return record


def weights_of(policy: Policy, groups: tuple[Batch, ...]) -> np.ndarray:
    """What the policy made of the keys, over all groups; empty where it looks at none."""
    if not policy.weighs_keys:
        return np.empty(0)
    return np.concatenate([group.weight for group in groups])


def may_run_full(terms: Terms, groups: tuple[Batch, ...]) -> bool:
    """Whether scores can matter at all: not where everything fits at once."""
    if terms.policy.samples:
        return True  # a row without a chance is not stored
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
    progress: Progress,
    watching: Watching | None,
) -> np.ndarray:
    """Windows, pools and places of the two sides."""
    sides = np.zeros(2, layout.SIDE)
    sides["bucket_us"] = [
        bucket_us(window, 1 if watching is None else watching.buckets) for window in terms.windows
    ]
    sides["span"] = [window.span for window in terms.windows]
    sides["by_rows"] = by_rows
    sides["index"] = kept_in(terms)
    sides["pool"] = [0, 0 if terms.pooled else 1]
    sides["seen"] = progress.seen
    for pointer in ("pointer", "eldest", "green"):
        sides[pointer] = [0, left_rows]
    sides["end"] = [left_rows, total]
    sides["origin"] = [origin for origin, _ in progress.frames]
    sides["frame"] = [frame for _, frame in progress.frames]
    return sides


def pools_of(terms: Terms, progress: Progress) -> np.ndarray:
    """The limits, and what samples gave up so far."""
    pools = np.zeros(2, layout.POOL)
    pools["most_rows"] = terms.most_rows
    pools["most_bytes"] = terms.most_bytes
    pools["thresholds"] = [len(thresholds) for thresholds in progress.thresholds]
    pools["bound"] = np.inf
    pools["decisions"] = progress.residence.decisions
    pools["made"] = progress.residence.made
    pools["made_before"] = progress.residence.made_before
    return pools


def thresholds_for(policy: Policy, progress: Progress, arriving: int) -> np.ndarray:
    """Room for the thresholds so far, and for one more an arrival."""
    if not policy.samples:
        return np.empty((2, 0), layout.THRESHOLD)
    most = max(len(thresholds) for thresholds in progress.thresholds) + arriving + 1
    thresholds = np.empty((2, most), layout.THRESHOLD)
    for pool, before in enumerate(progress.thresholds):
        thresholds[pool, : len(before)] = np.array(list(before), layout.THRESHOLD)
    return thresholds


def coins_of(policy: Policy, weights: np.ndarray, order: np.ndarray) -> np.ndarray:
    """How many coins each row has, in event order."""
    if not isinstance(policy, Flips):
        return np.empty(0, layout.FLIP)
    coins = np.zeros(len(order), layout.FLIP)
    coins["most"] = policy.most_matches(weights)[order]
    return coins


def curve_tables_for(terms: Terms) -> CurveTables:
    """The curves, for curve scores."""
    if not isinstance(terms.policy, CurveScore):
        return no_curve_tables()
    left, right = (terms.policy.curves(side, terms.windows[side]) for side in (0, 1))
    return curve_tables_of(left, right)


def sorted_values_for(
    terms: Terms,
    curve_tables: CurveTables,
    arrivals: Arrivals,
    order: np.ndarray,
    left_rows: int,
    levels: int,
) -> curves.SortedValues:
    """The rows by value, for curve scores; ``arrivals`` are as given, ``order`` the event order."""
    if not isinstance(terms.policy, CurveScore):
        return curves.no_sorted_values()
    in_order = Arrivals(*(column[order] for column in arrivals))
    return curves.sort_values(
        curve_tables, in_order, terms.policy.frames(in_order), left_rows, levels
    )


def terms_of(given: Terms, clock: int, watermark: int, keep_late: bool) -> np.ndarray:
    """What the kernel must know of the join as a whole."""
    policy = given.policy
    terms = np.zeros(1, layout.TERMS)
    terms["clock"] = clock
    terms["watermark"] = watermark
    terms["keep_late"] = keep_late
    terms["ranged"] = is_ranged(given)
    terms["kind"] = policy.kind
    terms["parameter"] = policy.parameter if isinstance(policy, HistoryScore) else 0.0
    terms["samples"] = policy.samples
    terms["observes"] = policy.observes
    terms["unique"] = given.unique
    terms["takes_newcomers"] = policy.takes_newcomers
    terms["refuses_equals"] = policy.refuses_equals
    terms["combine"] = given.combine
    terms["definition"] = definition_at(given.changes, np.array([clock >> 1]))[0]
    terms["fairness"] = given.fairness
    terms["seed"] = given.seed % (1 << 64)
    if isinstance(policy, Flips):
        terms["seed"] = policy.seed % (1 << 64)
        terms["share"] = policy.share
    return terms


def is_ranged(terms: Terms) -> bool:
    """Whether rows need places by key and value: for a predicate, or for the ordered index."""
    return terms.where is not None or Structure.BITMAP in terms.kept_in


def kept_in(terms: Terms) -> tuple[int, int]:
    """What the kernel keeps each window in: equal keys find each other along chains."""
    chained = terms.where is None and terms.bucket_rows == 1
    left, right = (
        CHAINS if index == Structure.HASH and chained else CODES[index] for index in terms.kept_in
    )
    return left, right


def windows_of(terms: Terms, left_rows: int, total: int, codes: int) -> Windows:
    """The indexes of both windows, empty."""
    rows = (left_rows, total - left_rows)
    return empty_windows(
        kept_in(terms),
        rows,
        (buckets_of(terms, 0, rows[0], codes), buckets_of(terms, 1, rows[1], codes)),
        terms.node_rows,
    )


def buckets_of(terms: Terms, side: int, rows: int, codes: int) -> int:
    """How many buckets a side has: one a key, or as many as the rows it may store fill."""
    if kept_in(terms)[side] != HASH:
        return 0
    if terms.bucket_rows == 1:
        return codes
    window = terms.windows[side]
    most = min(rows, terms.most_rows[0 if terms.pooled else side])
    if isinstance(window, RowWindow):
        most = min(most, window.span)
    return -(-most // terms.bucket_rows)


def ranges_of(
    terms: Terms, groups: tuple[Batch, ...], side: np.ndarray, order: np.ndarray, codes: int
) -> ranges.Ranges:
    """Places by key and value; ``side`` is as given, ``order`` the event order."""
    if not is_ranged(terms):
        return ranges.no_ranges()
    code = np.concatenate([group.code for group in groups])
    if terms.where is None:
        return ranges.index_keys(code[order], side[order], codes)
    kind = np.float64 if terms.where.real else np.int64
    value = np.concatenate([group.value.astype(kind, copy=False) for group in groups])
    return ranges.index_rows(terms.where, code[order], value[order], side[order], codes)


def no_heads(codes: int) -> np.ndarray:
    """A chain's head for each key and side, with nobody in it."""
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
    """Room for the heaps; none where no heap is kept."""
    if terms.policy.kind in (Kind.AGE, Kind.VALUE, Kind.CURVE):
        return np.empty((2, 0), layout.ENTRY)
    most = max(min(total, max(terms.most_rows)), stored)
    return heap.empty_heaps(most)
