"""The command line: ``headgate demo``, ``run``, ``profile``, ``calibrate``, ``reproduce`` …

Commands import what they need when they run, so that ``headgate --help`` is quick.
"""

import os
import sys
from pathlib import Path
from typing import Annotated

try:
    import typer
    from rich.console import Console
except ModuleNotFoundError as missing:
    sys.exit(
        f'{missing.name} is missing, and the command line needs it: pip install "headgate[cli]"'
    )

from headgate.cli import checkpoint_verbs, help_texts
from headgate.cli.plain_errors import plain_errors
from headgate.cli.plain_help import PlainCommand, PlainGroup
from headgate.cli.shared_options import (
    Checkpoint,
    Keys,
    LeftFile,
    LeftImportance,
    LeftKeys,
    LeftTime,
    LeftWindow,
    RightFile,
    RightImportance,
    RightKeys,
    RightTime,
    RightWindow,
    Sizes,
)

app = typer.Typer(
    help="Window joins on Spark streams within a memory or CPU budget.",
    cls=PlainGroup,
    epilog=help_texts.EVERY,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _say_version(wanted: bool) -> None:
    if wanted:
        import headgate

        typer.echo(f"headgate {headgate.__version__}")
        raise typer.Exit


@app.callback()
def headgate(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Window joins on Spark streams within a memory or CPU budget."""


@app.command(cls=PlainCommand, epilog=help_texts.DEMO)
def demo(
    rows: Annotated[
        int | None,
        typer.Option(min=1000, help="Rows of both streams; default 600,000."),
    ] = None,
    memory: Annotated[
        float, typer.Option(min=0.0, help="Budget, in percent of what the exact join stores.")
    ] = 20.0,
    policy: Annotated[str, typer.Option(help="Eviction policy.")] = "auto",
    out: Annotated[Path, typer.Option(help="Folder for pictures and Spark's log.")] = Path(
        "out/demo"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the generated shop.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="A smaller stream.")] = False,
) -> None:
    """Join a shop's clicks and orders on Spark within a budget, live, and compare the policies."""
    with plain_errors():
        from headgate.demo.demo_command import QUICK_ROWS, ROWS, DemoSettings, run

        wanted = rows or (QUICK_ROWS if quick else ROWS)
        run(DemoSettings(wanted, memory, policy, out, seed), Console())


@app.command(cls=PlainCommand, epilog=help_texts.RUN)
def run(
    job: Annotated[Path, typer.Argument(help="A job file, in TOML; docs/reference/job-file.md.")],
    check: Annotated[
        bool,
        typer.Option("--check", help="Only check the file, and its formats and columns on Spark."),
    ] = False,
    look: Annotated[
        bool, typer.Option(help="With --check: also try formats and columns, on Spark.")
    ] = True,
    log: Annotated[
        Path | None, typer.Option(help="File for Spark's log; default out/NAME/spark.log.")
    ] = None,
    page: Annotated[bool, typer.Option("--page", help="Also show it on a live page.")] = False,
) -> None:
    """Run a whole job from a file: two sources, their join within a budget, and a sink."""
    with plain_errors():
        from headgate.jobs import job_command

        if check:
            status = job_command.check(job, log, look, Console())
        else:
            status = job_command.run(job, log, Console(), page)
    raise typer.Exit(status)


@app.command(cls=PlainCommand, epilog=help_texts.PLAN)
def plan(
    job: Annotated[Path, typer.Argument(help="A job file, in TOML; docs/reference/job-file.md.")],
    look: Annotated[
        bool, typer.Option(help="Profile the existing data, if both sources are files.")
    ] = True,
    log: Annotated[
        Path | None, typer.Option(help="File for Spark's log; default out/NAME/spark.log.")
    ] = None,
) -> None:
    """Explain a job before it runs: what it does, and the recall to expect."""
    with plain_errors():
        from headgate.jobs.job_plan import plan as planned

        status = planned(job, log, look, Console())
    raise typer.Exit(status)


@app.command(cls=PlainCommand, epilog=help_texts.PROFILE)
def profile(
    left: LeftFile = None,
    right: RightFile = None,
    left_time: LeftTime = "",
    right_time: RightTime = "",
    left_window: LeftWindow = "",
    right_window: RightWindow = "",
    on: Keys = None,
    left_on: LeftKeys = None,
    right_on: RightKeys = None,
    most_rows: Annotated[
        int, typer.Option(min=1, help="Most rows to join; larger inputs are sampled by key.")
    ] = 2_000_000,
    out: Annotated[Path, typer.Option(help="Folder for the picture and the profile.")] = Path(
        "out/profile"
    ),
    json: Annotated[bool, typer.Option("--json", help="Print the profile as JSON.")] = False,
) -> None:
    """Measure two streams, and what joining them needs."""
    with plain_errors():
        from headgate.cli import profile_command
        from headgate.cli.asked_sides import AskedSides

        asked = AskedSides(
            (left, right),
            (left_time, right_time),
            (left_window, right_window),
            (on, left_on, right_on),
        )
        profile_command.run(asked, most_rows, out, json, Console(highlight=False))


@app.command(cls=PlainCommand, epilog=help_texts.WHATIF)
def whatif(
    left: LeftFile = None,
    right: RightFile = None,
    left_time: LeftTime = "",
    right_time: RightTime = "",
    left_window: LeftWindow = "",
    right_window: RightWindow = "",
    on: Keys = None,
    left_on: LeftKeys = None,
    right_on: RightKeys = None,
    how: Annotated[
        str, typer.Option(help="The kind of join: inner, left, right, full, semi or anti.")
    ] = "inner",
    left_importance: LeftImportance = None,
    right_importance: RightImportance = None,
    policy: Annotated[
        list[str] | None, typer.Option(help="Only this policy; may be given several times.")
    ] = None,
    memory: Sizes = None,
    checkpoint: Checkpoint = None,
    operator: Annotated[
        int, typer.Option(min=0, help="Number of the join among the query's stateful operators.")
    ] = 0,
    most_rows: Annotated[
        int, typer.Option(min=1, help="Rows up to which the answer is exact; more are sampled.")
    ] = 2_000_000,
    optimum: Annotated[
        bool, typer.Option(help="Also compute OPT, the upper bound for any policy.")
    ] = True,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; default one per core.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("out/whatif"),
) -> None:
    """Find out how much memory a join needs: recall against memory for every policy."""
    with plain_errors():
        from headgate.cli import whatif_command
        from headgate.cli.asked_sides import AskedSides

        whatif_command.run(
            whatif_command.WhatIfSettings(
                asked=AskedSides(
                    (left, right),
                    (left_time, right_time),
                    (left_window, right_window),
                    (on, left_on, right_on),
                ),
                how=how,
                importance=(left_importance, right_importance),
                policies=policy,
                memory=memory,
                checkpoint=checkpoint,
                operator=operator,
                most_rows=most_rows,
                optimum=optimum,
                jobs=jobs,
                out=out,
            ),
            Console(highlight=False),
        )


checkpoint_verbs.add_to(app)


@app.command(cls=PlainCommand, epilog=help_texts.CALIBRATE)
def calibrate(
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sizes and rounds.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File for the weights; default: HEADGATE_CALIBRATION, or a file in the "
            "user's cache folder."
        ),
    ] = None,
) -> None:
    """Measure what joins cost on this machine, and save it for plans."""
    with plain_errors():
        from headgate.calibration.calibrate_command import run
        from headgate.calibration.timed_weights import QUICK, THOROUGH

        run(QUICK if quick else THOROUGH, out, Console())


