"""Explains a job: what it reads, how it joins, what it writes. Secrets are hidden."""

from rich.text import Text
from rich.tree import Tree

from headgate.jobs.environment import Settings, shown
from headgate.jobs.job import Job
from headgate.jobs.shaping_section import ShapingSection
from headgate.jobs.source_section import SourceSection
from headgate.spec import Band, How, MaxImportance, Predicate, Sample
from headgate.spec.quantity import format_duration


def explained(job: Job) -> Tree:
    """The job as a tree to print."""
    tree = Tree(Text(f"{job.name}: {job.left.format} ⋈ {job.right.format} → {job.sink.format}"))
    for side, source in (("left", job.left), ("right", job.right)):
        branch = tree.add(Text(f"{side:<6} {_source(source)}"))
        wanted = getattr(job.join, side)
        late = format_duration(source.watermark_us)
        branch.add(Text(f'waits {wanted.window} from "{wanted.time}"; rows may be {late} late'))
        _add_shaping(branch, source.shaping)
    kind = "join  " if job.join.how == How.INNER else f"{job.join.how} join"
    join = tree.add(Text(f"{kind} {_matching(job)}"))
    join.add(Text(f"within {job.join.budget}, {_goal(job)}, policy {job.join.policy.label}"))
    if job.redefined is not None:
        join.add(Text(f"importance redefined by what is published in {job.redefined}"))
    if job.shards is not None:
        join.add(Text(f"{job.shards} shards"))
    sink = tree.add(Text(f"sink   {job.sink.format}{_options(job.sink.options)}"))
    sink.add(Text(f"{job.sink.trigger}; checkpoint {job.sink.checkpoint.written}"))
    if job.sink.partition_by:
        sink.add(Text(f"a folder for each {', '.join(job.sink.partition_by)}"))
    _add_shaping(sink, job.sink.shaping)
    if job.spark:
        conf = tree.add(Text("spark"))
        for name, setting in job.spark.items():
            conf.add(Text(f"{name} = {shown(name, setting)}"))
    return tree


def _source(source: SourceSection) -> str:
    schema = "" if source.schema is None else f"; {source.schema}"
    return f"{source.format}{_options(source.options)}{schema}"


def _options(options: Settings) -> str:
    path = f" {options['path'].written}" if "path" in options else ""
    rest = [f"{name} = {shown(name, it)}" for name, it in options.items() if name != "path"]
    return path + (f" ({', '.join(rest)})" if rest else "")


def _add_shaping(branch: Tree, shaping: ShapingSection) -> None:
    for name, expression in shaping.columns:
        branch.add(Text(f"{name} = {expression}"))
    if shaping.filter is not None:
        branch.add(Text(f"only where {shaping.filter}"))
    if shaping.keep is not None:
        branch.add(Text(f"keeps {', '.join(shaping.keep)}"))


def _matching(job: Job) -> str:
    keys = job.join.keys
    parts = [f"{a} = {b}" for a, b in zip(keys.left, keys.right, strict=True)]
    if job.join.where is not None:
        parts.append(_predicate(job.join.where))
    return " and ".join(parts)


def _predicate(where: Predicate) -> str:
    left, right = f"left.{where.left}", f"right.{where.right}"
    if isinstance(where, Band):
        low = "" if where.lower is None else f"{where.lower} ≤ "
        high = "" if where.upper is None else f" ≤ {where.upper}"
        return f"{low}{right} − {left}{high}"
    return f"{left} {getattr(where, 'op', '?')} {right}"


def _goal(job: Job) -> str:
    goal = job.join.goal
    if isinstance(goal, Sample):
        return f"a {goal.kind} sample of the result"
    if isinstance(goal, MaxImportance):
        return "as much importance as it can make"
    return "as many result rows as it can make"
