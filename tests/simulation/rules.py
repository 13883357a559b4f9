"""What must hold of every simulated query, disturbed or not."""

from collections import Counter
from typing import Any

from headgate.engine.stats import GIVEN_UP
from headgate.spark.shards import CONTROL
from headgate.spark.state.shard_head import ShardHead
from tests.simulation.cluster import Cluster
from tests.simulation.definition import Pair, as_pairs, exact_result
from tests.simulation.outputs import BatchOutput, Failure
from tests.simulation.state_store import Content
from tests.simulation.workload import Workload


def check_same(cluster: Cluster, undisturbed: dict[int, BatchOutput]) -> None:
    """Every batch put out what it puts out when nothing goes wrong, and tells the same figures."""
    for batch, output in cluster.sink.items():
        expected = undisturbed[batch]
        if output.rows != expected.rows:
            missing = Counter(map(repr, expected.rows)) - Counter(map(repr, output.rows))
            more = Counter(map(repr, output.rows)) - Counter(map(repr, expected.rows))
            raise Failure(f"batch {batch} lacks {list(missing)[:3]} and has {list(more)[:3]} more")
        for name, value in expected.figures.items():
            if output.figures[name] != value:
                raise Failure(f"batch {batch} tells {name} {output.figures[name]}, not {value}")


def check_state(cluster: Cluster, undisturbed: Cluster) -> None:
    """The state is that of the undisturbed run, but for the names of its tables."""
    for key in range(cluster.workload.shards):
        own, other = (
            _nameless(each.store.load(key, cluster.done)) for each in (cluster, undisturbed)
        )
        if own != other:
            parts = [name for name in own if own[name] != other.get(name)]
            raise Failure(f"after batch {cluster.done} shard {key} differs in {', '.join(parts)}")


def _nameless(content: Content) -> dict[str, Any]:
    """A key's state, with the bytes of its tables in place of their names."""
    found = {name: content[name] for name in ("watermark", "lessons", "timers")}
    if content["head"] is None:
        return found

    def bytes_of(stored: Any, name: str) -> bytes | None:
        if stored is None:
            return None
        return b"".join(content[name][stored.name, part][0] for part in range(stored.parts))

    head = ShardHead.read(content["head"][0])
    for name in ("description", "place", "progress", "batches", "limit", "lost_us", "unsettled"):
        found[name] = getattr(head, name)
    found["arrivals"] = head.arrivals.marks
    found["filters"] = [bytes_of(each, "segments") for each in head.filters]
    found["logs"] = [bytes_of(each, "histories") for each, _ in head.logs]
    found["segments"] = [
        (
            each.side,
            each.bytes,
            each.alive.tolist(),
            None if each.fate is None else each.fate.tolist(),
            bytes_of(each.stored, "segments"),
        )
        for each in head.segments
    ]
    return found


def check_definition(workload: Workload, sink: dict[int, BatchOutput]) -> None:
    """No wrong row; no row missing unless something was given up; totals are those of the rows."""
    outputs = list(sink.values())
    found: Counter[Pair] = Counter()
    unsure: Counter[Pair] = Counter()
    for output in outputs:
        found += as_pairs(output.rows, output.columns, certain=True)
        unsure += as_pairs(output.rows, output.columns, certain=False)
    exact = exact_result(workload)
    told = sum(output.figures["pairs"] for output in outputs)
    if told != found.total():
        raise Failure(f"{told} result rows are told and {found.total()} put out")
    if exact is None:
        return
    wrong = found - exact
    if wrong:
        raise Failure(f"rows that are not in the result: {list(wrong)[:5]}")
    pairs = {pair for pair in exact if None not in pair}
    lost = sum(output.figures[name] for output in outputs for name in (*GIVEN_UP, "unchosen"))
    missing = exact - found
    if missing and not lost:
        raise Failure(f"nothing was given up, and rows are missing: {list(missing)[:5]}")
    if unsure and not lost:
        raise Failure(f"nothing was given up, and rows are undecided: {list(unsure)[:5]}")
    if {pair for pair in unsure if None not in pair} - pairs:
        raise Failure("undecided rows that are pairs")
    if workload.asked.monitor and not lost and workload.asked.goal == "subset":
        recall = outputs[-1].figures["total_recall"]
        changed = any(dict(batch.changes).keys() & {"seed"} for batch in workload.batches)
        if not changed and recall != 1.0:
            raise Failure(f"nothing was given up, and recall is {recall}")


def check_counts(workload: Workload, sink: dict[int, BatchOutput]) -> None:
    """Every row that came is counted once, and as what it is."""
    for batch, output in sink.items():
        rows = workload.batches[batch].rows
        figures = output.figures
        came = (figures["left_rows"], figures["right_rows"])
        expected = tuple(sum(row.side == side for row in rows) for side in (0, 1))
        if came != expected:
            raise Failure(f"batch {batch} tells of {came} rows and had {expected}")
        late = sum(workload.is_late(batch, row) for row in rows)
        if figures["late"] != late:
            raise Failure(f"batch {batch} tells of {figures['late']} late rows and had {late}")
    if workload.asked.how == "inner" and workload.asked.goal != "sample":
        _check_flow(list(sink.values()))