@app.command(cls=PlainCommand, epilog=help_texts.BENCH)
def bench(
    rounds: Annotated[int, typer.Option(min=1, help="How often to measure each figure.")] = 3,
    rows: Annotated[int, typer.Option(min=8_000_000, help="Rows of both streams.")] = 12_800_000,
    part: Annotated[
        list[str] | None,
        typer.Option(
            help="Only kernel, learning, offline, whatif, batches, stages, uniform, skew, budgets, "
            "cpu, shards, kinds or outer; or, on demand, bytes, density, features, flink, library, "
            "promised or real; may be repeated."
        ),
    ] = None,
    data: Annotated[
        list[Path] | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="With promised: real streams, as CSV files of daily temperatures (Date, "
            "Temperature) or of flights (origin, dest, time_hour, minute, dep_time).",
        ),
    ] = None,
    size: Annotated[
        list[int] | None,
        typer.Option(
            help="With batches or stages: rows of both sides in a batch, 10000, 100000, 800000 or "
            "1600000; may be repeated."
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="With batches or real: continue an interrupted run."),
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="With real: three short streams, fewer policies.")
    ] = False,
) -> None:
    """Measure throughput and memory next to Spark's own join."""
    with plain_errors():
        if "features" in (chosen := tuple(part or ())):
            from headgate.studies.told.features_bench import show_features

            show_features(Console(), rounds)
        if "real" in chosen:
            from headgate.studies.real.real_tables import show_real

            show_real(Console(), quick, resume)
        if chosen and not (chosen := tuple({*chosen} - {"features", "real"})):
            return
        from headgate.bench.bench_command import PARTS, run

        files = tuple(data or ())
        run(chosen or PARTS, rounds, rows, files, sizes=tuple(size or ()), resume=resume)


