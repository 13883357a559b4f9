"""Tables of what outer and semi joins gain from what they keep beside their rows."""

from collections.abc import Iterator

from rich.table import Table

from headgate.bench.kinds_bench import measure_filter, measure_release


def kinds_tables() -> Iterator[Table]:
    """What the filter saves, then what early release is worth."""
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
