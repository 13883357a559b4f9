"""The bench of kinds of join writes what it measured; here on streams of a few thousand rows."""

from headgate.bench.kinds_bench import measure_filter, measure_release
from headgate.bench.kinds_recall import POLICIES, measure_recall
from headgate.bench.kinds_tables import kinds_page
from headgate.spec import How


def test_the_page_has_a_line_for_all_that_was_measured() -> None:
    gains, releases = list(measure_filter(3_000)), list(measure_release(3_000))
    for each in gains:
        assert each.certain["none"] <= each.certain["every key"] <= each.truly_unmatched
        assert each.undecided["every key"] <= each.undecided["none"]
    recalls = list(measure_recall((How.ANTI,), rows=600, seeds=(1,), waits=("both wait",)))
    page = kinds_page(gains, releases, recalls)
    lines = [line for line in page.splitlines() if line.startswith("| ")]
    assert (len(gains), len(releases), len(recalls)) == (16, 6, 3)
    assert len(lines) == 3 * 16 + 6 + 3 + 3 * 2
    gain, release, recall = gains[-1], releases[-1], recalls[-1]
    assert (
        f"| {gain.stream} | {gain.policy} | 2 % | {gain.memory:,} | {gain.truly_unmatched:,} "
        f"| {gain.certain['2 %']:,} | {gain.undecided['2 %']:,} |"
    ) in lines
    assert f"| {release.memory:,} | {release.without:.3f} | {release.released:.3f} |" in page
    shares = " | ".join(f"{recall.recall[policy]:.3f}" for policy in POLICIES)
    assert f"| {recall.stream} | both wait | anti | {recall.memory:,} | {shares} |" in lines
