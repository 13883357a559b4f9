"""Every metric, one field each. To add one, add a field here and count it where it happens.

`Stats`, `LookupStats`, the columns that Spark observes and docs/reference/metrics.md are built
from these.
"""

from dataclasses import dataclass

from headgate.metrics.metric import LAST, MAX, RATIO, metric, names_of


@dataclass(frozen=True)
class JoinCounts:
    """What the join did with its rows."""

    left_rows: int = metric("rows", "Rows that arrived on the left side.")
    right_rows: int = metric("rows", "Rows that arrived on the right side.")
    pairs: int = metric("result rows", "Result rows, except undecided ones.")
    unmatched: int = metric("result rows", "Of them, rows that certainly have no partner.")
    undecided: int = metric(
        "rows",
        'Outer and anti joins: rows without a partner that may have one; with `unmatched="all"` '
        "they are returned.",
    )
    satisfied: int = metric(
        "rows",
        "Semi and anti joins: left rows removed, or not stored, after their first partner.",
        leaves=True,
    )
    admitted: int = metric("rows", "Arrivals that were stored.")
    shed: int = metric(
        "rows", "Stored rows evicted within their window.", leaves=True, given_up=True
    )
    refused: int = metric(
        "rows",
        "Arrivals not stored, because all stored rows had higher scores.",
        leaves=True,
        given_up=True,
    )
    retired: int = metric(
        "rows",
        "Rows evicted after their window, which a row out of order could still have matched.",
        leaves=True,
        given_up=True,
    )
    expired: int = metric("rows", "Stored rows whose window passed.", leaves=True)
    unneeded: int = metric(
        "rows", "Arrivals that no later row can match: not stored, and no result is lost."
    )
    unchosen: int = metric(
        "rows",
        "Samples: rows removed, or not stored, because none of their later matches is sampled.",
        leaves=True,
    )
    unprobed: int = metric(
        "rows",
        "Arrivals that did not look for partners, because the CPU budget was used up.",
        given_up=True,
    )
    unstored: int = metric(
        "rows", "Arrivals not stored, to stay within the CPU budget.", leaves=True, given_up=True
    )
    late: int = metric("rows", "Rows behind the watermark, dropped.")
    null_keys: int = metric(
        "rows",
        "Rows with a null in a key, or a null or NaN in the column of a band or comparison.",
    )
    null_times: int = metric("rows", "Rows with a null as their time.")
    stored_rows: int = metric("rows", "Stored at the end.", LAST)
    stored_bytes: int = metric("bytes", "Stored at the end.", LAST)
    peak_rows: int = metric("rows", "Most rows stored after any arrival.", MAX)
    peak_bytes: int = metric("bytes", "Most bytes stored after any arrival.", MAX)
    importance: float = metric(
        "",
        "Total importance of all result rows; their number if the join has no importance.",
        default=0.0,
    )
    recomputed: int = metric("times", "How often IJOIN recomputed all priorities.")
    redefined: int = metric("times", "How often importance was redefined.")
    lifetimes: float = metric(
        "s",
        "Sum of the times that removed rows were stored within their windows.",
        default=0.0,
    )
    lifetimes_squared: float = metric("s²", "Sum of the squares of these times.", default=0.0)


@dataclass(frozen=True)
class LookupCounts:
    """What the lookup did with its rows. Each is a hit, a miss, or has an unknown or null key."""

    rows: int = metric("rows", "Stream rows.")
    hits: int = metric("rows", "Rows whose table row was cached when they arrived.")
    misses: int = metric("rows", "Rows whose table row had to be fetched.")
    unknown: int = metric("rows", "Rows whose key the table does not have.")
    null_keys: int = metric("rows", "Rows with a null in a key.")
    asked: int = metric("keys", "Keys looked up in the table, each counted once per query.")
    fetched: int = metric("rows", "Table rows returned for them.")
    queries: int = metric("queries", "Queries sent to the table.")
    retries: int = metric("times", "How often a query was repeated after a lost connection.")
    admitted: int = metric("rows", "Table rows that were stored in the cache.")
    evictions: int = metric("rows", "Cached rows evicted to make room for others.")
    refused: int = metric(
        "rows",
        "Table rows not cached, because all cached rows had higher scores or the row is too large.",
    )
    stored_rows: int = metric("rows", "Cached at the end.", LAST)
    stored_bytes: int = metric("bytes", "Cached at the end.", LAST)
    peak_rows: int = metric("rows", "Most rows cached at any moment.", MAX)
    peak_bytes: int = metric("bytes", "Most bytes cached at any moment.", MAX)