def _check_flow(outputs: list[BatchOutput]) -> None:
    """In an inner join each row is stored, has left, or was never stored, for one reason."""

    def total(*names: str) -> int:
        return sum(int(output.figures[name]) for output in outputs for name in names)

    came = total("left_rows", "right_rows")
    never = total("refused", "unneeded", "late", "null_keys", "null_times", "unstored")
    left = total("shed", "retired", "expired") + outputs[-1].figures["stored_rows"]
    if came != never + left:
        raise Failure(f"{came} rows came and {never + left} are accounted for")


def check_budget(workload: Workload, sink: dict[int, BatchOutput]) -> None:
    """After no arrival was more stored than the budget in force allows."""
    for batch, output in sink.items():
        asked = workload.version(batch)
        figures = output.figures
        allowed = _allowed_rows(workload, batch, output)
        if allowed is not None and sum(s["peak_rows"] for s in output.by_shard) > allowed:
            raise Failure(f"batch {batch} stored {figures['peak_rows']} of {allowed} rows")
        held = figures["held_bytes"] + figures["monitor_bytes"]
        if asked.memory is not None and held > asked.memory:
            raise Failure(f"batch {batch} held {held} of {asked.memory} bytes")
        for shard in output.by_shard:
            for what in ("rows", "bytes"):
                if 0 < shard[f"room_{what}"] < shard[f"peak_{what}"]:
                    raise Failure(f"batch {batch}: a shard's peak is over its room of {what}")
            if shard["limit"] and asked.rows is not None and shard["peak_rows"] > shard["limit"]:
                raise Failure(f"batch {batch}: a shard's peak is over its limit")


def _allowed_rows(workload: Workload, batch: int, output: BatchOutput) -> int | None:
    """Rows that all shards may store together.

    Once a limit was published for a single shard, the limits in force add up to it: who publishes
    such, as the balancer does, takes first and gives then, and the drawn ones do not.
    """
    rows = workload.version(batch).rows
    told = (limit for each in workload.batches[: batch + 1] for limit in each.limits)
    if rows is None or not any(":" in limit for limit in told):
        return rows
    return max(rows, sum(int(shard["limit"]) for shard in output.by_shard))


def check_kept(workload: Workload, sink: dict[int, BatchOutput]) -> None:
    """What shards keep from batch to batch is told by the next: totals, and limits in force."""
    if any(batch.changes for batch in workload.batches):
        return
    limits: dict[int, float] = {}
    pairs = 0
    for number, output in sink.items():
        batch = workload.batches[number]
        learns = all(shard["shards_monitored"] for shard in output.by_shard)
        pairs += output.figures["pairs"]
        total = sum(shard["total_pairs"] for shard in output.by_shard)
        if learns and total != pairs:
            raise Failure(f"after batch {number} a total of {total} rows is told, not {pairs}")
        now = {int(shard["shard"]): shard["limit"] for shard in output.by_shard}
        if limits and not batch.limits and now != limits:
            raise Failure(f"batch {number} has limits {now}; those before it were {limits}")
        limits = now


def check_leaks(cluster: Cluster) -> None:
    """The store has the tables that heads list and no others, and so have the executors."""
    cluster.damages.undo()
    listed: dict[int, set[str]] = {}
    latest: dict[int, str] = {}
    for key in range(cluster.workload.shards):
        content = cluster.store.load(key, cluster.done)
        now = _tables(content)
        kept = {(name, part) for maps in ("segments", "histories") for name, part in content[maps]}
        if {(name, part) for name, parts in now.items() for part in range(parts)} != kept:
            raise Failure(f"shard {key} lists {sorted(now)} and the store has {sorted(kept)}")
        before = _tables(cluster.store.load(key, cluster.done - 1))
        listed[key] = {*now, *before}
        latest[key] = max((name[:12] for name in before), default="")
    for partition, number in cluster.ran_at.items():
        executor = cluster.executors[number]
        run = f"{cluster.run_number:036d}"
        for key in cluster.keys(partition):
            if key == CONTROL:
                continue
            mine = [p for p in executor.copies() if p.parent.name == f"shard-{key}"]
            stray = [p.name for p in mine if p.parent.parent.name.endswith(run)]
            # What a batch writes and merges with others at once goes with the next; what it takes
            # up after a restart has the number of the batch before.
            stray = [name for name in stray if name not in listed[key] and name[:12] < latest[key]]
            if stray:
                raise Failure(f"executor {number} still has {stray} of shard {key}")


def _tables(content: Content) -> dict[str, int]:
    """Names and parts of the tables that a head lists."""
    if content["head"] is None:
        return {}
    head = ShardHead.read(content["head"][0])
    stored: list[Any] = [entry.stored for entry in head.segments]
    stored += [each for each in head.filters if each is not None]
    stored += [each for each, _ in head.logs]
    return {each.name: each.parts for each in stored}
