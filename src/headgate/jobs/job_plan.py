"""``headgate plan``: explains a job, and profiles its data as far as it is available."""

from pathlib import Path
from typing import Any

from rich.console import Console

from headgate.api.profiler import profile
from headgate.jobs.explanation import explained
from headgate.jobs.job import Job, read_job
from headgate.jobs.pipeline import at_line, read_side
from headgate.profiles.profile import Profile
from headgate.profiles.terminal import as_tables
from headgate.spec import RowWindow
from headgate.spec.quantity import format_bytes


def plan(file: Path, log: Path | None, look: bool, console: Console) -> int:
    """Explain a job; if ``look`` is set and its sources allow it, also profile their data."""
    job = read_job(file)
    console.print(explained(job))
    console.print()
    unseen = why_unseen(job)
    if unseen is not None or not look:
        said = "the data was not looked at" if unseen is None else f"no profile: {unseen}"
        console.print(f"{said[0].upper()}{said[1:]}.", highlight=False, soft_wrap=True)
        return 0
    folder = Path("out") / job.name
    found = _found_by_spark(job, log or folder / "spark.log", console)
    console.print(as_tables(found))
    console.print(advice(job, found), highlight=False, soft_wrap=True, markup=False)
    kept = folder / "profile.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(found.to_json())
    console.print(
        f'Saved {kept}: with profile = "{kept}" in [join] the job does as planned.',
        highlight=False,
        soft_wrap=True,
        markup=False,
    )
    return 0


def why_unseen(job: Job) -> str | None:
    """The reason why a job's data cannot be profiled, or None."""
    for side, source in (("left", job.left), ("right", job.right)):
        if not source.is_bounded:
            return f"the {side} side is {source.format}, which has no end to be read to"
        if isinstance(getattr(job.join, side).window, RowWindow):
            return f"the {side} window is in rows, and a profile measures ages in time"
    if not job.join.keys.left:
        return "the join has no keys, and a profile goes by them"
    return None


def advice(job: Job, found: Profile) -> str:
    """The plan for the budget, and the quality to expect."""
    if job.join.where is not None:
        return verdict(job, found)
    return job.join.plan(found, shards=job.shards, live=True).explain()


def verdict(job: Job, found: Profile) -> str:
    """Compare the budget with what the exact join would store."""
    budget, stored = job.join.budget, found.stored_rows
    parts = []
    if budget.rows is not None:
        parts.append((budget.rows / stored.rows if stored.rows else 1.0, f"{budget.rows:,} rows"))
    if budget.memory is not None:
        share = budget.memory / stored.bytes if stored.bytes else 1.0
        parts.append((share, format_bytes(budget.memory)))
    needed = f"{stored.rows:,.0f} rows ({format_bytes(stored.bytes)})"
    if not parts:
        return f"The exact join would hold {needed}; the budget sets no limit to that."
    share, limit = min(parts)
    if share >= 1:
        return f"The exact join would hold {needed}, and the budget of {limit} has room for it."
    return (
        f"The exact join would hold {needed}; the budget of {limit} is {100 * share:.3g} % of "
        f"that, so rows will be evicted."
    )


def profiled(session: Any, job: Job) -> Profile:
    """Profile the data that a job's sources have now."""
    left, right = (read_side(session, job, side, streaming=False) for side in ("left", "right"))
    with at_line(job, ("join",)):
        return profile(
            left,
            right,
            left=job.join.left,
            right=job.join.right,
            left_on=job.join.keys.left,
            right_on=job.join.keys.right,
        )


def _found_by_spark(job: Job, log: Path, console: Console) -> Profile:
    from headgate.spark.session import check_ready, start_session

    settings = {name: setting.value for name, setting in job.spark.items()}
    check_ready(settings)
    with console.status("starting Spark…") as status:
        session = start_session(f"headgate plan {job.name}", log, settings=settings)
        try:
            status.update("reading what is there…")
            return profiled(session, job)
        finally:
            session.stop()
