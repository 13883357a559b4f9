"""``headgate bench``: runs Spark's join and Headgate in turn on the same rows."""

import tempfile
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from headgate.bench.batches_command import check_sizes, show_batches, show_stages
from headgate.bench.bench_workload import BenchWorkload
from headgate.bench.bytes_bench import show_bytes
from headgate.bench.contenders import Contender, headgate, identity, spark_builtin
from headgate.bench.cpu_bench import CPU, Held, burst, overloads
from headgate.bench.density_bench import show_density
from headgate.bench.kernel_bench import measure_kernel
from headgate.bench.kinds_tables import show_kinds
from headgate.bench.learning_bench import measure_learning
from headgate.bench.offline_bench import measure_offline
from headgate.bench.on_demand import ON_DEMAND, STUDIED, show_flink, show_library, show_promised
from headgate.bench.ratio_spread import RatioSpread
from headgate.bench.shard_bench import shards_table
from headgate.bench.spark_measurement import WARM_UP_BATCHES, SparkMeasurement, measure
from headgate.bench.whatif_bench import show_whatif
from headgate.spark.session import check_ready, start_session
from headgate.spark.spark_versions import figures_of
from headgate.spec import Budget, SpecError
from headgate.spec.quantity import format_bytes

SETTINGS = {
    "spark.driver.memory": "6g",
    # One file is one batch; Spark would split it in two and start needless tasks.
    "spark.sql.files.openCostInBytes": str(64 << 20),
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
}
"""The same for all contenders."""
AMPLE = Budget(rows=50_000_000)
PARTS = (
    *("kernel", "learning", "offline", "whatif", "batches", "stages"),
    *("uniform", "skew", "budgets", "cpu", "shards", "kinds", "outer"),
)
ROWS_A_BATCH = 1_600_000


def run(
    parts: tuple[str, ...] = PARTS,
    rounds: int = 3,
    rows: int = 12_800_000,
    data: tuple[Path, ...] = (),
    *,
    sizes: tuple[int, ...] = (),
    resume: bool = False,
) -> None:
    """Run the selected benchmarks and print a table for each."""
    console = Console()
    check_sizes(sizes)
    known = (*PARTS, *ON_DEMAND)
    unknown = [part for part in parts if part not in known]
    if unknown:
        names = ", ".join((*known, *STUDIED))
        raise SpecError(f"--part {unknown[0]} is unknown: give one of {names}")
    _without_session(console, parts, rounds)
    if "batches" in parts:
        check_ready()
        show_batches(console, rounds, sizes, resume)
    if "stages" in parts:
        check_ready()
        show_stages(console, sizes)
    if set(parts) & {"uniform", "skew", "budgets", "cpu", "shards", "outer", "promised"}:
        check_ready()
        log = Path(tempfile.gettempdir()) / "headgate-bench-spark.log"
        session = start_session("headgate bench", log, cores=2, settings=SETTINGS)
        try:
            with tempfile.TemporaryDirectory(prefix="headgate-bench-") as folder:
                place = Path(folder)
                if "uniform" in parts:
                    _uniform(console, session, place / "uniform", rounds, rows)
                if "outer" in parts:
                    for how in ("left", "right", "full", "semi"):
                        _uniform(console, session, place / how, rounds, rows, how)
                if "skew" in parts:
                    _skew(console, session, place / "skew", rounds)
                if "budgets" in parts:
                    _budgets(console, session, place / "budgets")
                if "cpu" in parts:
                    _cpu(console, session, place / "cpu")
                if "promised" in parts:
                    show_promised(console, session, place / "promised", data)
                if "shards" in parts:
                    with console.status("sharing memory between shards"):
                        table = shards_table(session, place / "shards")
                    console.print(table)
        finally:
            session.stop()


def _without_session(console: Console, parts: tuple[str, ...], rounds: int) -> None:
    """Run the benchmarks that need no session of this process."""
    if "library" in parts:
        show_library(console, rounds)
    if "bytes" in parts:
        show_bytes(console)
    if "density" in parts:
        show_density(console, rounds)
    if "flink" in parts:
        check_ready()
        show_flink(console, rounds)
    if "kernel" in parts:
        _kernel(console, rounds)
    if "learning" in parts:
        _learning(console, rounds)
    if "offline" in parts:
        _offline(console)
    if "whatif" in parts:
        show_whatif(console)
    if "kinds" in parts:
        show_kinds(console)


