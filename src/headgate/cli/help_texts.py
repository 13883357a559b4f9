"""What ends the help of each command: examples that run, and exit codes."""

DONE, FAILED, WRONG = "0 done", "1 failed, or something is missing", "2 wrong arguments"


def ending(*examples: str, codes: tuple[str, ...] = (DONE, FAILED, WRONG)) -> str:
    """Examples, one a line, and the exit codes; typer starts a new line at each empty one."""
    return "\n\n".join(["Examples:", *examples, f"Exit codes: {'; '.join(codes)}."])


FILES = "clicks.parquet orders.parquet --on product --left-time clicked_at --right-time ordered_at"
WINDOWS = '--left-window "10 minutes" --right-window "0 seconds"'

DEMO = ending("headgate demo", "headgate demo --quick --memory 10 --policy lru")
RUN = ending(
    "headgate run examples/job.toml",
    "headgate run --check examples/job.toml",
    "headgate run --page examples/job.toml",
    codes=(
        "0 the job ended",
        "1 it failed, or something is missing",
        "2 the job file is wrong",
        "130 or 143 it was stopped (Ctrl-C, SIGTERM)",
    ),
)
PLAN = ending(
    "headgate plan examples/job.toml",
    "headgate plan --no-look examples/job.toml",
    codes=(DONE, FAILED, "2 the job file is wrong"),
)
PROFILE = ending(f"headgate profile {FILES} {WINDOWS}")
WHATIF = ending(
    f"headgate whatif {FILES} {WINDOWS}",
    f'headgate whatif {FILES} {WINDOWS} --policy prob --policy fifo --memory "10 %" --memory 5000',
    "headgate whatif --checkpoint checkpoints/shop --on product --left-time clicked_at "
    f"--right-time ordered_at {WINDOWS}",
)
STATE = ending(
    "headgate state checkpoints/shop",
    "headgate state checkpoints/shop --json --values",
    "headgate state checkpoints/shop --rows rows.parquet",
)
RESHARD = ending(
    "headgate reshard checkpoints/shop --shards 32 --to checkpoints/shop-32",
    'headgate reshard checkpoints/shop --shards 8 --partitions 4 --memory "1 GB" --to new',
)
ADOPT = ending(
    "headgate adopt checkpoints/shop job.toml",
    "headgate adopt checkpoints/shop job.toml --to checkpoints/shop-headgate",
    codes=(DONE, FAILED, "2 wrong arguments, or the job file is wrong"),
)
RELEASE = ending(
    "headgate release job.toml --to checkpoints/shop-spark",
    codes=(DONE, FAILED, "2 wrong arguments, or the job file is wrong"),
)
CALIBRATE = ending("headgate calibrate --quick", "headgate calibrate --out weights.json")
BENCH = ending(
    "headgate bench --part kernel",
    "headgate bench --part batches --rounds 1 --size 10000",
)
REPRODUCE = ending(
    "headgate reproduce --list",
    "headgate reproduce vldb04-fig7 --quick",
    codes=(DONE, "1 a claim fails that was expected to hold", WRONG),
)
DOCTOR = ending(
    "headgate doctor",
    "headgate doctor --remote local --json",
    codes=("0 nothing is missing", "1 something is missing", WRONG),
)
WATCH = ending(
    "headgate watch out/watch",
    "HEADGATE_WATCH_TOKEN=... headgate watch out/watch --host 0.0.0.0 --hosts watch.example.org",
)
GRAFANA = ending("headgate grafana > dashboard.json", "headgate grafana --alerts > rules.yml")
VERSION = ending("headgate version", codes=(DONE,))
EVERY = ending(
    "headgate demo --quick",
    f"headgate whatif {FILES} {WINDOWS}",
    "headgate run examples/job.toml",
)
