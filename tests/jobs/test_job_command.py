"""`headgate run` and `headgate plan`: the commands, and what they show."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

import headgate as hg
from headgate.cli.main import app
from headgate.jobs.batch_figures import BatchFigures
from headgate.jobs.job_plan import advice, verdict
from headgate.jobs.job_section import JobSection
from headgate.jobs.job_view import JobView, batch_line, summary
from headgate.metrics import names_of
from headgate.metrics.metric_groups import JOIN_SUMS
from headgate.profiles.facts import Both, StoredFacts
from headgate.spec import TimeWindow
from tests.jobs.job_files import GOOD, REFERENCE, changed, job_of, profiled_auctions


class TestTheCommand:
    def test_checks_and_says_what_would_run(self) -> None:
        Path("job.toml").write_text(GOOD)
        shown = CliRunner().invoke(app, ["run", "--check", "--no-look", "job.toml"])
        assert shown.exit_code == 0
        assert "within 1,000 rows and 64 MB" in shown.output
        assert "job.toml is in order" in shown.output

    def test_says_all_that_is_wrong_and_starts_nothing(self) -> None:
        Path("job.toml").write_text(changed("rows = 1000", "rows = 0"))
        shown = CliRunner().invoke(app, ["run", "job.toml"])
        assert shown.exit_code == 2
        assert shown.stderr.startswith("job.toml:27: join.budget.rows: budget of 0 rows")

    def test_a_plan_says_why_there_is_no_profile(self) -> None:
        Path("job.toml").write_text(GOOD)
        shown = CliRunner().invoke(app, ["plan", "job.toml"])
        assert shown.exit_code == 0
        assert "No profile: the right side is kafka, which has no end" in shown.output

    @pytest.mark.parametrize(
        ("budget", "said"),
        [
            ("rows = 10", "the budget of 10 rows is 8.33 % of that"),
            ('rows = 100, memory = "1 kB"', "the budget of 1 kB is"),
            ("rows = 1000", "the budget of 1,000 rows has room for it"),
            ("cpu = 0.5", "the budget sets no limit to that"),
        ],
    )
    def test_a_plan_holds_the_budget_against_what_is_needed(self, budget: str, said: str) -> None:
        job = job_of(changed('rows = 1000, memory = "64 MB"', budget))
        stored = StoredFacts(peak=Both(100.0, 20.0), mean=Both(90.0, 10.0), bytes=12_000.0)
        found = SimpleNamespace(stored_rows=stored)
        assert said in verdict(job, found)

    def test_a_plan_says_what_to_do_and_to_expect(self) -> None:
        job = job_of(changed('rows = 1000, memory = "64 MB"', "rows = 10"))
        shown = advice(job, profiled_auctions())
        assert "left     AGE, 10 rows" in shown
        assert "expect   recall 0." in shown

    def test_the_reference_has_a_complete_example(self) -> None:
        example = REFERENCE.read_text().split("```toml\n")[1].split("```")[0]
        Path("data/auctions").mkdir(parents=True)
        job = job_of(example, BROKERS="localhost:9092", KAFKA_PASSWORD="x")
        assert isinstance(job.join.left.window, TimeWindow)

    def test_the_reference_has_every_key_and_no_other(self) -> None:
        asked: set[str] = set()
        plain = JobSection.any

        def noting(section: JobSection, name: str) -> Any:
            asked.add(".".join((*(str(part) for part in section.path), name)))
            return plain(section, name)

        by_category = '{ column = "category", values = { art = 3 } }'
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(JobSection, "any", noting)
            for more in (
                'where = { band = "price", upper = 1 }',
                'goal = { kind = "sample" }',
                f'goal = {{ kind = "max-importance", left = {by_category} }}',
            ):
                job_of(changed("[join]", f"[join]\n{more}"))
        sides = ("right.", "left.columns.")
        reference = {name for name in asked if not name.startswith(sides)}
        listed = re.findall(r"^\| `([a-z_.]+)` \|", REFERENCE.read_text(), re.MULTILINE)
        assert sorted(listed) == sorted(reference)


def report(batch: int, **figures: Any) -> dict[str, Any]:
    """A progress report of Spark's, with the figures of the join."""
    zero = dict.fromkeys(names_of(*JOIN_SUMS), 0)
    recall = dict.fromkeys(
        f"{when}{name}"
        for when in ("", "total_")
        for name in ("recall", "recall_low", "recall_high")
    )
    return {
        "batchId": batch,
        "durationMs": {"triggerExecution": 1500},
        "eventTime": {"watermark": "2026-01-01T12:00:00.000Z"},
        "observedMetrics": {"headgate": zero | recall | figures},
    }


class TestTheView:
    REPORTS = (
        report(0, left_rows=10, right_rows=20, pairs=5, stored_rows=8, peak_rows=9, shed=2),
        report(1),
        report(
            2, left_rows=1, right_rows=2, pairs=1, stored_rows=7, retired=3, late=4,
            total_recall=0.5, total_recall_low=0.4, total_recall_high=0.6,
        ),
    )  # fmt: skip

    def test_batches_are_taken_in_once_and_those_without_rows_left_out(self) -> None:
        figures = BatchFigures()
        assert [batch.number for batch in figures.read(self.REPORTS[:2])] == [0]
        assert [batch.number for batch in figures.read(self.REPORTS)] == [2]
        assert figures.batches == 2
        assert (figures.total["left_rows"], figures.total["pairs"]) == (11, 6)
        assert (figures.most_rows, figures.given_up, figures.total["late"]) == (9, 2, 4)
        assert figures.recall == hg.Estimate(0.5, 0.4, 0.6)

    def test_shows_what_a_user_asks_for(self) -> None:
        job, figures = job_of(GOOD), BatchFigures()
        console = Console(width=120, record=True)
        console.print(JobView(job, figures, "spark.log"))
        figures.read(self.REPORTS)
        console.print(JobView(job, figures, "spark.log"))
        shown = console.export_text()
        for part in (
            "the first takes longest",
            "11 left, 22 right",
            "6 rows, 1 in the last batch",
            "50.0%, from 40.0% to 60.0%",
            "7 of 1,000 rows stored",
            "4 rows behind the watermark",
            "2, took 1.5 s; watermark 2026-01-01 12:00:00",
        ):
            assert part in shown
        assert batch_line(job, figures.last).startswith("batch 2: 3 rows in, 1 result rows, ")
        assert "made 6 result rows; recall 0.500 (0.400 to 0.600)" in summary(figures)

    def test_a_job_that_saw_nothing_says_so(self) -> None:
        assert summary(BatchFigures()) == "no rows came"