def _kernel(console: Console, rounds: int) -> None:
    table = Table(title="The kernel alone, million arrivals a second on one core (median, range)")
    for heading in ("policy", "score", "budget", "kernel", "with lay-out"):
        table.add_column(heading, justify="left" if heading in ("policy", "score") else "right")
    slowest: dict[str, dict[int, float]] = {}
    with console.status("measuring the kernel") as status:
        for speed in measure_kernel(2_000_000, rounds):
            budget = "ample" if speed.budget is None else f"{speed.budget:,}"
            status.update(f"measuring the kernel: {speed.policy}, {budget} rows")
            table.add_row(speed.policy, speed.kind, budget, str(speed.kernel), str(speed.engine))
            if speed.budget is not None:
                slowest.setdefault(speed.policy, {})[speed.budget] = speed.kernel.middle
    console.print(table)
    for policy, by_budget in slowest.items():
        least, most = min(by_budget), max(by_budget)
        ratio = by_budget[least] / by_budget[most]
        console.print(f"{policy}: {ratio:.2f} times slower at {most:,} rows than at {least:,}")


def _cpu(console: Console, session: SparkSession, place: Path) -> None:
    session.conf.set("spark.sql.shuffle.partitions", "2")
    # Many small files, read together.
    session.conf.set("spark.sql.files.openCostInBytes", "1000")
    for title, held in (
        (f"A minute within {CPU} of a core, on Spark, batches every second", overloads),
        ("A burst: ten times the rows for half a minute", burst),
    ):
        table = Table(title=title)
        for heading in (
            "",
            "core",
            "rows/s",
            "made",
            "estimate",
            "unstored",
            "unprobed",
            "waiting",
            "longest",
        ):
            table.add_column(heading, justify="right", no_wrap=True)
        with console.status(title) as status:
            for row in held(session, place / held.__name__):
                status.update(f"{title}: {row.what}")
                table.add_row(*_held_row(row))
        console.print(table)


def _held_row(held: Held) -> list[str]:
    stretch = held.stretch
    estimate = figures_of(stretch.batches[-1]["observedMetrics"]["headgate"])["recall"]
    rows = max(stretch.total("left_rows") + stretch.total("right_rows"), 1)
    return [
        held.what,
        f"{stretch.cores:.3f}",
        f"{stretch.read / stretch.seconds:,.0f}",
        f"{held.recall:.3f}",
        f"{estimate:.3f}",
        f"{stretch.total('unstored') / rows:.0%}",
        f"{stretch.total('unprobed') / rows:.0%}",
        f"{(stretch.written - stretch.read) / 1000:+,.0f} k",
        f"{stretch.longest_batch_s:.2f} s",
    ]


def _learning(console: Console, rounds: int) -> None:
    table = Table(title="What learning costs, million arrivals a second on one core")
    for heading in ("", "without", "learning", "times as long"):
        table.add_column(heading, justify="right" if heading else "left")
    with console.status("measuring what learning costs"):
        for cost in measure_learning(rounds):
            table.add_row(cost.name, str(cost.without), str(cost.learning), str(cost.ratio))
    console.print(table)


def _offline(console: Console) -> None:
    table = Table(title="What a plan costs, on one core")
    for heading in ("", "arrivals", "memory", "arcs", "seconds"):
        table.add_column(heading, justify="right" if heading else "left")
    with console.status("planning"):
        for plan in measure_offline():
            arcs = "a flow an arrival" if plan.arcs is None else f"{plan.arcs:,}"
            table.add_row(
                plan.name,
                f"{plan.arrivals:,}",
                f"{plan.memory:,} rows",
                arcs,
                f"{plan.seconds:.1f}",
            )
    console.print(table)


def _run_one(
    console: Console,
    session: SparkSession,
    name: str,
    contender: Contender,
    place: Path,
    checkpoint: Path,
    most_seconds: float = 600.0,
) -> SparkMeasurement:
    with console.status(f"{name}: starting") as status:

        def show(progress: dict[str, Any]) -> None:
            speed = progress.get("processedRowsPerSecond") or 0.0
            status.update(f"{name}: batch {progress['batchId']}, {speed:,.0f} rows/s")

        frame = contender(session, place / "left", place / "right")
        return measure(frame, checkpoint, show, most_seconds)