@dataclass(frozen=True)
class StateFigures:
    """What is in the state store."""

    held_bytes: int = metric(
        "bytes", "Bytes of stored rows, and of removed rows not yet reclaimed.", LAST
    )
    dead_bytes: int = metric("bytes", "Bytes of removed rows that are not yet reclaimed.", LAST)
    segments: int = metric("segments", "Pieces that rows are stored in.", LAST)
    written_bytes: int = metric("bytes", "Written to the state store.")
    rebuilt: int = metric("shards", "Shards read again from the state store.")
    compacted: int = metric("segments", "Segments rewritten to reclaim dead rows.")
    copied: int = metric(
        "rows", "Copies of rows sent to further shards (split keys), each stored there."
    )
    misdefined: int = metric(
        "times", "Redefinitions of importance, and limits, that were invalid and ignored."
    )


@dataclass(frozen=True)
class TimeFigures:
    """Where the operator's own time went."""

    read_ms: int = metric("ms", "Reading arrivals and state.")
    join_ms: int = metric("ms", "Joining, and returning results.")
    write_ms: int = metric("ms", "Writing state.")


@dataclass(frozen=True)
class PaceFigures:
    """Processor time."""

    cpu_ms: int = metric(
        "ms",
        "CPU time of the join's tasks since the last batch, with packing and unpacking; zero "
        "without a CPU budget.",
    )


@dataclass(frozen=True)
class MonitorFigures:
    """What is learned, and what the policy in use ranks rows by.

    A shard whose policy learns nothing is in none of the counts of shards by ranking.
    """

    shards_monitored: int = metric("shards", "Shards that have a monitor.", LAST)
    watched_rows: int = metric("rows", "Rows followed through their whole window.", LAST)
    tracked_keys: int = metric("keys", "Keys whose rows are counted.", LAST)
    monitor_bytes: int = metric("bytes", "Bytes of what the monitors keep.", LAST)
    shards_neutral: int = metric(
        "shards",
        "Shards that follow RANDOM, a policy that stands in for it, or one that ranks rows by "
        "several things (DENSITY, FEATURES) or by all matches so far (LFU); see `followed`.",
        LAST,
    )
    shards_by_age: int = metric("shards", "Shards that rank rows by age (AGE).", LAST)
    shards_by_key: int = metric("shards", "Shards that rank rows by key (PROB, LIFE).", LAST)
    shards_by_residence: int = metric(
        "shards", "Shards that rank rows by recent results (IJOIN).", LAST
    )
    shards_by_recency: int = metric(
        "shards", "Shards that rank rows by arrival or last match (FIFO, LRU).", LAST
    )
    shards_by_importance: int = metric(
        "shards", "Shards that rank by importance: their recall is the share of importance.", LAST
    )
    shards_settling: int = metric(
        "shards",
        "Shards of outer, semi and anti joins whose recall is known only while no row is lost: "
        "rows of both sides wait, and the join has a band, a comparison or a window in rows.",
        LAST,
    )
    tried_rows: int = metric("rows", "Rows that other policies are tried on.", LAST)
    switched: int = metric("shards", "Shards that changed to another policy.")


@dataclass(frozen=True)
class TotalFigures:
    """Since the query began."""

    total_pairs: int = metric("result rows", "Result rows so far; zero without a monitor.", LAST)
    total_lost: int = metric("rows", "Rows lost so far; zero without a monitor.", LAST)