@app.command(cls=PlainCommand, epilog=help_texts.REPRODUCE)
def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(help="Papers or studies; default all.")
    ] = None,
    listing: Annotated[
        bool, typer.Option("--list", help="List what can be reproduced, and stop.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Shorter streams, fewer sizes, one seed.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for results and figures.")] = Path("reproduced"),
    seeds: Annotated[
        str | None, typer.Option(help="Seeds, as in 1,2,3; default each study's own.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; default one per core.")
    ] = None,
    temperatures: Annotated[
        Path | None,
        typer.Option(help="CSV file of daily temperatures for sigmod05-fig15; docs/papers."),
    ] = None,
) -> None:
    """Run the papers' experiments; exit with 1 if a claim fails that was expected to hold."""
    if temperatures is not None:
        # Passed through the environment, which the measuring processes inherit.
        os.environ["HEADGATE_TEMPERATURES"] = str(temperatures.resolve())
    with plain_errors():
        from headgate.studies import study_command

        chosen = tuple(names or ())
        if listing:
            study_command.list_studies(chosen, Console())
            return
        settings = study_command.StudySettings(
            chosen, out, quick, study_command.parse_seeds(seeds), jobs
        )
        status = study_command.reproduce(settings, Console())
    raise typer.Exit(status)


@app.command(cls=PlainCommand, epilog=help_texts.DOCTOR)
def doctor(
    remote: Annotated[
        str | None,
        typer.Option(help='A Spark Connect server: "sc://host:15002", or "local" for one here.'),
    ] = None,
    spark: Annotated[
        bool, typer.Option(help="Start a session, check its settings, and try its workers.")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Check the installation: what is missing, what that costs, and the line to add."""
    with plain_errors():
        from headgate.cli.doctor_command import run

        raise typer.Exit(run(remote, spark, as_json, Console()))


@app.command(cls=PlainCommand, epilog=help_texts.WATCH)
def watch(
    folder: Annotated[Path, typer.Argument(help="Folder with a history: the folder= of hg.watch.")],
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(help="Default: the first free, from 4140.")] = None,
    hosts: Annotated[
        list[str] | None, typer.Option(help="Another host name that browsers may use for it.")
    ] = None,
) -> None:
    """Show the history of watched queries on a page, while they run or after they ended."""
    with plain_errors():
        from headgate.cli import watch_command

        watch_command.run(folder, host, port, hosts or [], Console())


@app.command(cls=PlainCommand, epilog=help_texts.GRAFANA)
def grafana(
    alerts: Annotated[
        bool, typer.Option("--alerts", help="Alert rules for Prometheus, not the dashboard.")
    ] = False,
) -> None:
    """Print a Grafana dashboard of all watched joins, as JSON to import."""
    with plain_errors():
        from headgate.watching.alert_rules import alert_rules
        from headgate.watching.grafana_dashboard import dashboard_json

        typer.echo(alert_rules() if alerts else dashboard_json())


@app.command(cls=PlainCommand, epilog=help_texts.VERSION)
def version() -> None:
    """Print the version."""
    from headgate import __version__

    Console().print(f"headgate {__version__}", highlight=False)