def _compare(
    console: Console,
    session: SparkSession,
    place: Path,
    contenders: dict[str, Contender],
    rounds: int,
    title: str,
    most_seconds: float = 600.0,
) -> None:
    runs: dict[str, list[SparkMeasurement]] = {name: [] for name in contenders}
    for number in range(rounds):
        for name, contender in contenders.items():
            checkpoint = place / f"checkpoint-{number}-{name.replace(' ', '-')}"
            runs[name].append(
                _run_one(
                    console,
                    session,
                    name,
                    contender=contender,
                    place=place,
                    checkpoint=checkpoint,
                    most_seconds=most_seconds,
                )
            )
    table = Table(title=title)
    for heading in ("", "rows/s", "state", "stored rows"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, measured in runs.items():
        stored, size = _state(measured[-1])
        speed = RatioSpread.of([m.rows_per_second for m in measured])
        table.add_row(
            name,
            f"{speed.middle:,.0f} ({speed.least:,.0f} to {speed.most:,.0f})",
            format_bytes(size) if size else "–",
            f"{stored:,}" if stored else "–",
        )
    console.print(table)
    own = runs["Headgate"]
    for name, measured in runs.items():
        if name != "Headgate":
            ratio = RatioSpread.of(
                [a.rows_per_second / b.rows_per_second for a, b in zip(own, measured, strict=True)]
            )
            console.print(f"Headgate / {name}: [bold]{ratio}[/] times the rows a second")


def _state(measured: SparkMeasurement) -> tuple[int, int]:
    figures = measured.metrics[-1].get("headgate")
    if figures is None:
        return measured.state_rows, measured.state_bytes
    return int(figures["stored_rows"]), int(figures["held_bytes"])


def _uniform(
    console: Console,
    session: SparkSession,
    place: Path,
    rounds: int,
    rows: int,
    how: str = "inner",
) -> None:
    files = rows // ROWS_A_BATCH
    with console.status("writing the input"):
        BenchWorkload((ROWS_A_BATCH // 2,) * files).write(place)
    _compare(
        console,
        session,
        place,
        {
            "Headgate": headgate(AMPLE, how=how),
            "Spark's join": spark_builtin(how=how),
            "mapInArrow identity (the floor)": identity,
        },
        rounds,
        f"Uniform keys, ±60 s, about one match a row, {how}: batches of {ROWS_A_BATCH:,} rows",
    )


def _skew(console: Console, session: SparkSession, place: Path, rounds: int) -> None:
    with console.status("writing the input"):
        BenchWorkload((10_000,) * WARM_UP_BATCHES + (60_000,) * 2, zipf=1.1).write(place)
    _compare(
        console,
        session,
        place,
        {
            "Headgate": headgate(AMPLE, window="20 milliseconds"),
            "Spark's join": spark_builtin("20 milliseconds"),
        },
        min(rounds, 2),
        "Zipf(1.1) keys, ±20 ms, about one match a row: batches of 120,000 rows",
    )


def _budgets(console: Console, session: SparkSession, place: Path) -> None:
    """Time batches with full memory, at a small and at a large budget, on the same rows.

    Windows are so long that nothing expires, and keys so many that few rows match, so that the
    batches differ only in how much is stored.
    """
    rows = 4_000_000
    files = rows // 200_000
    with console.status("writing the input"):
        BenchWorkload((100_000,) * files, keys=100_000_000).write(place)
    table = Table(title="What a budget costs: steady batches of 200,000 rows, RANDOM, two shards")
    for heading in ("stored rows", "held", "seconds a batch", "written a batch", "checkpoint"):
        table.add_column(heading, justify="right")
    medians = {}
    for budget in (10_000, 1_000_000):
        checkpoint = place / f"checkpoint-{budget}"
        contender = headgate(Budget(rows=budget), "random", window="30 days")
        run = _run_one(console, session, f"{budget:,} rows", contender, place, checkpoint)
        half = len(run.batch_seconds) // 2
        batches = RatioSpread.of(run.batch_seconds[half:])
        medians[budget] = batches.middle
        figures = [metrics["headgate"] for metrics in run.metrics[half:]]
        written = RatioSpread.of([float(entry["written_bytes"]) for entry in figures])
        size = sum(path.stat().st_size for path in checkpoint.rglob("*") if path.is_file())
        table.add_row(
            f"{figures[-1]['stored_rows']:,}",
            format_bytes(figures[-1]["held_bytes"]),
            str(batches),
            format_bytes(written.middle),
            format_bytes(size),
        )
    console.print(table)
    small, large = sorted(medians)
    console.print(
        f"a batch takes [bold]{medians[large] / medians[small]:.2f}[/] times as long with "
        f"{large:,} stored rows as with {small:,}"
    )