@dataclass(frozen=True)
class LimitFigures:
    """The budget in force."""

    limit: int = metric(
        "rows or bytes",
        "What may be stored now, in bytes if rows are not limited; zero if the budget cannot "
        "change while the query runs.",
        LAST,
    )
    room_rows: int = metric(
        "rows", "Rows that fit in the budget beside the monitor; zero if not limited.", LAST
    )
    room_bytes: int = metric(
        "bytes",
        "Bytes of rows that fit in the budget, without the reserve; zero if not limited.",
        LAST,
    )


@dataclass(frozen=True)
class Qualities:
    """How complete the result is, and how evenly rows are kept. Recall is null if unknown."""

    fairness: float = metric(
        "share", "Jain's index over the time that rows were stored.", RATIO, default=1.0
    )
    recall: float | None = metric(
        "share",
        "Share of the exact result produced in this batch; null if unknown.",
        RATIO,
        default=None,
    )
    recall_low: float | None = metric(
        "share", "Lower end of its 95 % interval.", RATIO, default=None
    )
    recall_high: float | None = metric("share", "Upper end.", RATIO, default=None)
    exact_pairs: float | None = metric(
        "result rows", "Rows that the exact join would have produced.", RATIO, default=None
    )
    recall_matched: float | None = metric(
        "share",
        "Share of the exact result's rows with a partner, produced in this batch.",
        RATIO,
        default=None,
    )
    recall_unmatched: float | None = metric(
        "share",
        "Share of the exact result's rows without a partner, returned as certain in this batch.",
        RATIO,
        default=None,
    )
    total_recall: float | None = metric(
        "share",
        "Share of the exact result since the query began; null if unknown.",
        RATIO,
        default=None,
    )
    total_recall_low: float | None = metric(
        "share", "Lower end of its 95 % interval.", RATIO, default=None
    )
    total_recall_high: float | None = metric("share", "Upper end.", RATIO, default=None)
    total_exact_pairs: float | None = metric(
        "result rows",
        "Rows the exact join would have produced since it began.",
        RATIO,
        default=None,
    )
    total_recall_matched: float | None = metric(
        "share", "Share of rows with a partner since the query began.", RATIO, default=None
    )
    total_recall_unmatched: float | None = metric(
        "share", "Share of rows without a partner since the query began.", RATIO, default=None
    )


@dataclass(frozen=True)
class ExpectedFigures:
    """Results to expect with more or less memory, for joins that share a budget."""

    expected_exact: float = metric("matches/s", "Matches of the exact join.", LAST, default=0.0)
    expected_full: float = metric(
        "rows or bytes", "The memory that the exact join takes.", LAST, default=0.0
    )
    windows_passed: float = metric(
        "windows", "Time that the batch covered, in lengths of the longer window.", default=0.0
    )
    expected_quarter: float = metric(
        "matches/s", "With a quarter of the present memory.", LAST, default=0.0
    )
    expected_half: float = metric("matches/s", "With half of it.", LAST, default=0.0)
    expected_now: float = metric("matches/s", "With the present memory.", LAST, default=0.0)
    expected_double: float = metric("matches/s", "With twice as much.", LAST, default=0.0)
    expected_fourfold: float = metric("matches/s", "With four times as much.", LAST, default=0.0)


@dataclass(frozen=True)
class RestartFigures:
    """What is unknown after a restart that changed the join, until a window has passed."""

    gone_rows: int = metric(
        "rows",
        "About how many rows are missing from a window that was made longer, because they had "
        "left before.",
        LAST,
    )
    shards_unsettled: int = metric("shards", "Shards whose recall is unknown until then.", LAST)


