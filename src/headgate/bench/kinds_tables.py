"""Tables of what outer and semi joins gain from what they keep beside their rows."""

from collections.abc import Iterator

from rich.table import Table

from headgate.bench.kinds_bench import measure_filter, measure_release
from headgate.bench.kinds_recall import POLICIES, measure_recall


def kinds_tables() -> Iterator[Table]:
    """What the filter saves, what early release is worth, and what policies make of each kind."""
    table = Table(title="A left join within a part of its memory: left rows without a partner")
    for heading in ("", "policy", "memory", "in truth", "filter", "certain", "undecided"):
        table.add_column(heading, justify="left" if heading in ("", "policy") else "right")
    for gain in measure_filter():
        for size, undecided in gain.undecided.items():
            counts = (gain.truly_unmatched, gain.certain[size], undecided)
            truly, certain, open_ = (f"{count:,}" for count in counts)
            row = (gain.stream, gain.policy, f"{gain.memory:,} rows", truly, size, certain, open_)
            table.add_row(*row)
        table.add_section()
    yield table
    table = Table(title="A semi join within a tenth of the inner join's memory: recall")
    for heading in ("", "policy", "memory", "without release", "with it"):
        table.add_column(heading, justify="left" if heading in ("", "policy") else "right")
    for release in measure_release():
        table.add_row(
            release.stream,
            release.policy,
            f"{release.memory:,} rows",
            f"{release.without:.3f}",
            f"{release.released:.3f}",
        )
    yield table
    table = Table(title="Each kind within a tenth of its memory: recall of its own result")
    for heading in ("", "windows", "how", "memory", *POLICIES):
        table.add_column(heading, justify="left" if heading in ("", "windows", "how") else "right")
    for found in measure_recall():
        recalls = (f"{found.recall[policy]:.3f}" for policy in POLICIES)
        table.add_row(found.stream, found.waits, found.how, f"{found.memory:,} rows", *recalls)
    yield table