@dataclass(frozen=True)
class ShardFigures:
    """Figures of single shards, in `by_shard`; see docs/guides/watching.md.

    Recall cannot be added up over batches and shards; the counts that it is computed from can.
    """

    shard: int = metric("", "The shard's number, from 0.", LAST)
    lost: int = metric("rows", "Rows lost in the batch to stay within the budget, for all reasons.")
    busy_ms: int = metric("ms", "The operator's own time: reading, joining, writing.")
    doubt: float = metric(
        "rows", "Rows lost since the query began; zero if nothing is missing.", LAST, default=0.0
    )
    batch_met: float = metric("matches", "Partners that watched rows met.", default=0.0)
    batch_made: float = metric("matches", "Of them, those that made a result row.", default=0.0)
    batch_met_met: float = metric(
        "", "Weighted sum of squares of the first, for the interval.", default=0.0
    )
    batch_met_made: float = metric("", "The same of products of both.", default=0.0)
    batch_made_made: float = metric("", "The same of squares of the second.", default=0.0)
    weights: float = metric(
        "result rows",
        "Samples: the sum of weights, the estimated size of the exact result.",
        default=0.0,
    )
    weights_variance: float = metric(
        "", "Samples: its variance; rows sampled together count as one.", default=0.0
    )
    followed: int = metric(
        "",
        "The policy that auto follows: 0 random, 1 fifo, 2 lru, 3 prob, 4 life, 5 age, 6 ijoin, "
        "7 greedy, 8 density, 9 lfu, 10 features; -1 none.",
        LAST,
    )
    tried_random: float = metric("matches", "Made in trials by RANDOM.", LAST, default=0.0)
    tried_fifo: float = metric("matches", "Made in trials by FIFO.", LAST, default=0.0)
    tried_lru: float = metric("matches", "Made in trials by LRU.", LAST, default=0.0)
    tried_prob: float = metric("matches", "Made in trials by PROB.", LAST, default=0.0)
    tried_life: float = metric("matches", "Made in trials by LIFE.", LAST, default=0.0)
    tried_age: float = metric("matches", "Made in trials by AGE.", LAST, default=0.0)
    tried_ijoin: float = metric("matches", "Made in trials by IJOIN.", LAST, default=0.0)
    tried_greedy: float = metric("matches", "Made in trials by GREEDY.", LAST, default=0.0)
    tried_density: float = metric("matches", "Made in trials by DENSITY.", LAST, default=0.0)
    tried_lfu: float = metric("matches", "Made in trials by LFU.", LAST, default=0.0)
    tried_features: float = metric("matches", "Made in trials by FEATURES.", LAST, default=0.0)


@dataclass(frozen=True)
class LookupShardFigures:
    """What only single shards of a lookup report."""

    shard: int = metric("", "The shard's number, from 0.", LAST)
    busy_ms: int = metric("ms", "The operator's own time: reading, looking up, writing.")


FOLLOWED = (
    *("random", "fifo", "lru", "prob", "life", "age", "ijoin", "greedy"),
    *("density", "lfu", "features"),
)
"""Policies that a learned choice may follow."""
JOIN_SUMS: tuple[type, ...] = (
    JoinCounts,
    StateFigures,
    TimeFigures,
    PaceFigures,
    MonitorFigures,
    TotalFigures,
    LimitFigures,
    RestartFigures,
)
"""Groups that a join sums over its shards."""
LOOKUP_SUMS: tuple[type, ...] = (LookupCounts, StateFigures, TimeFigures)
"""Groups that a lookup sums over its shards."""
BY_SHARD: tuple[str, ...] = (
    "shard",
    *("left_rows", "right_rows", "pairs", "late"),
    *("stored_rows", "stored_bytes", "held_bytes", "monitor_bytes", "limit"),
    *names_of(ShardFigures)[1:],
    *names_of(ExpectedFigures),
)
"""What a join reports of each shard, in this order."""
LOOKUP_BY_SHARD: tuple[str, ...] = (
    "shard",
    *("rows", "hits", "misses", "evictions"),
    *("stored_rows", "stored_bytes", "held_bytes"),
    *names_of(LookupShardFigures)[1:],
)
"""The same of a lookup."""
